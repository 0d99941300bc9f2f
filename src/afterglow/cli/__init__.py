"""The command line: options, exit codes, messages, progress. Each command is a file in `commands`.

Results go to stdout, messages and progress to stderr. A wrong call exits 2, a failure 1, Ctrl-C 130, each with one
sentence and without a traceback.
"""

import sys
from collections.abc import Sequence
from io import TextIOWrapper

from afterglow.errors import MissingExtra

__all__ = ["main", "run"]

FIT = {"narwhals", "numpy", "rich", "scipy", "typer"}
OPTIONAL = FIT | {"jinja2", "llvmlite", "matplotlib", "numba", "pyarrow"}
LIGHT = {"policies"}  # commands that need no simulator
SERVING = {"backup", "export", "migrate", "serve", "token", "verify"}  # commands about running experiments


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
    arguments = sys.argv[1:] if argv is None else argv
    try:
        from afterglow.cli.app import call  # noqa: PLC0415  only the command line needs Typer

        return call(arguments)
    except ModuleNotFoundError as missing:
        module = (missing.name or "").partition(".")[0]
        if module not in OPTIONAL:
            raise
        print(needed(arguments, module), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def needed(arguments: Sequence[str], module: str) -> MissingExtra:
    """Which extra a call needs that couldn't import `module`."""
    command = next((word for word in arguments if not word.startswith("-")), None)
    if command == "fit":
        whole = module in FIT
        return MissingExtra("afterglow fit" if whole else "the page of a fit", "fit" if whole else "lab")
    if command in SERVING:
        return MissingExtra(f"afterglow {command}", "live")
    extra = "fit" if command is None or (command in LIGHT and module in FIT) else "lab"
    return MissingExtra("the command line" if command is None else f"afterglow {command}", extra)
