"""Two threads beside one."""

from functools import partial
from pathlib import Path

from afterglow.engine.work import processors
from bench.engine.workload import play
from bench.report.figures import Figure, Item
from bench.report.timing import race

CASES = {"step": (1e6, 200), "skip": (1e9, 100)}  # horizon, runs


def measure(folder: Path) -> Item:
    figures = []
    for engine, (horizon, runs) in CASES.items() if processors() > 1 else ():
        times = race({
            str(threads): partial(play, engine, horizon, runs, threads=threads) for threads in (1, 2)
        })  # fmt: skip
        gain = times["1"].wall / times["2"].wall
        figures.append(Figure(f"`{engine}`: two threads are faster than one by", gain, "×", at_least=1.8))
    notes = ["phased-ucb, uniform spread; by the wall clock, so the machine must be otherwise idle."]
    if not figures:
        notes = ["Only one processor can be used, so threads were not measured."]
    return Item("threads", "Two threads beside one", figures, notes=notes)
