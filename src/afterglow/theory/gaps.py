"""Checks and sums of gaps between the best mean and the others."""

import math
from collections.abc import Sequence

from afterglow.checks import between, whole
from afterglow.errors import BadValue, argument


def other_gaps(arms: int, gaps: Sequence[float]) -> list[float]:
    """The gaps of all arms but one best, checked; they are given for each arm, or for each but one best."""
    arms = whole("arms", arms, 2)
    checked = [between("gaps", gap, 0, 1, "each of them") for gap in gaps]
    if len(checked) not in (arms - 1, arms):
        raise BadValue(
            f"{argument('gaps')} must be {arms:,}, or {arms - 1:,} without the best arm's, got {len(checked):,}"
        )
    if len(checked) == arms and min(checked) > 0:
        raise BadValue(
            f"one gap of {arms:,} must be 0, the best arm's, got {min(checked)!r} at least; give it or leave it out",
            field="gaps",
        )
    if len(checked) == arms:
        checked.remove(0)
    return checked


def positive_gaps(arms: int, gaps: Sequence[float]) -> list[float]:
    """The gaps above 0, checked."""
    return [gap for gap in other_gaps(arms, gaps) if gap > 0]


def sum_of_gaps(arms: int, gaps: Sequence[float] | None) -> float:
    """The sum of all gaps; K - 1, the largest it can be, if they are not known."""
    return float(arms - 1) if gaps is None else math.fsum(positive_gaps(arms, gaps))
