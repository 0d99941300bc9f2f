"""One graded answer: which arm to keep, by how much it is better, and how sure that is.

| grade | means |
|---|---|
| `exploring` | no arm stands out |
| `leading` | the recommended arm is the best with a chance of 90 % or more; decides nothing |
| `clear` | time-uniform intervals of its difference to every other arm lie above 0, their confidence shared |
| `tested` | an exact randomisation test has rejected, at the fixed end |
| `proven` | bounds that hold whatever effects do within the window are apart |

An experiment that is over has the highest grade that holds, else `inconclusive`, or `stopped` if it was stopped before
its end. While an alarm stands, or noise lingers, nothing is `clear` or `proven`. A pure function: `judge`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from afterglow.checks import Name
from afterglow.estimation.chances import chances, deviations
from afterglow.estimation.comparison import Comparison, Missing
from afterglow.estimation.estimates import Estimate, Estimates
from afterglow.estimation.sentences import sentence

LEADING = 0.9  # chance

ALIKE = "effects arrive alike all the time"
STRETCHES = "noise is gone within the record's blocks, or slow as a drift is, and is common to all arms"
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
    more_steps: int | None = None  # about how many would cure what is missing


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

    @property
    def share(self) -> float:
        """What each interval of the best against another may miss."""
        return (1 - self.known.confidence) / max(1, len(self.allowed) - 1)

    def versus(self, arm: int, other: int, uniform: bool) -> Versus:
        names = (self.known.arms[arm].arm, self.known.arms[other].arm)
        valid = ANY_TIME if uniform else ONE_LOOK
        missing = self.missing(arm, other)
        if missing is not None:
            return Versus(*names, None, None, None, None, valid, missing.reason, missing.steps)
        scale = self.known.reward_max
        found = self.comparison.interval(self.comparison.contrast(arm, other), self.share, uniform)
        mean, low, high = (scale * value for value in found)
        level = scale * self.comparison.mean(other)
        percent = (100 * mean / level, 100 * low / level, 100 * high / level) if level > 0 else None
        return Versus(*names, mean, low, high, percent, valid)

    def missing(self, arm: int, other: int) -> Missing | None:
        names = [estimate.arm for estimate in self.known.arms]
        for one in (arm, other):
            if not self.comparison.steps[one]:
                return Missing(f"{names[one]} hasn't run for a full window yet", self.known.window)
        return self.comparison.missing(arm, other)


def judge(
    known: Estimates,
    comparison: Comparison,
    recommended: Name | None,
    control: Name | None = None,
    *,
    over: bool = False,
    stopped: bool = False,
    alarm: str | None = None,
    tested: float | None = None,
    disabled: Sequence[Name] = (),
    unit: str = "",
) -> Verdict:
    """The verdict on an experiment: its estimates and bounds, the comparison of its arms, and how it stands.

    `alarm` is a sentence if anything contradicts the experiment's settings, beside what the estimates know; `tested`
    is the p-value of an exact test that has called the recommended arm better than every other; `stopped` says that an
    experiment which is over did not reach its fixed end.
    """
    names = [estimate.arm for estimate in known.arms]
    case = Case(known, comparison, tuple(arm for arm, name in enumerate(names) if name not in disabled), over, stopped)
    alarm = alarm or known.alarm
    best = None if recommended is None else names.index(known[recommended].arm)
    table = posterior(case)
    chance = table[0].get(best) if best is not None else None
    rows = [] if best is None else [case.versus(best, other, True) for other in case.allowed if other != best]
    grade = highest(case, best, rows, chance, alarm, tested)
    fixed_end = over and not stopped
    runner_up, to_control = None, None
    if best is not None:
        runner_up = closest(case, best, rows, not fixed_end)
        if control is not None and control != recommended:
            to_control = case.versus(best, names.index(known[control].arm), not fixed_end)
    gained = None if control is None else against_control(case, names.index(known[control].arm), not fixed_end)
    loss = None
    if best is not None and best in table[0]:
        loss = max(0.0, (table[1] - comparison.mean(best)) * known.reward_max)
    found = Verdict(
        grade, recommended, control, to_control, runner_up, chance,
        {names[arm]: value for arm, value in table[0].items()}, loss, gained, ASSUMES.get(grade, (ALIKE, STRETCHES)),
        unit, known.confidence, over, stopped, alarm, comparison.lingers, "", tested if grade == "tested" else None,
    )  # fmt: skip
    steps = sum(estimate.pulls for estimate in known.arms)
    others = [names[arm] for arm in case.allowed if arm != best]
    return replace(found, sentence=sentence(found, steps, others))


def highest(
    case: Case, best: int | None, rows: Sequence[Versus], chance: float | None, alarm: str | None, tested: float | None
) -> str:
    """The highest grade that holds."""
    trusted = best is not None and alarm is None
    if trusted and case.comparison.lingers is None and apart(case, best):
        return "proven"
    if tested is not None and best is not None:
        return "tested"
    if trusted and rows and all(row.low is not None and row.low > 0 for row in rows):
        return "clear"
    if chance is not None and chance >= LEADING and len(rows) > 0:
        return "leading"
    if case.over:
        return "stopped" if case.stopped else "inconclusive"
    return "exploring"


def apart(case: Case, best: int | None) -> bool:
    """Whether the lower bound of the best lies above the upper bounds of all others."""
    if best is None:
        return False
    one: Estimate = case.known.arms[best]
    others = [case.known.arms[arm] for arm in case.allowed if arm != best]
    return bool(others) and one.pulls > 0 and not one.contradiction and all(one.low > other.high for other in others)


def closest(case: Case, best: int, rows: Sequence[Versus], uniform: bool) -> Versus | None:
    """The row of the arm that comes closest; one with numbers, if there is any."""
    told = [row for row in rows if row.mean is not None]
    if not told:
        return rows[0] if rows else None
    row = min(told, key=lambda row: row.mean or 0.0)
    names = [estimate.arm for estimate in case.known.arms]
    return row if uniform else case.versus(best, names.index(row.other), uniform)


def posterior(case: Case) -> tuple[dict[int, float], float]:
    """The chance of each arm to be the best, and the mean of the best; empty while the noise is unknown."""
    comparison = case.comparison
    arms = [arm for arm in case.allowed if comparison.steps[arm]]
    if comparison.mixture is None or len(arms) < len(case.allowed) or not arms:
        return {}, 0.0
    table = [[comparison.variance(one, other) if one != other else 0.0 for other in arms] for one in arms]
    found, best = chances([comparison.mean(arm) for arm in arms], deviations(table))
    return dict(zip(arms, found, strict=True)), best


def against_control(case: Case, control: int, uniform: bool) -> Gained:
    """What was gained against having kept the control."""
    comparison, known = case.comparison, case.known
    weights = [float(estimate.pulls) for estimate in known.arms]
    weights[control] -= sum(weights)
    if comparison.mixture is None or any(w and not n for w, n in zip(weights, comparison.steps, strict=True)):
        return Gained(None, None, None)
    if not any(weights):
        return Gained(0.0, 0.0, 0.0)
    found = comparison.interval(weights, 1 - known.confidence, uniform)
    mean, low, high = (known.reward_max * value for value in found)
    return Gained(mean, low, high)
