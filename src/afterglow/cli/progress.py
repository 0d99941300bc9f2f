"""How far a long command is, on stderr: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from afterglow.cli.messages import one_line

EVERY = 5.0  # seconds between plain lines


@contextmanager
def progress() -> Iterator[Callable[[float, str], None]]:
    """Gives a function to call with the share done and what is being done."""
    if sys.stderr.isatty():
        with bar() as tell:
            yield tell
    else:
        yield lines()


@contextmanager
def bar() -> Iterator[Callable[[float, str], None]]:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        BarColumn(40),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0)
        yield lambda share, what: shown.update(task, completed=share, description=what)


def lines() -> Callable[[float, str], None]:
    last = time.monotonic()

    def tell(share: float, what: str) -> None:
        nonlocal last
        if what and time.monotonic() - last >= EVERY:
            last = time.monotonic()
            one_line(f"{share:4.0%} done, playing {what}")

    return tell
