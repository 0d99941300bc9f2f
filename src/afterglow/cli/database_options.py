"""The options of commands about live experiments."""

from typing import Annotated

from typer import Argument, Option

Database = Annotated[
    str, Argument(metavar="DATABASE", help="A SQLite file or a postgresql:// address.", show_default=False)
]
One = Annotated[str, Argument(metavar="NAME", help="The experiment.", show_default=False)]
OneOrAll = Annotated[str | None, Option("--experiment", metavar="NAME", help="One experiment; all of them unless set.")]
Json = Annotated[bool, Option("--json", help="Print JSON for programs, not text for people.")]
