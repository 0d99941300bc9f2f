"""The tables of all HTTP calls, generated from the OpenAPI document: python docs/tables/calls.py."""

from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from afterglow.service.api import health
from afterglow.service.api.fast_openapi import FAST_CALLS
from afterglow.service.api.openapi import document, scopes_of
from afterglow.service.app import ROUTERS

PAGE = Path(__file__).parents[2] / "docs/reference/http.md"
FIRST, LAST = "<!-- calls -->\n", "<!-- end of calls -->\n"
TITLES = {
    "live": "Serve and report",
    "experiments": "Experiments",
    "commands": "Commands",
    "steps": "Steps and the log",
    "knowledge": "Estimates",
    "events": "Events",
    "webhooks": "Webhooks",
    "audit": "Audit",
    "openfeature": "OpenFeature",
    "operation": "Operation",
}
EVERYWHERE = {"401", "403", "429", "500", "503"}


@cache
def openapi() -> dict[str, Any]:
    api = FastAPI(openapi_url=None)
    for router in ROUTERS:
        api.include_router(router)
    return document(api, FAST_CALLS, health.PUBLIC, scopes_of(ROUTERS))


def tables() -> str:
    """One table for each kind of call."""
    found = [
        (call["tags"][0], method.upper(), path, call)
        for path, calls in openapi()["paths"].items()
        for method, call in calls.items()
    ]
    order = list(TITLES)
    found.sort(key=lambda one: order.index(one[0]))
    return "".join(
        f"\n## {TITLES[tag]}\n\n| call | scope | sent | answered | |\n|---|---|---|---|---|\n"
        + "".join(row(method, path, call) for _, method, path, call in group)
        for tag, group in groupby(found, key=lambda one: one[0])
    )


def row(method: str, path: str, call: dict[str, Any]) -> str:
    scope = f"`{call['security'][0]['token'][0]}`" if call["security"] else "none"
    good = ", ".join(code for code in call["responses"] if code < "400")
    refused = ", ".join(code for code in call["responses"] if code >= "400" and code not in EVERYWHERE)
    sent = ", ".join([*queries(call), *fields(call)])
    return f"| `{method} {path}` | {scope} | {sent} | {good}{f'; {refused}' if refused else ''} | {call['summary']} |\n"


def queries(call: dict[str, Any]) -> list[str]:
    return [f"`?{one['name']}=`" for one in call.get("parameters", []) if one["in"] == "query"]


def fields(call: dict[str, Any]) -> list[str]:
    """The fields of the body; optional ones are marked."""
    content = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    shapes = openapi()["components"]["schemas"]
    while "anyOf" in content:
        content = content["anyOf"][0]
    shape = shapes.get(content.get("$ref", "").rpartition("/")[2], content)
    needed = shape.get("required", [])
    return [f"`{name}`{'' if name in needed else '?'}" for name in shape.get("properties", {})]


def drawn(page: str) -> str:
    """The page with the tables as they should be."""
    return page.partition(FIRST)[0] + FIRST + tables() + "\n" + LAST + page.partition(LAST)[2]


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
