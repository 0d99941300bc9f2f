"""Uvicorn's reader of HTTP, with an end to waiting: requests arrive and answers are taken in time, or the connection
ends, and there are no more connections than the service has room for."""

import asyncio
import logging
from collections.abc import Iterable

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from afterglow.service.problems import Problem

LOG = logging.getLogger("afterglow.service")
MOST = 1 << 16  # bytes of a request line and headers


class ConnectionState(ServerState):
    """All connections, at most `room` of them."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.full = False

    def admit(self) -> bool:
        """Whether there is room for the last one that came; if not, that is said once, until half of them are gone."""
        fits = len(self.connections) <= self.room
        if not fits and not self.full:
            self.full = True
            LOG.warning("%s connections are open, which is the limit: more are refused", f"{self.room:,}")
        elif self.full and len(self.connections) <= self.room // 2:
            self.full = False
        return fits


class HttpReader(HttpToolsProtocol):
    """Counts bytes until the headers are complete, and remembers since when it waits for the other side."""

    before_body = True
    counted = 0
    asked: float | None = None  # since when a request is under way that is not here whole; None between requests
    stuck: float | None = None  # since when nobody takes the answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
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
            if self.counted > MOST + len(data):  # what came with the last piece may be the body already
                self.transport.close()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self.before_body = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.before_body, self.counted, self.asked = True, 0, None
        self.scope["whole"] = True  # type: ignore[typeddict-unknown-key]  # its body need not be waited for
        super().on_message_complete()

    def pause_writing(self) -> None:
        self.stuck = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.stuck = None
        super().resume_writing()

    def cut(self, now: float, patience: float) -> None:
        """End the connection if the other side lets it wait for too long; asked now and then, of all."""
        if self.stuck is not None and now - self.stuck > patience:
            self.transport.abort()
        elif self.transport.is_closing():
            self.stuck = self.stuck or now  # what was answered must be taken too
        elif self.asked is not None and now - self.asked > patience and self.unheard():
            self.transport.close()
        elif getattr(self.cycle, "response_complete", False):  # there is none before the first call
            self.cycle.body = bytearray()  # nobody asked for it
            if self.asked is None and "method" not in self.scope:
                self.asked = now  # half a request came right behind the one before

    def unheard(self) -> bool:
        """Whether no call is at work that has its own limit for the body: it was not begun, or is answered."""
        return self.before_body or self.cycle.response_complete


def cut_late(connections: Iterable[object], now: float, patience: float) -> None:
    for one in list(connections):
        if isinstance(one, HttpReader):
            one.cut(now, patience)


def refused(problem: Problem) -> bytes:
    """A whole answer, for those who are not even heard."""
    answer = problem.response()
    head = b"".join(b"%s: %s\r\n" % line for line in answer.raw_headers)
    return b"HTTP/1.1 503 Service Unavailable\r\n%sconnection: close\r\n\r\n%s" % (head, answer.body)


FULL = refused(Problem("overloaded", "more connections are open than the service takes on"))
