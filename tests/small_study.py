"""A comparison small enough to be played in every test that wants one."""

from functools import cache

from afterglow.lab.compare import ENTRIES, Comparison, Study, compare

LABELS = ("phased-ucb paper", "phased-elimination", "trim-ucb", "odaaf-variance", "attributed-ucb")
SMALL = Study(
    horizon=2_000,
    window=4,
    entries=tuple(entry for entry in ENTRIES if entry.label in LABELS),
    spreads=("uniform", "last", "handicap", "chameleon"),
    runs=12,
    stepwise_runs=8,
    points=10,
)


@cache
def small() -> Comparison:
    return compare(SMALL, seed=3)
