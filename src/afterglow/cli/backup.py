"""`afterglow backup`: a copy of a database that may be in use."""

from pathlib import Path
from typing import Annotated

from typer import Argument

from afterglow import live
from afterglow.cli import live_options as options
from afterglow.cli.messages import one_line


def command(
    database: options.Database,
    copy: Annotated[Path, Argument(metavar="COPY", help="The new file.", show_default=False)],
) -> None:
    """Copy a database of experiments, while they run."""
    with live.open(database, read_only=True) as experiments:
        experiments.backup(str(copy))
        names = ", ".join(experiments.names())
    one_line(f"wrote {copy} with {names or 'no experiment'}")
