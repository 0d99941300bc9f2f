"""Chart of differences between one variant and each other one, by ordinary statistics, on one axis around zero."""

from typing import NamedTuple

from afterglow.estimation.estimates import Difference, Estimates
from afterglow.service.dashboard.axis import Axis, axis
from afterglow.service.dashboard.numbers import figure, sign, signed


class ComparisonRow(NamedTuple):
    """One other variant; positions are percent of the axis."""

    variant: str
    number: int  # for its colour
    mean: float | None
    low: float
    width: float
    text: str
    range: str  # or why there is none


class ComparisonChart(NamedTuple):
    variant: str
    rows: list[ComparisonRow]
    zero: float
    ticks: list[tuple[float, str]]
    confidence: str


def comparison(estimates: Estimates, variant: str | None, disabled: tuple[str, ...] = ()) -> ComparisonChart | None:
    """A variant compared with all others that are not disabled; None while no difference is known."""
    if variant is None:
        return None
    found = [one for one in estimates.against(variant) if str(one.other) not in disabled]
    ends = [end for one in found for end in (one.low, one.high) if end is not None]
    if not ends:
        return None
    scale = axis(min(0.0, *ends), max(0.0, *ends))
    names = [one.arm for one in estimates]
    rows = [row(names.index(one.other), one, scale) for one in found]
    ticks = [(scale.place(tick), sign(tick) + figure(abs(tick))) for tick in scale.ticks]
    return ComparisonChart(variant, rows, scale.place(0.0), ticks, f"{100 * estimates.confidence:.4g} %")


def row(number: int, one: Difference, scale: Axis) -> ComparisonRow:
    if one.mean is None or one.low is None or one.high is None:
        return ComparisonRow(str(one.other), number, None, 0.0, 0.0, "–", one.missing or "")
    start, top = scale.place(one.low), max(abs(scale.low), abs(scale.high))
    return ComparisonRow(
        str(one.other), number, scale.place(one.mean), start, round(scale.place(one.high) - start, 3),
        signed(one.mean, top), f"{signed(one.low, top)} to {signed(one.high, top)}",
    )  # fmt: skip
