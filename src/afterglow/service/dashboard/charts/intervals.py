"""Chart of estimates: a dot and an interval for each variant on one axis. Positions are percent of its width."""

import math
from typing import NamedTuple

from afterglow.estimation.estimates import Estimate, Estimates
from afterglow.service.dashboard.charts.axis import Axis, axis
from afterglow.service.dashboard.numbers import aligned, figure


class IntervalRow(NamedTuple):
    """One variant's row."""

    variant: str
    number: int  # for its colour
    mean: float | None
    low: float
    width: float
    text: str
    range: str
    pulls: int
    share: float
    notes: tuple[str, ...]


class IntervalChart(NamedTuple):
    rows: list[IntervalRow]
    ticks: list[tuple[float, str]]
    confidence: str


def interval_chart(
    estimates: Estimates, live: str, leader: str | None = None, disabled: tuple[str, ...] = ()
) -> IntervalChart:
    """The chart of all variants, in their order."""
    scale = axis(min(0.0, *(one.low for one in estimates)), largest(estimates))
    notes = {str(one.arm): [] for one in estimates}  # type: dict[str, list[str]]
    for name in disabled:
        notes[name].append("disabled")
    if leader is not None:
        notes[leader].append("ahead")
    if live in notes:
        notes[live].append("live")
    rows = [interval_row(number, one, scale, tuple(notes[str(one.arm)][::-1])) for number, one in enumerate(estimates)]
    ticks = [(scale.place(tick), figure(tick)) for tick in scale.ticks]
    return IntervalChart(rows, ticks, f"{100 * estimates.confidence:.4g} %")


def largest(estimates: Estimates) -> float:
    """The largest of all bounds."""
    return max(max(one.high, one.low) for one in estimates)


def interval_row(number: int, one: Estimate, scale: Axis, notes: tuple[str, ...]) -> IntervalRow:
    unserved, top = math.isnan(one.mean), scale.high
    low, high = sorted((one.low, one.high))
    start = scale.place(low)
    return IntervalRow(
        str(one.arm), number, None if unserved else scale.place(one.mean), start, round(scale.place(high) - start, 3),
        aligned(one.mean, top), f"{aligned(one.low, top)} to {aligned(one.high, top)}", one.pulls, one.share,
        notes,
    )  # fmt: skip
