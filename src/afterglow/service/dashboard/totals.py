"""Static SVG chart of step totals, shown where JavaScript is off and in print."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from afterglow.live.follower import Step
from afterglow.service.dashboard.axis import axis
from afterglow.service.dashboard.numbers import figure
from afterglow.service.dashboard.timeline import TimelineChart, role_of

WIDTH, HEIGHT = 1000, 100  # size of the drawing area, in its own units


class TotalsMean(NamedTuple):
    """The average of a run; positions are percent of the drawing area."""

    x: float
    width: float
    y: float
    number: int  # of the variant


class TotalsChart(NamedTuple):
    lines: list[str]  # points of each part without a gap
    means: list[TotalsMean]
    ticks: list[tuple[float, str]]  # percent from the top


def known_total(step: Step) -> float | None:
    """The total of a step; None for void and missed ones."""
    return None if role_of(step) in ("void", "missed") else step.total


def totals_chart(timeline: TimelineChart | None, steps: Sequence[Step]) -> TotalsChart | None:
    """The chart of some steps; None while no total is known."""
    totals = [known_total(step) for step in steps]
    found = [total for total in totals if total is not None]
    if not found or timeline is None:
        return None
    scale = axis(0.0, 1.05 * max(found) or 1.0)
    lines = []
    for present, group in groupby(enumerate(totals), lambda one: one[1] is not None):
        points = [
            f"{WIDTH * (place + 0.5) / len(totals):.1f},{HEIGHT - scale.place(total) * HEIGHT / 100:.2f}"
            for place, total in group
            if total is not None
        ]
        lines += [" ".join(points)] if present else []
    means = [
        TotalsMean(one.x, one.width, round(100 - scale.place(run.mean), 2), one.number)
        for run, one in zip(timeline.runs, timeline.bars, strict=True)
        if run.mean is not None and run.role not in ("void", "missed")
    ]
    return TotalsChart(lines, means, [(round(100 - scale.place(tick), 2), figure(tick)) for tick in scale.ticks])
