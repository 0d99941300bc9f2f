"""Chart of estimates: a dot and an interval for each variant on one axis. Positions are percent of its width."""

import math
from typing import NamedTuple

from afterglow.estimation.estimates import Estimate, Estimates
from afterglow.service.dashboard.axis import Axis, axis
from afterglow.service.dashboard.numbers import even, figure


class Mark(NamedTuple):
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
    torn: bool  # its bounds contradict each other
    note: str


class Picture(NamedTuple):
    marks: list[Mark]
    ticks: list[tuple[float, str]]
    confidence: str


def picture(estimates: Estimates, live: str, leader: str | None = None, disabled: tuple[str, ...] = ()) -> Picture:
    """The chart of all variants, in their order."""
    scale = axis(min(0.0, *(one.low for one in estimates)), largest(estimates))
    notes = {str(one.arm): [] for one in estimates}  # type: dict[str, list[str]]
    for name in disabled:
        notes[name].append("disabled")
    if leader is not None:
        notes[leader].append("ahead")
    if live in notes:
        notes[live].append("live")
    marks = [mark(number, one, scale, ", ".join(notes[str(one.arm)][::-1])) for number, one in enumerate(estimates)]
    ticks = [(scale.place(tick), figure(tick)) for tick in scale.ticks]
    return Picture(marks, ticks, f"{100 * estimates.confidence:.4g} %")


def largest(estimates: Estimates) -> float:
    """The largest of all bounds."""
    return max(max(one.high, one.low) for one in estimates)


def mark(number: int, one: Estimate, scale: Axis, note: str) -> Mark:
    unplayed, top = math.isnan(one.mean), scale.high
    low, high = sorted((one.low, one.high))
    start = scale.place(low)
    return Mark(
        str(one.arm), number, None if unplayed else scale.place(one.mean), start, round(scale.place(high) - start, 3),
        even(one.mean, top), f"{even(one.low, top)} to {even(one.high, top)}", one.pulls, one.share,
        one.contradiction, note,
    )  # fmt: skip
