"""`afterglow backup`: copy a database, also while it is in use."""

from typing import Annotated

from typer import Argument

from afterglow import live
from afterglow.cli import options
from afterglow.cli.messages import one_line
from afterglow.live.store.address import without_password


def command(
    database: options.Database,
    copy: Annotated[
        str, Argument(metavar="COPY", help="A new file, or an empty postgresql:// database.", show_default=False)
    ],
) -> None:
    """Copy a database of experiments, also while they run; between SQLite and PostgreSQL too."""
    with live.open(database, read_only=True) as experiments:
        experiments.backup(copy)
        names = ", ".join(experiments.names())
    one_line(f"wrote {without_password(copy)} with {names or 'no experiment'}")
