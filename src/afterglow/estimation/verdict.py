"""One graded answer: which arm to keep, by how much it is better, and how sure that is.

| grade | means |
|---|---|
| `exploring` | no arm stands out |
| `leading` | the recommended arm is the best with a chance of 90 % or more; decides nothing |
| `clear` | intervals of its difference to every other arm lie above 0, their confidence shared by all arms and looks |
| `tested` | an exact randomisation test has rejected, at the fixed end |
| `proven` | bounds that hold whatever effects do within the window are apart |

An experiment that is over has the highest grade that holds, else `inconclusive`, or `stopped` if it was stopped before
its end. While an alarm stands, or noise lingers, nothing is `clear` or `proven`. A pure function: `judge`.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from afterglow.addition import added
from afterglow.checks import Name
from afterglow.estimation.chances import chances, deviations
from afterglow.estimation.comparison import Comparison, Missing
from afterglow.estimation.estimates import Estimates
from afterglow.estimation.sentences import says_nothing, sentence

LEADING = 0.9  # chance
DECIDED = ("clear", "tested", "proven")  # grades that end an experiment
ONE_MORE = 0.5  # part of the confidence that an interval at the fixed end may miss where it decides no grade

ALIKE = "effects arrive alike all the time"
STRETCHES = "noise either dies out quickly or is a slow drift that all arms share"
ANY_TIME, ONE_LOOK = "at any time", "one look at the fixed end"
ASSUMES = {
    "leading": (ALIKE, STRETCHES),
    "clear": (ALIKE, STRETCHES),
    "tested": ("the schedule was followed",),
    "proven": (
        "an arm's expected reward, given all that happened before, is its mean",
        "window and reward_max are right",
    ),
}


@dataclass(frozen=True, slots=True)
class Versus:
    """What a step on one arm brings more than one on another, in the user's unit and in percent of the other.

    Either all numbers are there or `missing` says why not; percents are None where the other's mean isn't above 0.
    """

    arm: Name
    other: Name
    mean: float | None
    low: float | None
    high: float | None
    percent: tuple[float, float, float] | None  # mean, low, high
    valid: str  # "at any time" or "one look at the fixed end"
    missing: str | None = None
    more_steps: int | None = None  # about how many would tell the two apart, or cure what is missing; None: no number


@dataclass(frozen=True, slots=True)
class Gained:
    """What the arms played have brought more than the control would have in the same steps; None where unknown."""

    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said now."""

    grade: str
    recommended: Name | None
    control: Name | None
    to_control: Versus | None  # None for the control itself
    to_runner_up: Versus | None
    chance: float | None  # that the recommended arm is the best
    chances: dict[Name, float]
    expected_loss: float | None  # per step, of keeping the recommended arm
    gained: Gained | None
    assumes: tuple[str, ...]
    unit: str
    confidence: float
    over: bool
    stopped: bool
    alarm: str | None
    lingers: int | None  # steps over which noise lingers
    sentence: str
    p: float | None = None  # of an exact test, if the grade is `tested`

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = asdict(self)
        values["chances"] = {str(arm): chance for arm, chance in self.chances.items()}
        return values


@dataclass(frozen=True, slots=True)
class Case:
    """All that a verdict is made of."""

    known: Estimates
    comparison: Comparison
    allowed: tuple[int, ...]  # arms that may be recommended
    over: bool
    stopped: bool
    extended: bool = False

    @property
    def fixed_end(self) -> bool:
        """Whether the experiment has reached the end that was fixed before it began: then one look is allowed."""
        return self.over and not (self.stopped or self.extended)

    def share(self, uniform: bool) -> float:
        """What each interval of the best against another may miss: the confidence is shared among the others."""
        looks = self.comparison.RUNNING if uniform else self.comparison.FINAL or ONE_MORE
        return looks * (1 - self.known.confidence) / max(1, len(self.allowed) - 1)

    def versus(self, arm: int, other: int, uniform: bool) -> Versus:
        names = (self.known.arms[arm].arm, self.known.arms[other].arm)
        valid = ANY_TIME if uniform else ONE_LOOK
        missing = self.missing(arm, other)
        if missing is not None:
            return Versus(*names, None, None, None, None, valid, missing.reason, missing.steps)
        scale = self.known.reward_max
        mean, low, high = self.comparison.interval(self.comparison.contrast(arm, other), self.share(uniform), uniform)
        low, high = max(low, min(mean, -1.0)), min(high, max(mean, 1.0))  # a mean lies between 0 and reward_max
        mean, low, high = scale * mean, scale * low, scale * high
        level = scale * self.comparison.mean(other)
        percent = (100 * mean / level, 100 * low / level, 100 * high / level) if level > 0 else None
        more = self.comparison.more_steps(arm, other, 0.5 * (high - low) / abs(mean) if mean else math.inf)
        return Versus(*names, mean, low, high, percent, valid, None, more)

    def missing(self, arm: int, other: int) -> Missing | None:
        names = [estimate.arm for estimate in self.known.arms]
        for one in (arm, other):
            if not self.comparison.steps[one]:
                return self.comparison.unplayed(names[one])
        return self.comparison.missing(arm, other)


def judge(
    known: Estimates,
    comparison: Comparison,
    recommended: Name | None,
    control: Name | None = None,
    *,
    over: bool = False,
    stopped: bool = False,
    extended: bool = False,
    alarm: str | None = None,
    tested: float | None = None,
    disabled: Sequence[Name] = (),
    unit: str = "",
) -> Verdict:
    """The verdict on an experiment: its estimates and bounds, the comparison of its arms, and how it stands.

    `alarm` is a sentence if anything contradicts the experiment's settings, beside what the estimates know; `tested`
    is the p-value of an exact test that has called the recommended arm better than every other; `stopped` says that an
    experiment which is over did not reach its fixed end, `extended` that this end was moved while it ran.
    """
    names = [estimate.arm for estimate in known.arms]
    allowed = tuple(arm for arm, name in enumerate(names) if name not in disabled)
    case = Case(known, comparison, allowed, over, stopped, extended)
    alarm = alarm or known.alarm
    best = None if recommended is None else names.index(known[recommended].arm)
    table = posterior(case)
    chance = table[0].get(best) if best is not None else None
    grade = highest(case, best, chance, alarm, tested)
    base = None if control is None else names.index(known[control].arm)
    runner_up, to_control, gained = compared(case, best, base)
    loss = None
    if best is not None and best in table[0]:
        loss = max(0.0, (table[1] - comparison.mean(best)) * known.reward_max)
    found = Verdict(
        grade, recommended, control, to_control, runner_up, chance,
        {names[arm]: value for arm, value in table[0].items()}, loss, gained, ASSUMES.get(grade, (ALIKE, STRETCHES)),
        unit, known.confidence, over, stopped, alarm, comparison.lingers, "", tested if grade == "tested" else None,
    )  # fmt: skip
    others = [names[arm] for arm in case.allowed if arm != best]
    doubt = None if best is None or grade in DECIDED else doubtful(case, best, runner_up)
    unpaid = comparison.mixture is not None and not any(one.mean for one in known.arms)
    return replace(found, sentence=sentence(found, others, doubt, known.reward_max, unpaid))


def compared(case: Case, best: int | None, control: int | None) -> tuple[Versus | None, Versus | None, Gained | None]:
    """The best arm beside the closest other one and beside the control; what was gained against the control."""
    uniform = not case.fixed_end
    runner_up, to_control = None, None
    if best is not None:
        other = closest(case, best)
        runner_up = None if other is None else case.versus(best, other, uniform)
        if control is not None and control != best:
            to_control = case.versus(best, control, uniform)
    gained = None if control is None else against_control(case, control, uniform)
    if to_control is not None and says_nothing(to_control, case.known.reward_max):
        gained = Gained(None, None, None)
    return runner_up, to_control, gained


def highest(case: Case, best: int | None, chance: float | None, alarm: str | None, tested: float | None) -> str:
    """The highest grade that holds."""
    trusted = best is not None and alarm is None
    clear = (
        trusted
        and best is not None
        and is_clear(case.comparison, best, case.allowed, case.known.confidence, case.fixed_end)
    )
    if clear and best is not None and is_proven(case.known, case.comparison, best, case.allowed):
        return "proven"
    if tested is not None and best is not None:
        return "tested"
    if clear:
        return "clear"
    if chance is not None and chance >= LEADING and len(case.allowed) > 1:
        return "leading"
    if case.over:
        return "stopped" if case.stopped else "inconclusive"
    return "exploring"


def is_clear(
    comparison: Comparison, best: int, allowed: Sequence[int], confidence: float, fixed_end: bool = False
) -> bool:
    """Whether the intervals of the best against all others lie above 0, their confidence shared.

    At any time these are time-uniform intervals; at the fixed end also those of one look (`Comparison.FINAL`).
    """
    others = [arm for arm in allowed if arm != best]
    share = (1 - confidence) / max(1, len(others))
    return bool(others) and all(
        comparison.missing(best, other) is None and comparison.above(best, other, share, fixed_end) for other in others
    )


def is_proven(known: Estimates, comparison: Comparison, best: int, allowed: Sequence[int]) -> bool:
    """Whether an arm that is clear is proven too: its lower bound lies above the upper bounds of all others.

    Bounds that are apart need more than what is clear where their assumption is so. A promotion or an outage that one
    arm meets moves them apart at once, and it may be a while before noise is seen to linger.
    """
    one = known.arms[best]
    others = [known.arms[arm] for arm in allowed if arm != best]
    apart = bool(others) and one.pulls > 0 and not one.contradiction and all(one.low > other.high for other in others)
    return apart and comparison.lingers is None


def closest(case: Case, best: int) -> int | None:
    """The arm whose mean comes closest among those that can be compared with the best; else the first other one."""
    others = [arm for arm in case.allowed if arm != best]
    known = [arm for arm in others if case.missing(best, arm) is None]
    if known:
        return max(known, key=case.comparison.mean)
    return others[0] if others else None


def doubtful(case: Case, best: int, runner_up: Versus | None) -> Versus | None:
    """The difference that keeps the best arm from being clear, if it is told apart from the closest one already."""
    if runner_up is None or runner_up.low is None or runner_up.low <= 0:
        return None
    rows = [case.versus(best, arm, not case.fixed_end) for arm in case.allowed if arm != best]
    open_rows = [row for row in rows if row.low is None or row.low <= 0]
    return min(open_rows, key=lambda row: math.inf if row.mean is None else row.mean, default=None)


def posterior(case: Case) -> tuple[dict[int, float], float]:
    """The chance of each arm to be the best, and the mean of the best; empty while the noise is unknown."""
    comparison = case.comparison
    arms = [arm for arm in case.allowed if comparison.steps[arm]]
    if comparison.mixture is None or len(arms) < len(case.allowed) or not arms:
        return {}, 0.0
    table = [[0.0] * len(arms) for _ in arms]
    for row, one in enumerate(arms):
        for column in range(row):
            table[row][column] = table[column][row] = comparison.variance(one, arms[column])
    found, best = chances([comparison.mean(arm) for arm in arms], deviations(table))
    return dict(zip(arms, found, strict=True)), best


def against_control(case: Case, control: int, uniform: bool) -> Gained:
    """What was gained against having kept the control."""
    comparison, known = case.comparison, case.known
    weights = [float(estimate.pulls) for estimate in known.arms]
    weights[control] -= added(weights)
    if comparison.mixture is None or any(w and not n for w, n in zip(weights, comparison.steps, strict=True)):
        return Gained(None, None, None)
    if not any(weights):
        return Gained(0.0, 0.0, 0.0)
    found = comparison.interval(weights, 1 - known.confidence, uniform)
    if found[1] <= weights[control] and found[2] >= -weights[control]:  # all that rewards allow
        return Gained(None, None, None)
    mean, low, high = (known.reward_max * value for value in found)
    return Gained(mean, low, high)
