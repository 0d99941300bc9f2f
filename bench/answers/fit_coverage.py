"""How often the intervals of `fit` hold, and what its window test notices: the tables of docs/guides/fit.md.

A record has three arms, turns of random arms, pulls with a noise of 0.1 that pay evenly over the window, and a baseline
with a noise of 0.08 that lingers. Best arm and gap are those of each row. *Differences* hold only if both hold.

    python bench/answers/fit_coverage.py [--records 200] [--seed 0] [--write]
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from afterglow import fit
from afterglow.lab.reading.tables import Steps

GUIDE = Path(__file__).parents[2] / "docs/guides/fit.md"
FIRST, LAST = "<!-- written by bench/answers/fit_coverage.py -->\n", "<!-- end of fit -->"
BASELINE, SHARED, PULL = 0.3, 0.08, 0.1


class Record(NamedTuple):
    """A row: what is recorded, and the window that is told."""

    name: str
    steps: int = 2_000
    window: int = 6
    correlation: float = 0.0
    turn: int = 2  # windows
    gap: float = 0.1  # of the best arm, relative to the others' 0.4
    told: int = 6
    scaled: bool = False  # arms take turns by the day, and effects scale with its hours


HOLDING = [
    Record("2,000 steps, window 6, correlation 0"),
    Record("0.5, turns of four windows", correlation=0.5, turn=4),
    Record("0.9", correlation=0.9),
    Record("0.95", correlation=0.95),
    Record("0.99", correlation=0.99),
    Record("1,000 steps, window 12, correlation 0", 1_000, 12, told=12),
]
SHORT = [
    Record(f"gap {gap:.0%}, {steps:,} steps, window 12 told as 6", steps, 12, gap=gap, told=6)
    for gap in (0.05, 0.1, 0.3)
    for steps in (2_000, 8_000)
] + [Record("gap 5 %, turns of a day in order, effects scale with its hours, right window", gap=0.05, scaled=True)]


def record(row: Record, seed: int) -> tuple[Steps, np.ndarray]:
    random = np.random.default_rng([seed, row.steps, row.window, round(1000 * row.correlation)])
    means = 0.4 * np.array([1.0, 1.0 + row.gap, 1.0])
    if row.scaled:
        played = np.arange(row.steps) // 24 % 3
        demand = 1 + 0.5 * np.sin(2 * np.pi * np.arange(row.steps) / 24)
    else:
        turns = random.integers(0, 3, row.steps // (row.turn * row.window) + 1)
        played = np.repeat(turns, row.turn * row.window)[: row.steps]
        demand = np.ones(row.steps)
    pulls = demand * (means[played] + PULL * random.normal(size=row.steps))
    noise, value = np.empty(row.steps), random.normal()
    for step in range(row.steps):
        value = row.correlation * value + np.sqrt(1 - row.correlation**2) * random.normal()
        noise[step] = value
    totals = np.convolve(pulls, np.full(row.window, 1 / row.window))[: row.steps] + BASELINE + SHARED * noise
    return Steps(list(range(row.steps)), ["ABC"[arm] for arm in played], totals.tolist(), []), means + BASELINE


class Counted(NamedTuple):
    means: float
    differences: float
    short: float
    untested: int


def measure(row: Record, records: int, first: int) -> Counted:
    means = differences = short = untested = 0
    for seed in range(first, first + records):
        steps, truth = record(row, seed)
        found = fit(steps, window=row.told, season=24 if row.scaled else 1)
        true = dict(zip("ABC", truth.tolist(), strict=True))
        means += sum(one.low <= true[one.arm] <= one.high for one in found.means)
        differences += all(
            one.low <= true[one.arm] - true[one.than] <= one.high for one in found.differences if one.arm != one.than
        )
        short += found.check.verdict == "too short"
        untested += found.check.verdict not in ("too short", "long enough")
    tested = max(1, records - untested)
    return Counted(means / 3 / records, differences / records, short / tested, untested)


def table(records: int, first: int) -> str:
    lines = [
        f"{records} records each, one of three arms better by 10 %, turns of two windows; nominal 95 % and 5 %:\n",
        "| record | means | differences | right window called too short | records without a test |",
        "|---|---|---|---|---|",
    ]
    for row in HOLDING:
        one = measure(row, records, first)
        lines.append(f"| {row.name} | {one.means:.0%} | {one.differences:.0%} | {one.short:.0%} | {one.untested} |")
        print(lines[-1], flush=True)
    lines += ["\nWhat the window test notices:\n", "| record | called too short |", "|---|---|"]
    for row in SHORT:
        lines.append(f"| {row.name} | {measure(row, records, first).short:.0%} |")
        print(lines[-1], flush=True)
    return "\n".join(lines).replace("%", " %").replace("  %", " %") + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    made = table(asked.records, asked.seed)
    if asked.write:
        before, _, rest = GUIDE.read_text(encoding="utf-8").partition(FIRST)
        GUIDE.write_text(before + FIRST + "\n" + made + "\n" + rest[rest.index(LAST) :], encoding="utf-8")


if __name__ == "__main__":
    main()
