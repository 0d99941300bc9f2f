"""The command line. One file for each command: parse, call one function, print.

Results go to stdout, everything else to stderr. A wrong call exits 2, a failure 1, Ctrl-C 130, each with one
sentence and never with a traceback.
"""

import sys
from collections.abc import Sequence

from afterglow.errors import MissingExtra

LAB = {"jinja2", "llvmlite", "matplotlib", "numba", "pyarrow", "rich", "scipy", "typer"}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    try:
        from afterglow.cli.app import call  # noqa: PLC0415  only the command line needs Typer

        return call(sys.argv[1:] if argv is None else argv)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in LAB:
            raise
        print(MissingExtra("the command line", "lab"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
