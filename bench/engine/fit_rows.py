"""Fit a CSV file of a million rows with ISO times: reading, and all estimates."""

from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from afterglow import fit
from afterglow.lab import read_steps
from bench.report.figures import Figure, Item, digits

ROWS, WINDOW = 1_000_000, 10
MEANS = {"A": 0.5, "B": 0.55, "C": 0.6}


def write(path: Path) -> None:
    """Hours with random turns of 10 to 80; each pull pays a tenth of its reward in each of ten steps."""
    random, recent, arm, left = Random(1), [0.0] * WINDOW, "A", 0
    began = datetime(2020, 1, 1)
    with path.open("w", encoding="utf-8") as file:
        file.write("time,arm,total\n")
        for step in range(ROWS):
            if not left:
                arm, left = random.choice(list(MEANS)), random.randint(10, 80)
            left -= 1
            recent[step % WINDOW] = float(random.random() < MEANS[arm])
            file.write(f"{(began + timedelta(hours=step)).isoformat()},{arm},{sum(recent) / WINDOW:.4f}\n")


def measure(folder: Path) -> Item:
    with TemporaryDirectory(dir=folder) as room:
        path = Path(room) / "steps.csv"
        write(path)
        size = path.stat().st_size
        cpu = process_time()
        read_steps(path)
        reading = process_time() - cpu
        cpu, wall = process_time(), perf_counter()
        found = fit(path, WINDOW, season=1)
        cpu, wall = process_time() - cpu, perf_counter() - wall
    worst = max(abs(one.mean - MEANS[one.arm]) for one in found.means)
    if found.steps != ROWS or worst > 0.01:
        raise SystemExit(f"{found.steps:,} steps, a mean is {worst:.3g} off")
    rows = [[f"{ROWS:,}", digits(size / 1e6), digits(reading), digits(cpu)]]
    return Item(
        "fit-rows", "A million recorded steps", [Figure("reads and fits them in", cpu, "s", at_most=20, wall=wall)],
        ["rows", "MB", "s to read", "s in all"], rows,
        [
            f"A CSV file with ISO times, {len(MEANS)} arms and a window of {WINDOW}; one fit, whose means are right to "
            "0.01.",
        ],
    )  # fmt: skip
