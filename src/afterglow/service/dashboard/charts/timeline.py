"""Chart of the variants served over time, as runs of equal steps. Positions are percent of its width."""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from afterglow.live.domain.spec import Spec
from afterglow.live.past_steps import Step
from afterglow.service.dashboard.charts.axis import axis
from afterglow.service.dashboard.numbers import counted, figure
from afterglow.service.dashboard.sentences import ROLES

SPAN = 1000  # steps in one chart


class Run(NamedTuple):
    """Consecutive steps with the same variant in the same role."""

    first: int
    last: int
    variant: str
    planned: str
    role: str
    mean: float | None  # of the totals that are known
    reason: str | None = None  # why they were voided

    @property
    def steps(self) -> str:
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,} to {self.last:,}"


class Bar(NamedTuple):
    """The bar of a run."""

    x: float
    width: float
    number: int  # of the variant, for its colour
    role: str
    step: int
    title: str


class TimelineRow(NamedTuple):
    """The row of one variant: where it was served, and where it was planned but not served."""

    variant: str
    number: int
    served: list[Bar]
    planned: list[Bar]


class TimelineChart(NamedTuple):
    first: int
    last: int
    rows: list[TimelineRow]
    exceptions: list[Bar]  # steps that were not as planned
    exception_roles: list[str]
    ticks: list[tuple[float, str]]
    runs: list[Run]
    bars: list[Bar]  # one for each run


def role_of(step: Step) -> str:
    """The role of a step; void steps have one of their own."""
    return "void" if step.void and step.role != "missed" else step.role


def runs(steps: Sequence[Step]) -> list[Run]:
    made = []
    for (variant, planned, role, why), group in groupby(
        steps, lambda one: (one.variant, one.planned, role_of(one), one.reason)
    ):
        members = list(group)
        totals = [one.total for one in members if one.total is not None and role != "missed"]
        mean = math.fsum(totals) / len(totals) if totals else None
        made.append(Run(members[0].step, members[-1].step, variant, planned, role, mean, why))
    return made


def timeline(spec: Spec, steps: Sequence[Step]) -> TimelineChart | None:
    """The chart of consecutive steps; None without steps."""
    if not steps:
        return None
    first, last = steps[0].step, steps[-1].step
    found = runs(steps)
    span = last - first + 1
    bars = [bar(spec, run, first, span) for run in found]
    reached = [(run, one) for run, one in zip(found, bars, strict=True) if run.role != "missed"]
    rows = [
        TimelineRow(
            name, number, [one for run, one in reached if run.variant == name],
            [one for run, one in reached if run.planned == name != run.variant],
        )
        for number, name in enumerate(spec.variants)
    ]  # fmt: skip
    exceptions = [one for one in bars if one.role != "plan"]
    names = [role for role in ROLES if any(one.role == role for one in exceptions)]
    round_steps = [tick for tick in axis(first, last + 1, 6).ticks if tick == int(tick)]
    ticks = [(round(100 * (tick - first) / span, 3), f"{tick:,.0f}") for tick in round_steps if tick <= last]
    return TimelineChart(first, last, rows, exceptions, names, ticks, found, bars)


def bar(spec: Spec, run: Run, first: int, span: int) -> Bar:
    steps = run.last - run.first + 1
    average = "" if run.mean is None else f", {figure(run.mean)} per step on average"
    planned = "" if run.planned == run.variant else f" (planned: {run.planned})"
    purpose = ROLES.get(run.role, run.role) + (f" ({run.reason})" if run.reason else "")
    title = f"{run.variant}{planned}: step {run.steps} ({counted(steps, 'step')}), {purpose}{average}"
    return Bar(
        round(100 * (run.first - first) / span, 3), round(100 * steps / span, 3), spec.variant(run.variant), run.role,
        run.first, title,
    )  # fmt: skip


def visible_steps(step: int, over: bool, until: int | None) -> tuple[int, int]:
    """The first step of the chart and the number of steps: the last ones, or those before `until`."""
    end = step + (not over)
    if until is not None:
        end = max(1, min(until, end))
    first = max(0, end - SPAN)
    return first, end - first
