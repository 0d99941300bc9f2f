"""Guards on the page of an experiment: a chart for each, with the limit as its zero line and a row for each variant."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from afterglow.live.domain.guards.stops import GuardStatus
from afterglow.live.domain.spec import Spec
from afterglow.live.summary import amounts
from afterglow.service.dashboard.charts.axis import Axis, axis
from afterglow.service.dashboard.numbers import figure, sign

WORDS = {
    "waiting": "no interval yet",
    "unreported": "nothing is reported",
    "watching": "within what is allowed, by what is known",
    "beyond": "beyond the limit; it is not disabled",
    "stopped": "disabled",
    "withdrawn": "disabled; the evidence is void",
}


class GuardRow(NamedTuple):
    """One variant; positions are percent of the axis."""

    variant: str
    number: int  # for its colour
    mean: float | None
    low: float
    width: float
    level: str  # the variant's mean and its limit
    text: str  # excess
    range: str  # or why there is none
    state: str
    words: str


class GuardChart(NamedTuple):
    name: str
    limit: str
    metric: str
    lower: bool  # whether it is a limit from below
    rows: list[GuardRow]
    zero: float
    ticks: list[tuple[float, str]]
    stopped: int


def guard_charts(spec: Spec, rows: Iterable[GuardStatus]) -> list[GuardChart]:
    """One chart for each guard, in their order."""
    return [chart(spec, list(found)) for _, found in groupby(rows, lambda row: row.guard)]


def chart(spec: Spec, rows: list[GuardStatus]) -> GuardChart:
    ends = [end for row in rows for end in (row.low, row.high) if end is not None]
    scale = axis(min([0.0, *ends]), max([0.0, *ends]))
    guard = next(one for one in spec.guards if one.name == rows[0].guard)
    made = [guard_row(spec.variants.index(row.variant), row, scale) for row in rows]
    ticks = [(scale.place(tick), sign(tick) + figure(abs(tick))) for tick in scale.ticks] if ends else []
    stopped = sum(row.state in ("stopped", "withdrawn") for row in rows)
    return GuardChart(
        guard.name, guard.words(), guard.metric, guard.side == "at_least", made, scale.place(0.0), ticks, stopped
    )


def guard_row(number: int, row: GuardStatus, scale: Axis) -> GuardRow:
    at = "" if row.stopped_at is None else f" in step {row.stopped_at:,}"
    words = WORDS[row.state].replace("disabled", f"disabled{at}", 1) if at else WORDS[row.state]
    level = "–" if row.mean is None or row.limit is None else f"{figure(row.mean)}, limit {figure(row.limit)}"
    if row.excess is None or row.low is None or row.high is None:
        return GuardRow(row.variant, number, None, 0.0, 0.0, level, "–", row.missing or "", row.state, words)
    mean, low, high = amounts((row.excess, row.low, row.high))
    start = scale.place(row.low)
    return GuardRow(
        row.variant, number, scale.place(row.excess), start, round(scale.place(row.high) - start, 3), level, mean,
        f"{low} to {high}", row.state, words,
    )  # fmt: skip
