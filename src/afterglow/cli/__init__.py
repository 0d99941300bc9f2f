"""The command line: options, exit codes, messages, progress. Each command is a file in `commands`.

Results go to stdout, messages and progress to stderr. A wrong call exits 2, a failure 1, Ctrl-C 130, each with one
sentence and without a traceback.
"""

import sys
from collections.abc import Sequence
from io import TextIOWrapper

from afterglow.errors import MissingExtra

__all__ = ["main", "run"]

LAB = {"jinja2", "llvmlite", "matplotlib", "numba", "pyarrow", "rich", "scipy", "typer"}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    if isinstance(sys.stdout, TextIOWrapper):
        use_utf8(sys.stdout)
    sys.exit(run(argv))


def use_utf8(stream: TextIOWrapper) -> None:
    """Write UTF-8 to files and pipes, whatever the locale; on a terminal, a ? for characters that it can't show."""
    if stream.isatty():
        stream.reconfigure(errors="replace")
    else:
        stream.reconfigure(encoding="utf-8")


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
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
