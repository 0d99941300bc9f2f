"""Rows of the exact test of a randomised schedule: the recommended variant first, against each other one."""

from typing import NamedTuple

from afterglow.estimation.randomisation import PairTest, Test
from afterglow.service.dashboard.numbers import signed


class ExactPair(NamedTuple):
    """One pair, as texts."""

    variants: str
    difference: str
    interval: str
    p: str


def exact_rows(test: Test | None, best: str | None) -> list[ExactPair]:
    """The pairs of the test, those of the recommended variant first and seen from it."""
    if test is None:
        return []
    mine = [test.pair(best, other) for other in test.means if other != best] if best in test.means else []
    rest = [one for one in test.pairs if best not in (one.arm, one.other)]
    return [row(one) for one in [*mine, *rest]]


def row(one: PairTest) -> ExactPair:
    top = max(abs(end) for end in (one.difference, one.low, one.high) if end is not None)
    interval = "none: too few blocks"
    if one.low is not None and one.high is not None:
        interval = f"{signed(one.low, top)} to {signed(one.high, top)}"
    return ExactPair(f"{one.arm} − {one.other}", signed(one.difference, top), interval, f"{one.holm:.2g}")
