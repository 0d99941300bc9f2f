"""`afterglow serve`: the HTTP service for live experiments."""

import os
from pathlib import Path
from typing import Annotated

from typer import Option

from afterglow.errors import MissingExtra

Config = Annotated[Path | None, Option("--config", metavar="FILE", help="Settings as TOML.", show_default=False)]
Db = Annotated[
    str | None,
    Option("--db", metavar="ADDRESS", help="A SQLite file or postgresql://…; default: `experiments.db`."),
]


def command(
    db: Db = None,
    host: Annotated[str | None, Option("--host", metavar="HOST", help="Host; default: `127.0.0.1`.")] = None,
    port: Annotated[int | None, Option("--port", metavar="N", help="Default: `8321`; 0 takes a free one.")] = None,
    config: Config = None,
    auth: Annotated[
        bool | None, Option("--auth/--no-auth", help="Require tokens; `--no-auth` is for local use only.")
    ] = None,
    queue: Annotated[
        int | None, Option("--queue", metavar="N", help="Maximum number of waiting rewards; default: `20000`.")
    ] = None,
    time_limit: Annotated[
        float | None, Option("--time-limit", metavar="SECONDS", help="Time limit of a request; default: `10`.")
    ] = None,
    rate_limit: Annotated[
        float | None, Option("--rate-limit", metavar="N", help="Requests per second and token; default: `10000`.")
    ] = None,
    log_level: Annotated[
        str | None, Option("--log-level", metavar="LEVEL", help="debug, info, warning or error; default: `info`.")
    ] = None,
) -> None:
    """Serve live experiments over HTTP until Ctrl-C or SIGTERM."""
    try:
        from afterglow.service.server import serve  # noqa: PLC0415  needs the extra
        from afterglow.service.settings import settings_from  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("afterglow"):
            raise
        raise MissingExtra("the service", "live") from missing
    flags = {
        "db": db, "host": host, "port": port, "auth": auth, "queue": queue, "time_limit": time_limit,
        "rate_limit": rate_limit, "log_level": log_level,
    }  # fmt: skip
    serve(settings_from(flags, os.environ, config), lambda text: print(text, flush=True))
