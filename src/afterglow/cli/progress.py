"""Progress of a long command on stderr: a bar on a terminal, otherwise a line every few seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from afterglow.cli.messages import one_line

EVERY = 10.0  # seconds between two lines
Show = Callable[[float, str, str], None]  # share done, what is being played, figures such as the rate


@contextmanager
def progress() -> Iterator[Show]:
    """Gives a function that shows the share done, what is being played, and figures."""
    if sys.stderr.isatty():
        with bar() as show:
            yield show
    else:
        yield lines()


@contextmanager
def bar() -> Iterator[Show]:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        BarColumn(30),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[figures]}"),
        TextColumn("[dim]{task.description}[/dim]"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0, figures="")
        yield lambda share, what, figures: shown.update(task, completed=share, description=what, figures=figures)


def lines() -> Show:
    last = time.monotonic()

    def show(share: float, what: str, figures: str) -> None:
        nonlocal last
        if what and time.monotonic() - last >= EVERY:
            last = time.monotonic()
            one_line(f"{share:.0%} done, {figures + ', ' if figures else ''}playing {what}")

    return show
