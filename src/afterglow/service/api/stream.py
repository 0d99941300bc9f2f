"""A stream of events (server-sent events). Resumes after interruption with `Last-Event-ID`."""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from time import monotonic
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, Query
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from afterglow.errors import BadValue, argument
from afterglow.live.follower import LogEntry
from afterglow.service.api import models
from afterglow.service.api.dependencies import Reads
from afterglow.service.api.openapi import answers
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import Token
from afterglow.service.problems import Problem
from afterglow.service.service import Service
from afterglow.service.views import event_view

router = APIRouter(prefix="/v1", tags=["events"])
PAGE = 200
PING = 15.0  # seconds without events, then a comment, so that proxies keep the connection
POSITIONS = msgspec.json.Decoder(dict[str, Annotated[int, msgspec.Meta(ge=-1, le=models.MOST)]])
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events as they happen: `id` is for `Last-Event-ID`, `event` is the kind, `data` is JSON.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": 'id: eyJzaGlwcGluZyI6N30=\nevent: close\ndata: {"experiment":"shipping","seq":7,"at":'
                '"2026-11-16T01:30:00.000Z","kind":"close","body":{"served":1,"step":5,"total":310000000,'
                '"void":false}}\n\n',
            }
        },
    }
}


@router.get(
    "/events",
    summary="A stream of events",
    response_class=StreamingResponse,
    responses=answers("unknown-experiment") | EVENTS,
)
async def stream(
    call: Reads,
    experiment: Annotated[str | None, Query(max_length=100, description="One experiment; all unless set.")] = None,
    seconds: Annotated[float | None, Query(gt=0, le=86400, description="End the stream after this long.")] = None,
    last_event_id: Annotated[str | None, Header(max_length=100_000, description="Resume after this event.")] = None,
) -> StreamingResponse:
    """Without `Last-Event-ID` it begins with the next event. Lines with `:` are comments to keep the connection."""
    service, token = call.service, call.token
    only: Collection[str] | None = token.experiments
    if experiment is not None:
        allow(token, "read", experiment)
        await service.experiment(experiment)
        only = (experiment,)
    place = Place(service)
    try:
        seen = await service.ask(service.experiments.heads) if last_event_id is None else positions(last_event_id)
    except BaseException:
        place.leave()
        raise
    until = monotonic() + (seconds or 1e9)
    lines = EventLines(service, token, {name: seq for name, seq in seen.items() if only is None or name in only}, only)
    return EventStreamResponse(place, lines.all(until))


class Place:
    """One of a limited number of open streams."""

    def __init__(self, service: Service) -> None:
        self.ticker, self.gauge = service.ticker, service.metrics.streams
        if self.ticker.streams >= service.settings.streams:
            raise Problem("overloaded", f"{service.settings.streams:,} streams are open, which is the limit")
        self.count(1)

    def leave(self) -> None:
        self.count(-1)

    def count(self, more: int) -> None:
        self.ticker.streams += more
        self.gauge.set(self.ticker.streams)


class EventStreamResponse(StreamingResponse):
    """Gives its place back however it ends, also before its first line."""

    def __init__(self, place: Place, lines: AsyncIterator[bytes]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self.place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.place.leave()


class EventLines:
    """The text of one stream."""

    def __init__(self, service: Service, token: Token, seen: dict[str, int], only: Collection[str] | None) -> None:
        self.service = service
        self.token = token
        self.seen = seen
        self.only = only

    async def all(self, until: float) -> AsyncIterator[bytes]:
        ticker = self.service.ticker
        yield b"retry: 1000\n\n"
        while not ticker.ending and monotonic() < until and self.service.authenticator.valid(self.token):
            changed = ticker.news
            found = await self.look()
            for name, one in found:
                yield self.line(name, one)
            if len(found) < PAGE:
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), max(0.001, min(PING, until - monotonic())))
            if not found:
                yield b":\n\n"

    async def look(self) -> list[tuple[str, LogEntry]]:
        try:
            return await self.service.ask(self.service.experiments.changes, self.seen, PAGE, self.only)
        except Problem:
            return []  # the database can't be reached or is overloaded: with the next event

    def line(self, name: str, one: LogEntry) -> bytes:
        self.seen[name] = one.seq
        data = {"experiment": name} | event_view(one)
        del data["hash"]
        return b"id: %s\nevent: %s\ndata: %s\n\n" % (cursor(self.seen), one.kind.encode(), msgspec.json.encode(data))


def cursor(seen: Mapping[str, int]) -> bytes:
    return urlsafe_b64encode(msgspec.json.encode(seen))


def positions(text: str) -> dict[str, int]:
    try:
        return POSITIONS.decode(urlsafe_b64decode(text))
    except (ValueError, msgspec.MsgspecError) as error:
        raise BadValue(f"{argument('Last-Event-ID')} must be the id of an event of this stream") from error
