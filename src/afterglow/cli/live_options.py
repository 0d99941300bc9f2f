"""The options of commands about live experiments."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Database = Annotated[Path, Argument(metavar="FILE", help="The database of the experiments.", show_default=False)]
One = Annotated[str, Argument(metavar="NAME", help="The experiment.", show_default=False)]
OneOrAll = Annotated[str | None, Option("--experiment", metavar="NAME", help="One experiment; all of them unless set.")]
Json = Annotated[bool, Option("--json", help="Print JSON for programs, not text for people.")]
