"""How far a study is, on stderr: bar, rate, time left and cell on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from afterglow.cli.messages import one_line

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results
    from afterglow.lab.study.schedule import Progress
    from afterglow.lab.study.study import Study

EVERY = 10.0  # seconds between plain lines


def play(study: "Study", folder: Path, threads: int | None, dask: str | None = None) -> "Results":
    """Play what the folder doesn't have yet of a study; stopped, it says how to go on."""
    from afterglow.lab.study.folder import finished  # noqa: PLC0415

    had = finished(folder)
    try:
        with study_progress() as tell:
            results = study.run(folder, threads, dask, tell)
    except KeyboardInterrupt:
        one_line(f"stopped; what was finished is in {folder}, run again to go on")
        raise
    one_line(f"results: {folder}{', all there already' if had else ''}")
    return results


@contextmanager
def study_progress() -> "Iterator[Callable[[Progress], None]]":
    """Gives a function to call with how far the study is."""
    if sys.stderr.isatty():
        with bar() as tell:
            yield tell
    else:
        yield lines()


@contextmanager
def bar() -> "Iterator[Callable[[Progress], None]]":
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (
        BarColumn(30),
        TextColumn("{task.percentage:3.0f} %"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
        TextColumn("[dim]{task.description}[/dim]"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=1.0, rate="", left="")
        yield lambda now: shown.update(
            task,
            completed=now.done / now.total,
            description=now.cell,
            rate=f"{now.rate:,.0f} runs/s" if now.rate >= 1 else f"{now.rate:.2g} runs/s",
            left=f"{lasting(now.left)} left" if now.left is not None else "",
        )


def lines() -> "Callable[[Progress], None]":
    last = time.monotonic()

    def tell(now: "Progress") -> None:
        nonlocal last
        if now.cell and time.monotonic() - last >= EVERY:
            last = time.monotonic()
            left = f", about {lasting(now.left)} left" if now.left is not None else ""
            one_line(f"{now.done:,} of {now.total:,} runs, {now.rate:,.3g} a second{left}; playing {now.cell}")

    return tell


def lasting(seconds: float) -> str:
    """A stretch of time, roughly: 40 s, 12 min, 3 h 20 min, 2 days."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours < 48 else f"{hours // 24} days"
