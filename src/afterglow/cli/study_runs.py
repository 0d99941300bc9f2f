"""Run a study for a command, with its progress on stderr."""

from pathlib import Path
from typing import TYPE_CHECKING

from afterglow.cli.messages import one_line
from afterglow.cli.progress import progress
from afterglow.lab.rendering.durations import lasting

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results
    from afterglow.lab.study.schedule import Progress
    from afterglow.lab.study.study import Study


def play(study: "Study", folder: Path, threads: int | None, dask: str | None = None) -> "Results":
    """Run what the folder doesn't have yet of a study; interrupted, it says how to continue."""
    from afterglow.lab.study.folder import finished  # noqa: PLC0415
    from afterglow.lab.study.results import Results  # noqa: PLC0415

    before = Results(folder).runs_planned if finished(folder) else 0
    try:
        with progress() as show:
            results = study.run(folder, threads, dask, lambda now: show(now.done / now.total, now.cell, figures(now)))
    except KeyboardInterrupt:
        one_line(f"interrupted; finished runs are in {folder}, run again to continue")
        raise
    one_line(f"results: {folder}{there_before(before, results.runs_planned)}")
    return results


def there_before(before: int, now: int) -> str:
    """How many runs a finished study had before it was extended."""
    if not before:
        return ""
    return ", all there already" if before == now else f", extended: {before:,} of {now:,} runs were there"


def figures(now: "Progress") -> str:
    """How many runs are done, how fast, and how long the rest takes."""
    rate = f"{now.rate:,.0f}" if now.rate >= 1 else f"{now.rate:.2g}"
    left = f", {lasting(now.left, 1.0)} left" if now.left is not None else ""
    return f"{now.done:,} of {now.total:,} runs, {rate} runs/s{left}"
