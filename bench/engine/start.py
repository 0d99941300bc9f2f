"""How long a fresh process takes: importing the package, and the command with and without its compiled kernels."""

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.report.figures import Figure, Item, digits
from bench.report.timing import Time

COMMAND = [
    sys.executable, "-c", "from afterglow.cli import main; main()", "simulate", "--policy", "phased-ucb", "--means",
    "0.9,0.8,0.7", "--window", "10", "--spread", "uniform", "--horizon", "1e6", "--runs", "10", "--seed", "1",
]  # fmt: skip
BARE, IMPORT = ([sys.executable, "-c", code] for code in ("pass", "import afterglow"))


def started(command: list[str], cache: Path) -> tuple[Time, str]:
    """What a process took, and what it said on stderr."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, env=os.environ | {"AFTERGLOW_CACHE": str(cache)}, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"`{' '.join(command[1:])}` exits {done.returncode}: {done.stderr.strip()}")
    return Time(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall), done.stderr


def median(times: list[Time]) -> Time:
    return Time(statistics.median(time.cpu for time in times), statistics.median(time.wall for time in times))


def measure(folder: Path) -> Item:
    firsts, later, told = [], [], True
    for _ in range(2):
        with TemporaryDirectory() as empty:
            first, said = started(COMMAND, Path(empty))
            told = told and "compil" in said
            firsts.append(first)
            later += [started(COMMAND, Path(empty))[0] for _ in range(4)]
    bare, imported = ([started(command, folder)[0] for _ in range(7)] for command in (BARE, IMPORT))
    times = {
        "Python alone": median(bare),
        "`import afterglow`": median(imported),
        "`afterglow simulate`, first start, compiling": median(firsts),
        "`afterglow simulate`, later starts, to the result": median(later),
    }
    python, package, *command = times.items()
    figures = [Figure("`import afterglow`, beyond Python alone", package[1].wall - python[1].wall, "s", at_most=0.3)]
    figures += [
        Figure(what, taken.wall, "s", at_most=goal) for (what, taken), goal in zip(command, (30, 2), strict=True)
    ]
    return Item(
        "start", "Starting", figures, ["", "s by the wall clock", "s of CPU"],
        [[what, digits(taken.wall), digits(taken.cpu)] for what, taken in times.items()],
        [
            "Whole processes, medians; phased-ucb, 10 runs of T = 1e6. The first start has an empty "
            f"`AFTERGLOW_CACHE` and {'says' if told else 'does NOT say'} that it compiles."
        ],
    )  # fmt: skip
