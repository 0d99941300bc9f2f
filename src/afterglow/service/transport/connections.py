"""Uvicorn's HTTP protocol with time limits for slow clients, a limit of header bytes and a limit of connections."""

import asyncio
import logging
from collections.abc import Iterable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from afterglow.service.problems import Problem

LOG = logging.getLogger("afterglow.service")
MOST = 1 << 16  # maximum bytes of the request line and headers


class ConnectionState(ServerState):
    """All open connections, at most `room` of them."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.full = False

    def admit(self) -> bool:
        """Whether the newest connection is within the limit; a warning is logged once, until half are closed."""
        fits = len(self.connections) <= self.room
        if not fits and not self.full:
            self.full = True
            LOG.warning("%s connections are open, which is the limit; further ones are refused", f"{self.room:,}")
        elif self.full and len(self.connections) <= self.room // 2:
            self.full = False
        return fits


class HttpReader(HttpToolsProtocol):
    """Counts header bytes, and records since when it has been waiting for the client."""

    before_body = True
    counted = 0
    asked: float | None = None  # since when a request has been incomplete; None between requests
    stuck: float | None = None  # since when the client has not been reading the response

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.asked = self.loop.time()
        if isinstance(self.server_state, ConnectionState) and not self.server_state.admit():
            transport.write(FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        if self.asked is None:
            self.asked = self.loop.time()
        if self.before_body:
            self.counted += len(data)
            if self.counted > MOST + len(data):  # the last chunk may contain part of the body
                self.transport.close()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self.before_body = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.before_body, self.counted, self.asked = True, 0, None
        self.scope["whole"] = True  # type: ignore[typeddict-unknown-key]  # the body is complete
        super().on_message_complete()

    def pause_writing(self) -> None:
        self.stuck = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.stuck = None
        super().resume_writing()

    def cut(self, now: float, patience: float) -> None:
        """Close the connection if the client is too slow; called regularly for all connections."""
        if self.stuck is not None and now - self.stuck > patience:
            self.transport.abort()
        elif self.transport.is_closing():
            self.stuck = self.stuck or now  # the rest of the response must be read in time too
        elif self.asked is not None and now - self.asked > patience and self.unheard():
            self.transport.close()
        elif getattr(self.cycle, "response_complete", False):  # there is no cycle before the first request
            self.cycle.body = bytearray()  # unread body
            if self.asked is None and "method" not in self.scope:
                self.asked = now  # a partial request followed the previous one

    def unheard(self) -> bool:
        """Whether no call is in progress, which would have its own time limit for the body."""
        return self.before_body or self.cycle.response_complete


def cut_late(connections: Iterable[object], now: float, patience: float) -> None:
    for one in list(connections):
        if isinstance(one, HttpReader):
            one.cut(now, patience)


def refused(problem: Problem) -> bytes:
    """A complete HTTP response for a connection that is refused."""
    answer = problem.response()
    head = b"".join(b"%s: %s\r\n" % line for line in answer.raw_headers)
    return b"HTTP/1.1 503 Service Unavailable\r\n%sconnection: close\r\n\r\n%s" % (head, answer.body)


FULL = refused(Problem("overloaded", "too many connections are open"))
