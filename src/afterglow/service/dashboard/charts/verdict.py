"""The verdict on the page of an experiment: sentences, gains, lifts over the control, and chances over time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from afterglow.estimation.verdict import ANY_TIME, Verdict, Versus
from afterglow.live import Experiment
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.live.summary import TOO_FEW, Reached, advice, amounts, assumptions, gained, money, unbounded
from afterglow.live.verdict_history import VerdictPoint
from afterglow.service.dashboard.charts.axis import Axis, axis
from afterglow.service.dashboard.charts.dates import step_ticks
from afterglow.service.dashboard.charts.gained import GainedChart, gained_chart
from afterglow.service.dashboard.numbers import figure, percent, sign
from afterglow.service.dashboard.visit import Visit

HEIGHT = 1000  # of the chart of chances, in its own units
REASONS = 2  # that are told one by one


class LiftRow(NamedTuple):
    """One variant compared with the control; positions are percent of the axis."""

    variant: str
    number: int  # for its colour
    mean: float | None
    low: float
    width: float
    text: str  # in the unit of totals
    range: str  # or why there is none
    percent: str


class LiftChart(NamedTuple):
    control: str
    rows: list[LiftRow]
    zero: float
    ticks: list[tuple[float, str]]
    unit: str
    confidence: str
    always: bool  # whether the intervals hold at any time, or for one look at the end


class ChanceLine(NamedTuple):
    variant: str
    number: int
    points: str  # of a polyline in a box of 1000 x 1000
    now: str


class ChanceChart(NamedTuple):
    lines: list[ChanceLine]
    ticks: list[tuple[float, str]]  # steps, or dates
    dated: bool
    first: int
    last: int


class VerdictPart(NamedTuple):
    """What the page says first."""

    grade: str
    sentence: str
    advice: str
    facts: list[str]  # money, in the unit of totals
    assumes: str
    lifts: LiftChart | None
    chances: ChanceChart | None
    gained: GainedChart | None = None
    unknown: str = ""  # why no difference is known


def verdict_part(visit: Visit, experiment: Experiment, status: Status, reached: Reached) -> VerdictPart:
    """The verdict and its pictures."""
    spec, found = experiment.spec, status.verdict
    if status.phase in ("draft", "scheduled"):
        waiting = "Not started: the control is served and nothing is learned."
        return VerdictPart(found.grade, waiting, "", [], "", None, None)
    history, rows = past(visit, experiment), experiment.lifts()
    facts = [one for one in (money(spec, found), gained(spec, found)) if one]
    return VerdictPart(
        found.grade, headline(found), advice(found, reached), facts, assumptions(found),
        lift_chart(spec, rows), chance_chart(spec, history, reached, found),
        gained_chart(spec, history, reached, found), why_unknown(rows),
    )  # fmt: skip


def headline(found: Verdict) -> str:
    """The sentence; an alarm has a box of its own on the page."""
    return found.sentence if found.alarm is None else found.sentence.replace(f": {found.alarm}.", ".")


def past(visit: Visit, experiment: Experiment) -> list[VerdictPoint]:
    """Verdicts of the past, for all visitors; computed again when the experiment is 5 % longer."""
    cache, step = visit.dashboard.cache(experiment.name), experiment.first_decision().step
    if cache.history is None or step > 1.05 * cache.history_step + 1:
        cache.history, cache.history_step = experiment.verdicts(), step
    return cache.history


def lift_chart(spec: Spec, rows: Sequence[Versus]) -> LiftChart | None:
    """The difference of each variant to the control; None while no difference is known."""
    rows = [bounded(spec, row) for row in rows]
    ends = [end for row in rows for end in (row.low, row.high) if end is not None]
    if not ends:
        return None
    scale = axis(min(0.0, *ends), max(0.0, *ends))
    made = [lift_row(spec.variants.index(str(row.arm)), row, scale) for row in rows]
    ticks = [(scale.place(tick), sign(tick) + figure(abs(tick))) for tick in scale.ticks]
    return LiftChart(
        spec.variants[spec.control],
        made,
        scale.place(0.0),
        ticks,
        spec.unit,
        f"{100 * spec.confidence:.4g} %",
        any(row.valid == ANY_TIME for row in rows),
    )


def why_unknown(rows: Sequence[Versus]) -> str:
    """Why no difference to the control is known, if that is said in a few words."""
    reasons = list(dict.fromkeys(row.missing for row in rows if row.missing))
    return "; ".join(reasons) if len(reasons) <= REASONS else ""


def bounded(spec: Spec, row: Versus) -> Versus:
    """The difference, or why there is none where its interval says nothing."""
    if not unbounded(spec, row):
        return row
    return replace(row, mean=None, low=None, high=None, percent=None, missing=TOO_FEW)


def lift_row(number: int, row: Versus, scale: Axis) -> LiftRow:
    if row.mean is None or row.low is None or row.high is None:
        return LiftRow(str(row.arm), number, None, 0.0, 0.0, "–", row.missing or "", "")
    mean, low, high = amounts((row.mean, row.low, row.high))
    start = scale.place(row.low)
    share = "" if row.percent is None else "{} %, {} % to {} %".format(*amounts(row.percent))
    return LiftRow(
        str(row.arm), number, scale.place(row.mean), start, round(scale.place(row.high) - start, 3), mean,
        f"{low} to {high}", share,
    )  # fmt: skip


def chance_chart(spec: Spec, past: Sequence[VerdictPoint], reached: Reached, found: Verdict) -> ChanceChart | None:
    """The chance of each variant to be the best, over the steps until now; None while it is unknown."""
    step = reached.step
    now = {str(variant): chance for variant, chance in found.chances.items()}
    known = [(one.step, one.chances) for one in past if one.chances and one.step < step]
    known += [(step, now)] if now else []
    if len(known) < 2:
        return None
    lines = []
    for number, variant in enumerate(spec.variants):
        points = [
            f"{HEIGHT * at / step:.0f},{HEIGHT * (1 - chances[variant]):.0f}"
            for at, chances in known
            if variant in chances
        ]
        if len(points) > 1:
            latest = likely(now[variant]) if variant in now else "disabled" if now else "not known now"
            lines.append(ChanceLine(variant, number, " ".join(points), latest))
    ticks, dated = step_ticks(reached.began / 1000, step, spec.step_ms / 1000)
    return ChanceChart(lines, ticks, dated, known[0][0], step)


def likely(chance: float) -> str:
    """A chance that is never certain."""
    return "> 99 %" if chance > 0.99 else percent(chance)
