"""A bare Starlette route that answers in JSON, behind the server that the service has, with the same settings."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from afterglow.service.server import BACKLOG, listen
from afterglow.service.settings import ServiceSettings

PATH = "/current"
ANSWER = {
    "experiment": "shipping", "variant": "59", "step": 118, "role": "plan", "valid_until": "2027-01-15T08:00:00.000Z",
}  # fmt: skip


async def current(request: Request) -> JSONResponse:
    return JSONResponse(ANSWER)


@contextmanager
def bare_route() -> Iterator[tuple[int, int]]:
    """Port and process of the route, which runs until the context ends."""
    with Popen([sys.executable, str(Path(__file__))], stdout=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline()), process.pid
        finally:
            process.kill()


def main() -> None:
    listener = listen(ServiceSettings(port=0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=[Route(PATH, current)]), log_config=None, access_log=False, server_header=False,
            proxy_headers=False, lifespan="on", ws="none", backlog=BACKLOG, h11_max_incomplete_event_size=1 << 16,
        )
    ).run(sockets=[listener])  # fmt: skip


if __name__ == "__main__":
    main()
