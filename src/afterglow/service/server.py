"""Run the HTTP server with graceful shutdown: queued rewards are committed, and streams end."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import uvicorn

from afterglow import live
from afterglow.live.store import access
from afterglow.live.store.address import without_password
from afterglow.release import __version__
from afterglow.service.app import application
from afterglow.service.logs import write_logs
from afterglow.service.service import Service
from afterglow.service.settings import ServiceSettings
from afterglow.service.transport.connections import ConnectionState, HttpReader, cut_late
from afterglow.service.transport.open_files import room_for

LOG = logging.getLogger("afterglow.service")
BACKLOG = 2048
SWITCH = 0.0005  # seconds for which a thread that computes, such as one that renders a page, keeps the others waiting
KEEP_ALIVE = 75  # seconds; longer than proxies use, so that they never reuse a connection that was just closed


class Server(uvicorn.Server):
    """Uvicorn, but streams are ended before it waits for them, and a stop by signal exits with 0."""

    def __init__(self, service: Service, ready: Callable[[], None]) -> None:
        settings = service.settings
        super().__init__(
            uvicorn.Config(
                application(service), log_config=None, access_log=False, server_header=False, proxy_headers=False,
                lifespan="on", ws="none", timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
                backlog=BACKLOG, http=HttpReader, timeout_keep_alive=KEEP_ALIVE,
            )
        )  # fmt: skip
        self.server_state = ConnectionState(room_for(settings.connections))
        self.service = service
        self.ready = ready
        self.patience = settings.time_limit

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.cutting = asyncio.create_task(self.cut())
        LOG.info("started", extra={"release": __version__, "database": without_password(self.service.settings.db)})
        self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        LOG.info("stopping")
        self.service.hush()
        self.patience = min(self.patience, self.service.settings.stop_seconds / 2)
        await super().shutdown(sockets)
        self.cutting.cancel()
        LOG.info("stopped")

    async def cut(self) -> None:
        """Close connections of slow clients, until the server stops."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(1.0, self.patience / 5))
            cut_late(self.server_state.connections, loop.time(), self.patience)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True  # second signal
        self.should_exit = True


@contextmanager
def opened(
    settings: ServiceSettings,
    clock: Callable[[], float] | None = None,
    monotonic: Callable[[], float] | None = None,
) -> Iterator[Service]:
    """The service with its database open; the server closes it, or the end of the context."""
    with live.open(settings.db, clock=clock, monotonic=monotonic) as experiments:
        experiments.names()  # a file that has lost them can't be served, and is refused before a token is made
        keys = access(settings.db)
        try:
            yield Service(experiments, keys, settings)
        finally:
            keys.close()


def listen(settings: ServiceSettings) -> socket.socket:
    """A socket bound to the address of the settings."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, _, _, _, where = found[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(where)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        error.filename = f"{settings.host}:{settings.port}"
        raise
    return listener


def address_of(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def leave() -> NoReturn:
    """Exit although threads wait for an unresponsive database: none of their calls were acknowledged."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def serve(settings: ServiceSettings, say: Callable[[str], Any]) -> None:
    """Serve until a signal."""
    write_logs(settings.log_level)
    listener = listen(settings)
    try:
        with opened(settings) as service:
            token = service.first_token()
            if token is not None:
                say(f"admin token, shown this once: {token}")
            server = Server(service, lambda: say(f"listening on {address_of(listener)}"))
            sys.setswitchinterval(SWITCH)
            with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
                runner.run(server.serve(sockets=[listener]))
                if service.hanging:
                    leave()
    finally:
        listener.close()
    sys.stdout.flush()
