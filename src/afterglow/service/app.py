"""The ASGI application: middleware, fast routes, and FastAPI for the other routes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Router
from starlette.types import Scope

from afterglow.errors import AfterglowError
from afterglow.service import dashboard
from afterglow.service.api import audit, commands, docs, estimates, experiments, health, ofrep, steps, stream, webhooks
from afterglow.service.api.base_models import RULES
from afterglow.service.api.fast_openapi import FAST_CALLS
from afterglow.service.api.fast_routes import FastRoutes
from afterglow.service.api.openapi import document, scopes_of, written
from afterglow.service.problems import Problem, problem_of
from afterglow.service.service import Service
from afterglow.service.transport.middleware import Middleware, shortened

ROUTERS = (
    experiments.router, commands.router, steps.router, estimates.router, stream.router, webhooks.router, audit.router,
    ofrep.router, health.router,
)  # fmt: skip

UNTRACED: Any = {"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}


def application(service: Service) -> Middleware:
    """The ASGI callable; its lifespan starts and stops the service."""

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    routed = api(service)
    others: Any = Router([], redirect_slashes=False, default=routed, lifespan=lifespan)
    inner = FastRoutes(service, others)
    return Middleware(inner, service.authenticator, service.settings, service.metrics, partial(has_route, routed))


def api(service: Service) -> FastAPI:
    """All routes but the fast ones, and the OpenAPI document of both."""
    made = FastAPI(
        title="Afterglow", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, telemetry=UNTRACED
    )  # fmt: skip
    made.state.service = service
    made.state.ready = health.Ready(lambda: service.ask(service.experiments.names))
    made.add_exception_handler(HTTPException, refused)
    made.add_exception_handler(RequestValidationError, unreadable)
    made.add_exception_handler(AfterglowError, mistaken)
    made.add_exception_handler(Exception, failed)
    for router in ROUTERS:
        made.include_router(router)
    described = document(made, FAST_CALLS, health.PUBLIC, scopes_of(ROUTERS))
    text = written(described)

    @made.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(text, media_type="application/json")

    made.state.dashboard = dashboard.dashboard_of(service)
    made.state.bar = partial(dashboard.bar, made.state.dashboard)
    made.router.routes.extend([*docs.routes(described, made.state.bar), *dashboard.routes(made.state.dashboard)])
    return made


def has_route(routed: FastAPI, scope: Scope) -> bool:
    """Whether there is anything at an address."""
    return FastRoutes.call_at(scope["path"]) is not None or bool(routes_at(routed, scope))


def routes_at(routed: FastAPI, scope: Scope) -> list[Any]:
    """All routes of a path, for whatever methods."""
    asked = {**scope, "path_params": {}}
    routes = [*routed.routes, *(route for router in ROUTERS for route in router.routes)]
    return [route for route in routes if route.matches(asked)[0] is not Match.NONE]


async def refused(request: Request, error: Any) -> Response:
    if isinstance(error, Problem):
        return error.response()
    slug = {404: "not-found", 405: "method-not-allowed", 400: "malformed"}.get(error.status_code, "internal")
    if "token" not in request.scope:
        try:
            request.app.state.service.authenticator.brake("calls to unknown addresses", request.scope)
        except Problem as braked:
            return braked.response()
    detail = f"there is nothing at {shortened(request.url.path)}" if slug == "not-found" else ""
    headers = {"Allow": allowed(request)} if slug == "method-not-allowed" else None
    problem = Problem(slug, detail, headers=headers)
    page = dashboard.problem_for_browsers(request.app.state.dashboard, request, problem)
    return page or problem.response()


def allowed(request: Request) -> str:
    """All methods of a path, over all routes."""
    found = routes_at(request.app, request.scope)
    return ", ".join(sorted({method for route in found for method in getattr(route, "methods", None) or ()}))


async def unreadable(request: Request, error: Any) -> Response:
    """FastAPI's validation errors as a problem."""
    found = error.errors()
    if any(one["type"] == "json_invalid" for one in found):
        return Problem("malformed", f"the body is not JSON: {found[0]['ctx']['error'].lower()}").response()
    errors = [{"where": ".".join(str(part) for part in one["loc"]), "what": said_of(one)} for one in found]
    field = next((str(one["loc"][1]) for one in found if len(one["loc"]) > 1), "")
    said = "; ".join(f"{one['where']}: {one['what'][:1].lower()}{one['what'][1:]}" for one in errors)
    return Problem("bad-value", said, error_kind="bad-value", field=field, errors=errors).response()


def said_of(error: dict[str, Any]) -> str:
    """The message for a value; patterns are replaced by their rule in words."""
    rule = RULES.get(error.get("ctx", {}).get("pattern"))
    return f"{rule}, got {error['input']!r}" if rule else str(error["msg"])


async def mistaken(request: Request, error: Any) -> Response:
    return problem_of(error).response()


async def failed(request: Request, error: Any) -> Response:
    return Problem("internal").response()
