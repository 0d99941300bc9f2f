"""`afterglow backup`: copy a database, also while it is in use."""

from typing import Annotated

from typer import Argument, Option

from afterglow import live
from afterglow.cli import options
from afterglow.cli.messages import one_line
from afterglow.live.store.address import without_password


def command(
    database: options.Database,
    copy: Annotated[
        str, Argument(metavar="COPY", help="A new file, or an empty postgresql:// database.", show_default=False)
    ],
    damaged: Annotated[bool, Option("--damaged", help="Copy it also if it is damaged.")] = False,
) -> None:
    """Copy a database of experiments, also while they run, and verify the copy; between SQLite and PostgreSQL too."""
    with live.open(database, read_only=True) as experiments:
        experiments.backup(copy, damaged)
        names = ", ".join(experiments.names())
    one_line(f"wrote {without_password(copy)} with {names or 'no experiment'}")
