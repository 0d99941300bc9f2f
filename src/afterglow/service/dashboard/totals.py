"""Totals of steps as lines, for readers without scripts; a script draws its own in their place."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from afterglow.live.follower import Step
from afterglow.service.dashboard.axis import axis
from afterglow.service.dashboard.numbers import figure
from afterglow.service.dashboard.timeline import Strip, role_of

WIDE, HIGH = 1000, 100  # of the field that is drawn in


class TotalsMean(NamedTuple):
    """The mean of a run; places are percent of the field."""

    x: float
    width: float
    y: float
    number: int  # of the variant


class Curve(NamedTuple):
    lines: list[str]  # points of each piece without a gap
    means: list[TotalsMean]
    ticks: list[tuple[float, str]]  # percent from above


def known(step: Step) -> float | None:
    """What came in, where that is known."""
    return None if role_of(step) in ("void", "missed") else step.total


def curve(strip: Strip | None, steps: Sequence[Step]) -> Curve | None:
    """None where no total is known yet."""
    totals = [known(step) for step in steps]
    found = [total for total in totals if total is not None]
    if not found or strip is None:
        return None
    scale = axis(0.0, 1.05 * max(found) or 1.0)
    lines = []
    for there, group in groupby(enumerate(totals), lambda one: one[1] is not None):
        points = [
            f"{WIDE * (place + 0.5) / len(totals):.1f},{HIGH - scale.place(total) * HIGH / 100:.2f}"
            for place, total in group
            if total is not None
        ]
        lines += [" ".join(points)] if there else []
    means = [
        TotalsMean(one.x, one.width, round(100 - scale.place(run.mean), 2), one.number)
        for run, one in zip(strip.runs, strip.pieces, strict=True)
        if run.mean is not None and run.role not in ("void", "missed")
    ]
    return Curve(lines, means, [(round(100 - scale.place(tick), 2), figure(tick)) for tick in scale.ticks])
