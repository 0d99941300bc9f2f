"""`/docs` and `/problems/…`: the OpenAPI document as HTML, without scripts or other hosts."""

import json
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from afterglow.service.dashboard.assets import address
from afterglow.service.problems import KINDS, RENAMED, TABLE, Problem

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
PERSONAL = HEADERS | {"Cache-Control": "no-store"}  # the navigation names the token of who is signed in
STYLE = files(__package__).joinpath("templates", "docs.css").read_bytes()
JSON = "application/json"
PLACE = Markup("<!-- navigation -->\n")


def with_code(text: str) -> Markup:
    """Text in which `words` between backticks are code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


PAGES = Environment(
    loader=PackageLoader("afterglow.service.api", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
    undefined=StrictUndefined,
)  # fmt: skip
PAGES.filters["code"] = with_code
PAGES.globals["asset"] = address


Bar = Callable[[Request], str]  # the navigation of the dashboard, as its visitor may use it


def routes(document: dict[str, Any], bar: Bar) -> list[Route]:
    """The pages, rendered once but for the navigation."""
    whole = PAGES.get_template("docs.html").render(
        title="Afterglow: HTTP API", kind=None, about=document["info"]["description"].split("\n\n"),
        groups=list(groups(document)), problems=TABLE, bar=PLACE,
    )  # fmt: skip

    async def docs(request: Request) -> Response:
        return HTMLResponse(whole.replace(PLACE, bar(request), 1), headers=PERSONAL)

    async def style(request: Request) -> Response:
        return Response(STYLE, media_type="text/css", headers=HEADERS)

    return [Route("/docs", docs), Route("/docs/docs.css", style)]


def problem_page(slug: str, bar: str) -> Response:
    """What one problem means and what to do."""
    kind = KINDS.get(RENAMED.get(slug, slug))
    if kind is None:
        raise Problem("not-found", f"there is no problem {slug!r}; available: {', '.join(KINDS)}")
    page = PAGES.get_template("docs.html").render(title=f"{kind.status} {kind.slug}", kind=kind, bar=Markup(bar))
    return HTMLResponse(page, headers=PERSONAL)


def groups(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The calls by their tags, those with a variant or a reward first."""
    found: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            found.setdefault(call["tags"][0], []).append(shown(document, method.upper(), path, call))
    return ({"name": name, "calls": calls} for name, calls in found.items() if calls)


def shown(document: dict[str, Any], method: str, path: str, call: dict[str, Any]) -> dict[str, Any]:
    """What the page says about one call."""
    schemas = document["components"]["schemas"]
    body = call.get("requestBody", {}).get("content", {}).get(JSON, {})
    status = min(status for status in call["responses"] if status.startswith("2"))
    answer = call["responses"][status].get("content", {})
    example = next((example_of(one, schemas) for one in answer.values()), None)
    codes = {code for code in call["responses"] if code >= "400"}
    scope = next(iter(call["security"][0]["token"]), "") if call["security"] else ""
    named = {
        slug
        for code in codes
        for content in call["responses"][code].get("content", {}).values()
        for slug in content.get("examples", {})
    }
    return {
        "id": f"{method}{path}".lower().replace("/", "-").replace("{", "").replace("}", ""), "method": method,
        "path": path, "summary": call["summary"],
        "description": call.get("description", "").removesuffix(f"Scope: `{scope}`.").strip(),
        "scope": scope,
        "fields": list(fields(call, body, schemas)), "status": status, "answer": written(example),
        "curl": curl(method, path, bool(call["security"]), example_of(body, schemas)),
        "problems": [kind for kind in TABLE if kind.slug in named],
    }  # fmt: skip


def fields(call: dict[str, Any], body: dict[str, Any], schemas: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Parameters, then the fields of the body."""
    for one in call.get("parameters", []):
        yield {
            "name": one["name"], "where": one["in"], "kind": kind_of(one["schema"]), "required": one.get("required"),
            "text": one.get("description", one["schema"].get("description", "")),
        }  # fmt: skip
    shape = resolved(body.get("schema", {}), schemas)
    for name, one in shape.get("properties", {}).items():
        yield {
            "name": name, "where": "body", "kind": kind_of(one), "required": name in shape.get("required", ()),
            "text": one.get("description", ""),
        }  # fmt: skip


def resolved(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema that a schema refers to; the first of several."""
    if "anyOf" in schema:
        return resolved(schema["anyOf"][0], schemas)
    name = schema.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = schemas.get(name, schema)
    return found


def kind_of(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(kind_of(one) for one in schema["anyOf"] if one.get("type") != "null")
    kind = schema.get("format") or schema.get("type") or schema.get("$ref", "anything").rpartition("/")[2]
    return f"list of {kind_of(schema['items'])}" if kind == "array" and "items" in schema else str(kind)


def example_of(content: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """An example of a body."""
    if "example" in content:
        return content["example"]
    for one in content.get("examples", {}).values():
        return one["value"]
    return next(iter(resolved(content.get("schema", {}), schemas).get("examples", [])), None)


def written(example: Any) -> str:
    if example is None or isinstance(example, str):
        return (example or "").strip()
    return json.dumps(example, indent=2, ensure_ascii=False)


def curl(method: str, path: str, token: bool, body: Any) -> str:
    """The call as a command."""
    filled = path.replace("{name}", "shipping").replace("{step}", "411").replace("{slug}", "overloaded")
    filled = filled.replace("{key}", "shipping").replace("{id}", "5f3a1c09d2e7").replace("{hook}", "5f3a1c09d2e7")
    parts = [f"curl {'-X ' + method + ' ' if method not in ('GET', 'POST') else ''}$AFTERGLOW{filled}"]
    parts += ['-H "Authorization: Bearer $TOKEN"'] if token else []
    if body is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d '{json.dumps(body, ensure_ascii=False)}'"]
    elif method == "POST":
        parts += ["-X POST"]
    return " \\\n  ".join(parts)
