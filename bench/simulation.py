"""Lives of an experiment on a simulated clock, scheduler and store: in how many of them every promise holds."""

import logging
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter

from figures import Figure, Item, digits
from testbed.simulation import failures

SEEDS = 200_000
PART = 2000  # seeds that a process takes at a time


def part(first: int) -> dict[int, str]:
    logging.getLogger("afterglow").setLevel(logging.CRITICAL)  # records are lost on purpose
    return failures(range(first, min(first + PART, SEEDS)))


def measure(folder: Path) -> Item:
    began, wrong = perf_counter(), dict[int, str]()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(part, range(0, SEEDS, PART)):
            wrong |= found
    for seed, what in wrong.items():
        print(f"seed {seed}: {what}; add it to FAILED in testbed/simulation.py")
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
