"""Render Jinja templates into HTML responses with security headers."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from afterglow.service.dashboard import numbers
from afterglow.service.dashboard.assets import address

CONTENT_SECURITY_POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
    "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
))  # fmt: skip
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("afterglow.service.dashboard", "templates"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=StrictUndefined,
    )  # fmt: skip
    made.filters |= {
        "figure": numbers.figure, "percent": numbers.percent, "moment": numbers.moment,
        "whole": lambda value: f"{value:,}", "colour": lambda number: f"v{number % 8}",
        "capital": lambda text: text[:1].upper() + text[1:],
    }  # fmt: skip
    made.globals |= {"asset": address, "counted": numbers.counted, "until": numbers.until}
    return made


ENVIRONMENT = environment()


def render(template: str, **given: Any) -> str:
    return ENVIRONMENT.get_template(template).render(**given)


def respond(text: str, status: int = 200, headers: dict[str, str] | None = None) -> HTMLResponse:
    return HTMLResponse(text, status, HEADERS | (headers or {}))
