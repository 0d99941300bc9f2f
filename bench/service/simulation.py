"""Lives of an experiment on a simulated clock, scheduler and store: in how many of them every promise holds.

python bench/service/simulation.py [--first SEED] [--seeds COUNT] [--units]    # other seeds than those of the bench
"""

import argparse
import logging
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter

from bench.report.figures import Figure, Item, digits
from testbed.simulation import failures

SEEDS = 200_000
PART = 2000  # seeds that a process takes at a time


def part(seeds: range, units: bool = False) -> dict[int, str]:
    logging.getLogger("afterglow").setLevel(logging.CRITICAL)  # records are lost on purpose
    return failures(seeds, units)


def failed(first: int, count: int, units: bool = False) -> dict[int, str]:
    """What went wrong, by seed; on all cores."""
    wrong, end = dict[int, str](), first + count
    parts = [range(begin, min(begin + PART, end)) for begin in range(first, end, PART)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(part, parts, [units] * len(parts)):
            wrong |= found
    for seed, what in wrong.items():
        print(f"seed {seed}: {what}; add it to FAILED in testbed/simulation.py")
    return wrong


def measure(folder: Path) -> Item:
    began = perf_counter()
    wrong = failed(0, SEEDS)
    seconds = perf_counter() - began
    figures = [Figure("lives in which every promise holds", SEEDS - len(wrong), "", at_least=SEEDS)]
    rows = [[f"{SEEDS:,}", f"{len(wrong):,}", digits(seconds)]]
    note = (
        "One seed decides who does what next and what goes wrong: transactions that fail before or after their commit, "
        "processes killed at every boundary of a transaction, clocks that jump, databases that lose their last "
        "versions, webhooks whose answers are lost. Afterwards the log replays, every step had one variant, every "
        "acknowledged reward was counted once, in its step, no wrong clock has ended a step, and webhooks got every "
        "record in order."
    )
    return Item("simulation", "Simulated faults", figures, ["lives", "failed", "seconds"], rows, [note])


def main() -> None:
    options = argparse.ArgumentParser(description="Play lives of an experiment, one for each seed.")
    options.add_argument("--first", type=int, default=0, help="the first seed")
    options.add_argument("--seeds", type=int, default=SEEDS, help="how many seeds")
    options.add_argument("--units", action="store_true", help="of an experiment with units")
    asked = options.parse_args()
    wrong = failed(asked.first, asked.seeds, asked.units)
    print(f"{asked.seeds:,} lives from seed {asked.first:,} on, {len(wrong):,} failed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
