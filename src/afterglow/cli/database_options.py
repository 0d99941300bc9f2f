"""Options shared by commands on databases of live experiments."""

from typing import Annotated

from typer import Argument, Option

Database = Annotated[
    str, Argument(metavar="DATABASE", help="A SQLite file or a postgresql:// address.", show_default=False)
]
One = Annotated[str, Argument(metavar="NAME", help="The experiment.", show_default=False)]
OneOrAll = Annotated[str | None, Option("--experiment", metavar="NAME", help="One experiment; default: all.")]
Json = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
