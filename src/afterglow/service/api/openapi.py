"""The OpenAPI document: FastAPI's routes, the fast routes, and the problems of each call."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from afterglow.release import __version__
from afterglow.service.api.event_models import sent_event
from afterglow.service.api.examples import EXAMPLES
from afterglow.service.problems import KINDS, MEDIA_TYPE, TABLE, Problem

Answers = dict[int | str, dict[str, Any]]
EVERY = (
    "unauthorized",
    "forbidden",
    "bad-value",
    "too-many-requests",
    "internal",
    "overloaded",
    "database-unavailable",
    "too-slow",
)
BODY = ("malformed", "too-large", "unsupported-media-type")
ABOUT = """\
One variant at a time for everyone, and anonymous amounts.

Tokens go into `Authorization: Bearer`. Their scopes are `read`, `decide`, `report`, `operate` and `admin`, which may do
everything; a token may be limited to a list of experiments. Times are RFC 3339 in UTC. Unknown fields are refused.
Every refusal is `application/problem+json` (RFC 9457), with a `type` that is explained at its address.
"""
PROBLEM = {
    "type": "object",
    "title": "Problem",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "enum": [f"/problems/{kind.slug}" for kind in TABLE]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "kind": {"type": "string", "description": "The kind of error, where there is one: `unknown-variant`."},
        "field": {"type": "string", "description": "The field or argument at fault, where there is one."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "what"],
                "properties": {"where": {"type": "string"}, "what": {"type": "string"}},
            },
        },
    },
}
TAGS = ("live", "experiments", "commands", "steps", "knowledge", "events", "webhooks", "audit", "openfeature")
OWN_CHECK = {  # calls that check the token themselves
    "/v1/experiments/{name}/current": "decide",
    "/v1/experiments/{name}/rewards": "report",
    "/ofrep/v1/evaluate/flags": "decide",
    "/ofrep/v1/evaluate/flags/{key}": "decide",
}
RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}}}


def answers(*slugs: str) -> Answers:
    """The problems of a call, by status, with those that every call may have."""
    made: Answers = {}
    named = ("unusable",) if "unknown-experiment" in slugs else ()
    for kind in (KINDS[slug] for slug in (*slugs, *named, *EVERY)):
        one = made.setdefault(kind.status, {"description": "", "content": {MEDIA_TYPE: content()}})
        one["description"] = f"{one['description']} {kind.title}".strip()
        one["content"][MEDIA_TYPE]["examples"][kind.slug] = {"value": Problem(kind.slug).document()}
        if kind.wait:
            one["headers"] = RETRY
    return made


def content() -> dict[str, Any]:
    return {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": {}}


def scopes_of(routers: Iterable[APIRouter]) -> dict[tuple[str, str], str]:
    """The scope that each call needs, by path and method."""
    return {
        (route.path, method.lower()): part.call.scope_needed
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for part in route.dependant.dependencies
        for method in route.methods or ()
        if part.call is not None and hasattr(part.call, "scope_needed")
    }


DELIVERY: dict[str, Any] = {
    "summary": "An event, as a webhook gets it",
    "description": "Signed after the Standard Webhooks specification; any status from 200 to 299 confirms it.",
    "parameters": [
        {"name": name, "in": "header", "required": True, "schema": {"type": "string"}}
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    ],
    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/SentEvent"}}}},
    "responses": {"2XX": {"description": "Received."}},
}


def document(
    api: FastAPI, fast: dict[str, Any], public: Iterable[str], scopes: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """The whole document; `public` are the paths that need no token, `scopes` those that the others need."""
    made = get_openapi(
        title="Afterglow", version=__version__, openapi_version="3.1.0", summary="Experiments without attribution",
        description=ABOUT, routes=api.routes, license_info={"name": "MIT", "identifier": "MIT"},
        tags=[{"name": name} for name in TAGS],
    )  # fmt: skip
    made["paths"] = dict(sorted((made["paths"] | fast["paths"]).items()))
    schemas = made["components"]["schemas"] | fast["schemas"] | {"Problem": PROBLEM, "SentEvent": sent_event()}
    for gone in ("HTTPValidationError", "ValidationError"):
        schemas.pop(gone, None)
    for name, example in EXAMPLES.items():
        if name in schemas:
            schemas[name]["examples"] = [example]
    made["components"]["schemas"] = dict(sorted(schemas.items()))
    made["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "`ag_…`, made by `afterglow token create`."}
    }
    made["webhooks"] = {"event": {"post": DELIVERY}}
    for path, calls in made["paths"].items():
        for method, call in calls.items():
            finish(call, None if path in public else OWN_CHECK.get(path) or scopes[path, method])
    return made


def finish(call: dict[str, Any], scope: str | None) -> None:
    """Add what all calls have in common; public calls need no scope."""
    if scope is None:
        for status in ("401", "403"):
            call["responses"].pop(status, None)
        call["security"] = []
    else:
        call["security"] = [{"token": [scope]}]
        call["description"] = f"{call.get('description', '')}\n\nScope: `{scope}`.".strip()
    if "requestBody" in call:
        for code, one in answers(*BODY).items():
            call["responses"].setdefault(str(code), one)
    call["responses"] = dict(sorted(call["responses"].items()))


def written(made: dict[str, Any]) -> bytes:
    return msgspec.json.encode(made)
