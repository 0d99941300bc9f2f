"""Static SVG chart of step totals, shown where JavaScript is off and in print."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from afterglow.live.domain.amounts import units
from afterglow.live.domain.spec import Spec
from afterglow.live.past_steps import Step
from afterglow.service.dashboard.charts.axis import Axis, axis
from afterglow.service.dashboard.charts.timeline import TimelineChart, role_of
from afterglow.service.dashboard.numbers import figure

ENOUGH = 50  # steps from which on a share of the variance is told
WIDTH, HEIGHT = 1000, 100  # size of the drawing area, in its own units


class TotalsMean(NamedTuple):
    """The average of a run; positions are percent of the drawing area."""

    x: float
    width: float
    y: float
    number: int  # of the variant


class TotalsChart(NamedTuple):
    lines: list[str]  # points of each part without a gap
    expected: list[str]  # the same of what was expected
    means: list[TotalsMean]
    ticks: list[tuple[float, str]]  # percent from the top


def known_total(step: Step) -> float | None:
    """The total of a step; None for void and missed ones."""
    return None if role_of(step) in ("void", "missed") else step.total


def totals_chart(timeline: TimelineChart | None, steps: Sequence[Step]) -> TotalsChart | None:
    """The chart of some steps; None while no total is known."""
    totals, expected = [known_total(step) for step in steps], [step.expected for step in steps]
    found = [total for total in totals if total is not None]
    if not found or timeline is None:
        return None
    highest = max(*found, *(total for total in expected if total is not None), 0.0)
    scale = axis(0.0, 1.05 * highest or 1.0)
    lines, expected_lines = polylines(totals, scale), polylines(expected, scale)
    means = [
        TotalsMean(one.x, one.width, round(100 - scale.place(run.mean), 2), one.number)
        for run, one in zip(timeline.runs, timeline.bars, strict=True)
        if run.mean is not None and run.role not in ("void", "missed")
    ]
    ticks = [(round(100 - scale.place(tick), 2), figure(tick)) for tick in scale.ticks]
    return TotalsChart(lines, expected_lines, means, ticks)


def polylines(values: Sequence[float | None], scale: Axis) -> list[str]:
    """The points of a line for each stretch of known values."""
    lines = []
    for present, group in groupby(enumerate(values), lambda one: one[1] is not None):
        points = [
            f"{WIDTH * (place + 0.5) / len(values):.1f},{HEIGHT - scale.place(value) * HEIGHT / 100:.2f}"
            for place, value in group
            if value is not None
        ]
        lines += [" ".join(points)] if present else []
    return lines


def taken_out(spec: Spec, steps: Sequence[Step]) -> str:
    """Which share of the variance of totals was expected; empty without expectations or before `ENOUGH` steps."""
    pairs = [(total, step.expected) for step in steps if (total := known_total(step)) is not None]
    if not spec.adjusts or len(pairs) < ENOUGH:
        return ""
    usual = units(spec.usual)
    rest = variance([total - spec.trust * ((usual if told is None else told) - usual) for total, told in pairs])
    whole = variance([total for total, _ in pairs])
    share = 1 - rest / whole if whole > 0 else 0.0
    if share < 0:
        return f"Taken out: nothing; what was expected adds {-100 * share:.0f} % to the variance. Trust it less."
    return f"Taken out: {100 * share:.0f} % of the variance."


def variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / len(values)
