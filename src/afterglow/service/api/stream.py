"""A stream of events (server-sent events). Resumes after interruption with `Last-Event-ID`.

Events come from the ticker's feed, which reads each record once for all streams. Only a stream that resumes, or has
fallen behind the feed, reads the log itself. The id of an event has the place in every log of the stream, with a part
of the record's hash: if a log has lost that record, the stream says so with an event `rewound`.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from afterglow.live.domain.log import BEGINNING
from afterglow.live.log_entries import REWOUND, rewound
from afterglow.service.api.dependencies import Reads
from afterglow.service.api.openapi import answers
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import ANYBODY, Token
from afterglow.service.background.event_ids import Places, cursor, positions, resumed
from afterglow.service.background.feed import Item, item_of
from afterglow.service.problems import Problem
from afterglow.service.service import Service

router = APIRouter(prefix="/v1", tags=["events"])
PAGE = 200
PING = 15.0  # seconds without events, then a comment, so that proxies keep the connection
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events as they happen: `id` is for `Last-Event-ID`, `event` is the kind, `data` is JSON.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string"},
                "example": 'id: eyJzaGlwcGluZyI6N30=\nevent: close\ndata: {"experiment":"shipping","seq":7,"at":'
                '"2026-11-16T01:30:00.000Z","kind":"close","body":{"served":1,"step":5,"total":310000000,'
                '"void":false},"verdict":null}\n\n',
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
        await service.experiment(experiment, token)
        only = (experiment,)
    seat = Seat(service, token)
    try:
        position, lost = service.ticker.feed.end, list[str]()
        if last_event_id is None:
            found = await service.ask(service.experiments.places)
            seen = Places({name: at for name, at in found.items() if only is None or name in only}, only)
        else:
            seen, lost = await service.ask(resumed, service.experiments, positions(last_event_id), only)
    except BaseException:
        seat.leave()
        raise
    until = monotonic() + (seconds or 1e9)
    lines = EventLines(service, token, seen, only, position if last_event_id is None else -1)
    lines.lost = lost
    return EventStreamResponse(seat, lines.all(until))


class Seat:
    """One of a limited number of open streams, of which one token may have four fifths."""

    def __init__(self, service: Service, token: Token) -> None:
        self.ticker, self.gauge, self.token = service.ticker, service.metrics.streams, token.id
        most = service.settings.streams
        if self.ticker.streams >= most:
            raise Problem("overloaded", f"{most:,} streams are open, which is the limit")
        own = max(1, 4 * most // 5)
        if token is not ANYBODY and self.ticker.streams_of[token.id] >= own:
            raise Problem("too-many-requests", f"{own:,} streams are open with this token, which is the limit")
        self.count(1)

    def leave(self) -> None:
        self.count(-1)

    def count(self, more: int) -> None:
        self.ticker.streams += more
        self.ticker.streams_of[self.token] += more
        if not self.ticker.streams_of[self.token]:
            del self.ticker.streams_of[self.token]
        self.gauge.set(self.ticker.streams)


class EventStreamResponse(StreamingResponse):
    """Gives its place back however it ends, also before its first line."""

    def __init__(self, seat: Seat, lines: AsyncIterator[bytes]) -> None:
        super().__init__(lines, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self.seat = seat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.seat.leave()


class EventLines:
    """The text of one stream. `position` is its place in the feed; -1 before it has caught up with it."""

    def __init__(
        self, service: Service, token: Token, seen: Places, only: Collection[str] | None, position: int
    ) -> None:
        self.service = service
        self.token = token
        self.seen = seen
        self.only = only
        self.position = position
        self.lost = list[str]()  # experiments of which it may have missed records; told first
        self.in_step = False  # it has read what the feed has, neither more nor less: the ids are those of the feed

    async def all(self, until: float) -> AsyncIterator[bytes]:
        ticker = self.service.ticker
        yield b"retry: 1000\n\n"
        for name in self.lost:
            at = self.seen[name]
            yield self.line(item_of(name, None, rewound(at.seq, at.seq, at.hash, self.service.experiments.now())))
        while not ticker.ending and monotonic() < until and self.service.authenticator.valid(self.token):
            changed = ticker.feed.news
            found = self.from_feed()
            if found is None:
                found = await self.from_log()
            for item in found:
                yield self.line(item)
            self.compare()
            if self.position >= 0 or not found:
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), max(0.001, min(PING, until - monotonic())))
            if not found:
                yield b":\n\n"

    def from_feed(self) -> list[Item] | None:
        """What is new in the feed; None if this stream has to read the log."""
        feed = self.service.ticker.feed
        found = feed.since(self.position) if self.position >= 0 else None
        if found is None:
            return None
        self.position = feed.end
        return [item for item in found if self.is_new(item)]

    def compare(self) -> None:
        """Find out whether it has read what the feed has, if it may have."""
        feed, seen = self.service.ticker.feed, self.seen
        if not self.in_step and self.only is None and self.position == feed.end and len(seen) == len(feed.places):
            self.in_step = all(name in seen and seen[name].seq == place.seq for name, place in feed.places.items())

    def is_new(self, item: Item) -> bool:
        if self.only is not None and item.experiment not in self.only:
            return False
        return item.entry.kind == REWOUND or item.entry.seq > self.seen.get(item.experiment, BEGINNING).seq

    async def from_log(self) -> list[Item]:
        """A page of the log; the feed follows once there is no more."""
        self.in_step = False
        self.position, end = -1, self.service.ticker.feed.end
        try:
            found = await self.service.ask(self.read)
        except Problem:
            return []  # the database can't be reached or is overloaded: with the next event
        if len(found) < PAGE:
            self.position = end
        return found

    def read(self) -> list[Item]:
        experiments, seen, verdicts = self.service.experiments, self.seen, self.service.ticker.verdicts
        heads = experiments.places()
        moved = {name: place for name, place in seen.items() if not place.is_at(heads.get(name, BEGINNING))}
        located = experiments.locate(moved)
        lost = [
            item_of(name, None, rewound(seen[name].seq, seq, mark, experiments.now()))
            for name, (seq, gone, mark) in located.items()
            if gone
        ]
        after = {name: located[name].seq if name in located else at.seq for name, at in seen.items()}
        found = experiments.changes(after, PAGE, self.only)
        return [*lost, *(item_of(name, verdicts.spec(name), one, verdicts.verdict(name, one)) for name, one in found)]

    def line(self, item: Item) -> bytes:
        self.seen.move(item.experiment, item.entry.place())
        shared = item.id if self.in_step else None
        return b"id: %s\n%s" % (cursor(self.seen) if shared is None else shared, item.text)
