"""The verdict as sentences for somebody who has to decide, with the unit and the dates of the experiment."""

import math
from datetime import UTC, datetime
from re import sub
from typing import NamedTuple

from afterglow.estimation.sentences import is_alike, says_nothing
from afterglow.estimation.verdict import ASSUMES, Gained, Verdict, Versus
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, AnyState, Phase

PERIODS = {60_000: "a minute", 3_600_000: "an hour", 86_400_000: "a day", 604_800_000: "a week"}  # by milliseconds
TOO_FEW = "too few steps for an interval"
ENDS = ("clear", "tested", "proven")  # grades that decide


class Reached(NamedTuple):
    """How far an experiment is, and when that was."""

    phase: Phase
    step: int
    began: int  # milliseconds since 1970
    latest: int  # end of the last step
    pinned: str | None = None  # the variant that is served whatever is planned
    shadow: bool = False
    left: int | None = None  # steps until the horizon


def progress(spec: Spec, state: AnyState, latest: int) -> Reached:
    """`latest` is the time of the last record, which counts where there is no schedule."""
    ended = state.starts + state.step * spec.step_ms if spec.step_ms else max(latest, state.starts)
    pin = getattr(state, "pinned", -1)
    pinned = spec.variants[pin] if pin >= 0 and state.phase is not Phase.OVER else None
    left = None if spec.horizon is None else spec.horizon - state.step
    return Reached(state.phase, state.step, state.starts, ended, pinned, state.shadow, left)


def summary(spec: Spec, verdict: Verdict, now: Reached) -> str:
    """All of it, in one paragraph."""
    parts = [when(spec, now), verdict.sentence, money(spec, verdict), gained(spec, verdict), advice(verdict, now)]
    parts.append(assumptions(verdict))
    return " ".join(part for part in parts if part)


def when(spec: Spec, now: Reached) -> str:
    """Name, dates and steps."""
    if now.phase in WAITING:
        return f"{spec.name}: not started."
    steps = f"{now.step:,}" if spec.horizon is None else f"{now.step:,} of {spec.horizon:,}"
    dates = f"{day(now.began)} to {day(now.latest)}" if day(now.began) != day(now.latest) else day(now.began)
    return f"{spec.name}, {dates}, {steps} steps{', over' if now.phase is Phase.OVER else ''}:"


def day(at: int) -> str:
    """A date in UTC."""
    when = datetime.fromtimestamp(at / 1000, UTC)
    return f"{when.day} {when:%b %Y}"


def money(spec: Spec, verdict: Verdict) -> str:
    """The difference to the control in the unit of totals."""
    row = verdict.to_control
    if row is None or row.mean is None or row.low is None or row.high is None:
        return ""
    if unbounded(spec, row):
        if verdict.alarm is not None:
            return ""
        what = f"of {row.arm} compared with the control {row.other}, and of what the experiment has brought"
        return f"There are {TOO_FEW} {what}."
    mean, low, high = amounts((row.mean, row.low, row.high))
    percent = "" if row.percent is None or row == verdict.to_runner_up else f" ({percents(row)})"
    unit, per = of(spec), PERIODS.get(spec.step_ms, "a step")
    brings = f"{row.arm} brings {mean}{unit} {per}{percent}, between {low} and {high}"
    return f"Compared with the control {row.other}, {brings}."


def unbounded(spec: Spec, row: Versus) -> bool:
    """Whether the interval is only what totals allow: from -reward_max to reward_max. Those of units have no limit."""
    return not spec.units and says_nothing(row, spec.reward_max)


def percents(row: Versus) -> str:
    assert row.percent is not None
    return f"{amounts(row.percent)[0]} %"


def gained(spec: Spec, verdict: Verdict) -> str:
    """What the experiment has brought so far."""
    found: Gained | None = verdict.gained
    if found is None or found.mean is None or found.low is None or found.high is None or found.low == found.high == 0:
        return ""
    mean, low, high = amounts((found.mean, found.low, found.high))
    compared = f"compared with {verdict.control} alone, between {low} and {high}"
    return f"{'In all' if verdict.over else 'So far'} the experiment has brought {mean}{of(spec)} {compared}."


def advice(verdict: Verdict, now: Reached) -> str:
    """What to do."""
    best = verdict.recommended
    if best is None:
        return "" if now.phase in (*WAITING, Phase.OVER) else "Let it run."
    if verdict.alarm is not None:
        return "Find the cause of the alarm before you decide."
    if verdict.to_runner_up is None:  # all others are disabled
        advised = f"Enable another variant to compare, or stop now and keep {best}."
        return f"Keep {best}." if now.phase is Phase.OVER else "" if now.phase in WAITING else advised
    if now.phase is Phase.OVER:
        return f"Keep {best}." if verdict.grade in ENDS else f"Keep {best} unless another one is cheaper or safer."
    if now.phase is Phase.PAUSED and verdict.grade not in ENDS:
        return "It is paused and learns nothing: resume it, or stop it."
    if verdict.grade in ENDS:
        return f"You can stop now and keep {best}."
    return held_up(now) or undecided(verdict, now.left)


def held_up(now: Reached) -> str:
    """What to do first where variants aren't compared as it is."""
    if now.shadow:
        return "Go live to compare variants: in shadow mode nothing is learned about them."
    if now.pinned is not None:
        return f"Only {now.pinned} is served while it is pinned: unpin it to go on comparing."
    return ""


def undecided(verdict: Verdict, left: int | None) -> str:
    """What to do with an experiment that runs and is not decided; `left` steps are to come."""
    row = verdict.to_runner_up
    if row is None or not is_alike(row):
        too_few = row is not None and row.more_steps is not None and left is not None and row.more_steps > left
        return "Let it run: this decides nothing yet." + (
            f" Probably too few steps are left: {left:,}." if too_few else ""
        )
    return f"Let it run, or stop and keep {row.arm} or {row.other} if a difference within these limits doesn't matter."


def assumptions(verdict: Verdict) -> str:
    """What the verdict assumes, in one line; nothing where it says nothing."""
    row = verdict.to_runner_up
    if verdict.recommended is None or row is None or (row.mean is None and verdict.grade not in ENDS):
        return ""
    said = [in_live_terms(one) for one in verdict.assumes]
    if verdict.assumes == ASSUMES["tested"] and verdict.to_runner_up is not None:
        amounts_too = ", and that ".join(in_live_terms(one) for one in ASSUMES["clear"])
        return f"That it is better assumes that {said[0]}. The intervals of amounts also assume that {amounts_too}."
    return f"This assumes that {', and that '.join(said)}." if said else ""


def in_live_terms(text: str) -> str:
    """What policies call an arm is a variant here.

    >>> in_live_terms("an arm's expected reward is its mean, for all arms")
    "a variant's expected value is its mean, for all variants"
    """
    return sub(r"\barm\b", "variant", text.replace("an arm", "a variant").replace("arms", "variants")).replace(
        "expected reward", "expected value"
    )


def of(spec: Spec) -> str:
    return f" {spec.unit}" if spec.unit else ""


def amounts(values: tuple[float, ...]) -> list[str]:
    """Amounts with signs, to three digits of the largest.

    >>> amounts((43.123, -2.5, 74.01)), amounts((12345.6, 2971.0, 21040.0)), amounts((0.0123, 0.0, 0.02))
    (['+43.1', '−2.5', '+74.0'], ['+12,300', '+3,000', '+21,000'], ['+0.0123', '0.0000', '+0.0200'])
    """
    largest = max(abs(value) for value in values)
    digits = 2 - math.floor(math.log10(largest)) if largest > 0 else 0
    return [signed(round(value, digits), max(0, digits)) for value in values]


def signed(value: float, digits: int) -> str:
    text = f"{abs(value):,.{digits}f}"
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return sign + text if any(digit in "123456789" for digit in text) else text
