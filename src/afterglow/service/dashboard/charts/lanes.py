"""Charts of an experiment with units: a lane for each unit with the variants it was served, and its totals."""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.live.past_steps import Step
from afterglow.service.dashboard.charts.axis import axis
from afterglow.service.dashboard.charts.timeline import Bar, Run, bar, runs
from afterglow.service.dashboard.charts.totals import known_total, polylines
from afterglow.service.dashboard.numbers import counted, figure
from afterglow.service.dashboard.sentences import ROLES


class LaneRow(NamedTuple):
    """One unit."""

    unit: str
    served: list[Bar]
    exceptions: list[Bar]  # steps that were not as planned
    runs: list[Run]
    totals: list[str]  # points of each part without a gap
    mean: str  # of the totals that are known
    title: str  # of the chart of totals


class LaneChart(NamedTuple):
    first: int
    last: int
    rows: list[LaneRow]
    exception_roles: list[str]
    ticks: list[tuple[float, str]]


class UnitRow(NamedTuple):
    """How a unit stands, as texts."""

    unit: str
    number: int  # of its variant
    variant: str
    role: str
    pinned: str
    level: str
    silent: str


def lanes(spec: Spec, steps: Sequence[Step]) -> LaneChart | None:
    """The chart of consecutive steps, which have a row for each unit; None without steps."""
    if not steps:
        return None
    first, last = steps[0].step, steps[-1].step
    span = last - first + 1
    rows = [lane(spec, unit, steps[place :: len(spec.units)], first, span) for place, unit in enumerate(spec.units)]
    seen = {one.role for row in rows for one in row.exceptions}
    round_steps = [tick for tick in axis(first, last + 1, 6).ticks if tick == int(tick)]
    ticks = [(round(100 * (tick - first) / span, 3), f"{tick:,.0f}") for tick in round_steps if tick <= last]
    return LaneChart(first, last, rows, [role for role in ROLES if role in seen], ticks)


def lane(spec: Spec, unit: str, steps: Sequence[Step], first: int, span: int) -> LaneRow:
    found = runs(steps)
    bars = [bar(spec, run, first, span) for run in found]
    totals = [known_total(step) for step in steps]
    known = [total for total in totals if total is not None]
    scale = axis(min(known, default=0.0), max(known, default=1.0) or 1.0)
    mean = figure(fmean(known)) if known else "–"
    title = f"{unit}: {counted(len(known), 'total')}, {mean} on average" if known else f"{unit}: no totals yet"
    exceptions = [one for one in bars if one.role != "plan"]
    return LaneRow(
        unit, [one for one in bars if one.role != "missed"], exceptions, found, polylines(totals, scale), mean, title
    )  # fmt: skip


def unit_rows(spec: Spec, status: Status) -> list[UnitRow]:
    """The table of units."""
    return [
        UnitRow(
            one.unit, spec.variants.index(one.variant), one.variant, ROLES.get(one.role, one.role), one.pinned or "",
            "–" if one.level is None else figure(one.level), counted(one.silent, "step") if one.silent else "",
        )
        for one in status.units
    ]  # fmt: skip


def served_in(status: Status) -> list[tuple[str, int]]:
    """How many units have each variant now, the most frequent first."""
    names = [one.variant for one in status.units]
    return sorted(((name, names.count(name)) for name in set(names)), key=lambda one: (-one[1], one[0]))


def quiet(status: Status, least: int) -> list[str]:
    """Units that have not reported for a while."""
    return [one.unit for one in status.units if one.silent >= least]
