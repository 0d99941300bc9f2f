"""Liveness, readiness, metrics and explanations of problems. No token is needed, but for metrics off loopback."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from afterglow.service import metrics
from afterglow.service.api.docs import problem_page
from afterglow.service.api.openapi import Answers, answers
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import Token
from afterglow.service.problems import Problem

router = APIRouter(tags=["operation"])
LASTS = 1.0  # seconds for which an answer of the database is reused
PUBLIC = ("/healthz", "/readyz", "/metrics", "/problems/{slug}")
FINE: Answers = {200: {"content": {"application/json": {"example": {"status": "ok"}}}}}
TEXT: Answers = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
PAGE: Answers = {200: {"content": {"text/html": {"schema": {"type": "string"}}}}}


class Ready:
    """Whether the database answers; concurrent requests share one check."""

    def __init__(self, ask: Callable[[], Awaitable[object]]) -> None:
        self.ask = ask
        self.asked = -LASTS
        self.problem = ""
        self.turn = asyncio.Lock()

    async def look(self) -> None:
        """Raise a problem if it doesn't; the problem doesn't name the database."""
        async with self.turn:
            if monotonic() - self.asked >= LASTS:
                self.problem = await self.look_anew()
                self.asked = monotonic()
        if self.problem:
            raise Problem(self.problem)

    async def look_anew(self) -> str:
        try:
            await self.ask()
        except Problem as problem:
            return problem.kind.slug if problem.kind.wait else "database-unavailable"
        return ""


@router.get("/healthz", summary="Whether the process is alive", responses=FINE)
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/readyz", summary="Whether the database can be reached", responses=FINE | answers())
async def readyz(request: Request) -> dict[str, str]:
    service = request.app.state.service
    if service.ticker.ending:
        raise Problem("overloaded", "the service is stopping")
    await request.app.state.ready.look()
    return {"status": "ok"}


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response, responses=TEXT)
async def read_metrics(request: Request) -> Response:
    service = request.app.state.service
    knows: Callable[[str], bool] | None = None
    token: Token | None = request.scope.get("token")
    if token is not None:
        allow(token, "read")
        knows = None if token.experiments is None else token.knows
    text = await asyncio.to_thread(service.metrics.text, knows)  # half a second for ten thousand experiments
    return Response(text, media_type=metrics.MEDIA_TYPE)


@router.get(
    "/problems/{slug}",
    summary="What a problem means",
    response_class=HTMLResponse,
    responses=PAGE | answers("not-found"),
)
async def explain_problem(slug: str, request: Request) -> Any:
    return problem_page(slug, request.app.state.bar(request))
