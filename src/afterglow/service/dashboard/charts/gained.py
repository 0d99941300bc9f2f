"""What an experiment has brought more than its control alone would have, over the steps until now."""

from collections.abc import Sequence
from typing import NamedTuple

from afterglow.estimation.verdict import Gained, Verdict
from afterglow.live.domain.spec import Spec
from afterglow.live.summary import Reached, amounts
from afterglow.live.verdict_history import VerdictPoint
from afterglow.service.dashboard.charts.axis import axis
from afterglow.service.dashboard.charts.dates import step_ticks
from afterglow.service.dashboard.numbers import figure, sign

SIDE = 1000  # of the box of the curves, in its own units


class GainedChart(NamedTuple):
    control: str
    unit: str
    line: str  # of a polyline in a box of 1000 x 1000
    band: str  # of a polygon: the interval
    zero: float  # percent from the top
    marks: list[tuple[float, str]]  # amounts, percent from the top
    ticks: list[tuple[float, str]]  # steps, or dates
    dated: bool
    latest: str
    until: int | None  # the step since which it isn't known any more; None if it is known now


def gained_chart(spec: Spec, past: Sequence[VerdictPoint], reached: Reached, found: Verdict) -> GainedChart | None:
    """The chart; None while less than two points are known."""
    step, known = reached.step, list[tuple[int, float, float, float]]()
    for at, one in [*((point.step, point.gained) for point in past if point.step < step), (step, found.gained)]:
        known += [(at, *ends)] if (ends := ends_of(one)) is not None else []
    if len(known) < 2 or not any(low < high for _, _, low, high in known):
        return None
    scale = axis(min(0.0, *(low for _, _, low, _ in known)), max(0.0, *(high for *_, high in known)), 4)

    def place(at: int, value: float) -> str:
        return f"{SIDE * at / step:.0f},{SIDE * (1 - scale.place(value) / 100):.0f}"

    ticks, dated = step_ticks(reached.began / 1000, step, spec.step_ms / 1000)
    mean, low, high = amounts(known[-1][1:])
    return GainedChart(
        spec.variants[spec.control], spec.unit, " ".join(place(at, mean) for at, mean, _, _ in known),
        " ".join([*(place(at, high) for at, _, _, high in known), *(place(at, low) for at, _, low, _ in known[::-1])]),
        round(100 - scale.place(0.0), 3),
        [(round(100 - scale.place(mark), 3), sign(mark) + brief(abs(mark))) for mark in scale.ticks],
        ticks, dated, f"{mean}{' ' + spec.unit if spec.unit else ''}, between {low} and {high}",
        None if known[-1][0] == step else known[-1][0],
    )  # fmt: skip


def brief(amount: float) -> str:
    """An amount that fits beside an axis.

    >>> brief(0.0), brief(20_000.0), brief(250_000.0), brief(15_000_000.0)
    ('0', '20,000', '250 k', '15 M')
    """
    size, letter = (1e6, " M") if amount >= 1e6 else (1e3, " k") if amount >= 1e5 else (1.0, "")
    return figure(amount / size) + letter


def ends_of(found: Gained | None) -> tuple[float, float, float] | None:
    """Mean, low and high, if they are known."""
    if found is None or found.mean is None or found.low is None or found.high is None:
        return None
    return found.mean, found.low, found.high
