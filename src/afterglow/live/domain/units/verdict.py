"""The graded verdict on an experiment with units, and its exact test.

Units are compared within the same steps; a difference is a share of a unit's level. In the unit of totals it is that
share of all levels together: what a step brings if all units change. There are no proved bounds, so grades are
`leading` while it runs and `tested` or `inconclusive` at the end. The test replays the recorded totals with other draws
of which unit begins with which variant: once, at the horizon that was fixed before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from afterglow.estimation.chances import chances, deviations
from afterglow.estimation.panel import PanelEstimates, Slot, UnitsTest, panel_estimates, replayed_test
from afterglow.estimation.verdict import LEADING, ONE_LOOK, Gained, Verdict, Versus
from afterglow.live.domain.spec import Spec, read_spec, round_policy_of
from afterglow.live.domain.state import Phase
from afterglow.live.domain.units.round_plan import settings_of
from afterglow.live.domain.units.sentences import sentence
from afterglow.live.domain.units.state import UnitsState
from afterglow.live.domain.verdict import clock_alarm, guarded_words
from afterglow.policies.rounds import Compared, PanelDifference, RoundPolicy
from afterglow.rng import ROUNDS, key
from afterglow.round_runner import Round

ONE_DEVIATION = 0.6826894921370859  # confidence of an interval of one standard error on each side
WORK = 150_000_000  # of all replays of a test, in products: some 15 seconds
MOST_DRAWS, LEAST_DRAWS = 999, 99
WIDEST = 1.0  # share of a level: an interval that reaches further to either side says nothing
SAME = PanelDifference(0.0, 0.0, 0.0)  # of a variant to itself
ASSUMES = (
    "a variant in one unit doesn't change totals of another",
    "the window is the same in all units",
    "a variant changes totals by the same share of a unit's level, on average over units",
)
TESTED = ("a variant in one unit doesn't change totals of another", "what was left out would have been so anyway")
ALARM = (
    "the first steps after a change compare variants otherwise than later ones do: the window is too short, or effects "
    "begin late"
)


@dataclass(frozen=True)
class UnitsCase:
    """All that the verdict on a state depends on; later events don't change it."""

    spec: Spec
    arms: tuple[int, ...]  # variants that the plan chooses among
    policy: RoundPolicy[Any, Any] | None
    settings: Any
    state: Any
    slots: tuple[Slot, ...]
    horizon: int  # of the plan, which begins again with some commands
    restarts: int
    learned: int
    lost: int
    recommended: str | None
    disabled: tuple[str, ...]
    over: bool
    stopped: bool
    shadow: bool
    clock: str | None = None  # an alarm of the clock
    played: tuple[Round, ...] = ()  # rounds that were learned
    guarded: str = ""  # which variants guards have disabled

    @property
    def alarm(self) -> str | None:
        found = self.policy is not None and self.policy.alarmed(self.settings, self.state)
        return self.clock or (ALARM if found else None)

    def difference(self, one: int, other: int, confidence: float) -> PanelDifference:
        """By variant."""
        return self.pairs(self.arms.index(one), self.arms.index(other), confidence)

    @cached_property
    def pairs(self) -> Compared:
        """Differences by place in the plan, of one fit."""
        assert self.policy is not None
        return self.policy.pairs(self.settings, self.state)

    def level(self) -> float:
        """The levels of all units together, as far as they are known."""
        return math.fsum(self.state.levels) if self.policy is not None else 0.0

    def known(self) -> bool:
        """Whether all variants of the plan can be compared."""
        return self.policy is not None and not self.shadow and all(self.state.arm_cells)

    def test(self) -> UnitsTest | None:
        """The exact test, once the horizon is reached; None before, and of a shadow."""
        if self.policy is None or not self.over or self.stopped or self.shadow or not self.known():
            return None
        found = exact_test(self.spec.text(), len(self.arms), self.horizon, self.restarts, self.slots)
        return replace(found, missing=self.lost)

    def versus(self, one: int, other: int) -> Versus:
        """The difference of two variants; the confidence is shared among the others."""
        names = self.spec.variants[one], self.spec.variants[other]
        if one not in self.arms or other not in self.arms or not self.known():
            missing = "not all variants have run for a full window while two units had totals"
            gone = [name for arm, name in zip((one, other), names, strict=True) if arm not in self.arms]
            if gone:
                missing = f"the policy started afresh without {' and '.join(gone)}"
            if self.shadow:
                missing = "in shadow mode all units get the control"
            return Versus(*names, None, None, None, None, ONE_LOOK, missing)
        share = (1 - self.spec.confidence) / max(1, len(self.arms) - 1)
        found, level = self.difference(one, other, 1 - share), self.level()
        if found.high - found.mean > WIDEST:
            return Versus(*names, None, None, None, None, ONE_LOOK, "its interval is still wider than a level")
        mean, low, high = (level * value for value in found)
        percent = (100 * found.mean, 100 * found.low, 100 * found.high)
        return Versus(*names, mean, low, high, percent, ONE_LOOK)

    def chances(self) -> tuple[dict[int, float], float]:
        """The chance of each variant to be the best, and how much better the best is than the recommended one."""
        if not self.known() or self.recommended is None:
            return {}, 0.0
        best, arms = self.spec.variant(self.recommended), self.arms
        if best not in arms:
            return {}, 0.0
        means = [0.0 if arm == best else self.difference(arm, best, 0.5).mean for arm in arms]
        table = [[0.0 if a == b else self.spread(a, b) for b in arms] for a in arms]
        found, top = chances(means, deviations(table))
        return dict(zip(arms, found, strict=True)), max(0.0, top)

    def spread(self, one: int, other: int) -> float:
        """The variance of a difference."""
        found = self.difference(one, other, ONE_DEVIATION)
        return (0.5 * (found.high - found.low)) ** 2

    def verdict(self) -> Verdict:
        """The verdict on it."""
        spec, table = self.spec, self.chances()
        best = None if self.recommended is None else spec.variant(self.recommended)
        chance = None if best is None else table[0].get(best)
        test = self.test()
        p = None if test is None else test.p
        grade = self.grade(chance, p)
        others = [arm for arm in self.arms if arm != best]
        closest = max(others, key=lambda arm: table[0].get(arm, 0.0), default=None)
        runner_up = None if best is None or closest is None else self.versus(best, closest)
        to_control = None if best is None or best == spec.control else self.versus(best, spec.control)
        found = Verdict(
            grade, self.recommended, spec.variants[spec.control], to_control, runner_up, chance,
            {spec.variants[arm]: value for arm, value in table[0].items()},
            self.level() * table[1] if table[0] else None, self.gained(), self.assumes(grade),
            spec.unit, spec.confidence, self.over, self.stopped, self.alarm, None, "", p if grade == "tested" else None,
        )  # fmt: skip
        words = sentence(found, test, len(spec.units), self.policy is not None or best is not None)
        return replace(found, sentence=f"{words} {self.guarded}" if self.guarded else words)

    def assumes(self, grade: str) -> tuple[str, ...]:
        """What the verdict assumes: nothing where nothing is compared."""
        if self.policy is None:
            return ()
        return TESTED if grade == "tested" else ASSUMES

    def gained(self) -> Gained:
        """What the plan has brought since it began, against having kept the control in all units."""
        control = self.spec.control
        if self.shadow:
            return Gained(0.0, 0.0, 0.0)
        if control not in self.arms or not self.known():
            return Gained(None, None, None)
        weights = level_steps(self.played, self.state.levels, len(self.arms))
        weights[self.arms.index(control)] -= math.fsum(weights)
        ends = [[self.difference(a, b, self.spec.confidence) if a != b else SAME for b in self.arms] for a in self.arms]
        if any(found.high - found.mean > WIDEST for row in ends for found in row):
            return Gained(None, None, None)
        to_control = [row[self.arms.index(control)].mean for row in ends]
        mean = math.fsum(weight * one for weight, one in zip(weights, to_control, strict=True))
        half = math.sqrt(max(0.0, -0.5 * math.fsum(
            one * other * (found.high - found.mean) ** 2
            for one, row in zip(weights, ends, strict=True) for other, found in zip(weights, row, strict=True)
        )))  # fmt: skip  # weights add up to 0, so variances of differences are enough
        return Gained(mean, mean - half, mean + half)

    def grade(self, chance: float | None, p: float | None) -> str:
        if self.recommended is not None and p is not None and p <= 1 - self.spec.confidence:
            return "tested"
        if chance is not None and chance >= LEADING and len(self.arms) > 1:
            return "leading"
        if self.over:
            return "stopped" if self.stopped else "inconclusive"
        return "exploring"

    def lifts(self) -> tuple[Versus, ...]:
        """The difference of every variant to the control."""
        control = self.spec.control
        return tuple(self.versus(arm, control) for arm in range(len(self.spec.variants)) if arm != control)


def level_steps(played: Sequence[Round], levels: Sequence[float], arms: int) -> list[float]:
    """Steps that units spent on each arm of the plan, times their levels; those that were lost don't count."""
    found = [0.0] * arms
    for one in played:
        for arm, lost, level in zip(one.arms, one.lost, levels, strict=True):
            found[arm] += 0.0 if lost else one.steps * level
    return found


@lru_cache(maxsize=32)
def exact_test(text: str, arms: int, horizon: int, restarts: int, slots: tuple[Slot, ...]) -> UnitsTest:
    """Computed once, and then known."""
    spec = read_spec(text)
    policy = round_policy_of(spec)

    def settings(stream: int) -> Any:
        return settings_of(spec, arms, horizon, stream)

    drawn = settings(key(spec.seed, restarts, ROUNDS))
    state = policy.start(drawn)
    for steps, split, lost, heads, bodies in slots:
        policy.next_round(drawn, state)
        policy.learn(drawn, state, steps, split, [0 if gone else steps - split for gone in lost], heads, bodies)
    draws = affordable(len(slots), state.stage + 1, arms, len(spec.units), state.dense_slots)
    return replayed_test(policy, settings, slots, drawn, state, spec.seed, draws)


def affordable(slots: int, stages: int, arms: int, units: int, dense: int) -> int:
    """Draws that a test replays: 999, or fewer where that takes long. `dense` slots are those with too many different
    sets of known units, which cost a matrix of units.

    >>> affordable(80, 8, 3, 8, 0), affordable(119, 9, 20, 200, 0), affordable(119, 9, 20, 200, 90)
    (999, 160, 99)
    """
    work = 9 * slots * units + stages * arms**2 * units
    if dense:
        work += stages * units**3 // 5 + dense * units**2
    return max(LEAST_DRAWS, min(MOST_DRAWS, WORK // work))


def case_of(spec: Spec, state: UnitsState) -> UnitsCase:
    """Copy what the verdict depends on."""
    plan, runner = state.plan, state.plan.runner
    over = state.phase is Phase.OVER
    best = to_keep(spec, state)
    slots = tuple(
        (one.steps, one.split, tuple(one.lost), tuple(one.heads), tuple(one.bodies)) for one in plan.played if over
    )  # fmt: skip
    return UnitsCase(
        spec, tuple(plan.arms), runner.policy if runner else None, runner.settings if runner else None,
        copied(runner.state) if runner else None, slots, runner.settings.horizon if runner else 0,
        state.restarts, plan.learned, plan.lost, best, tuple(spec.variants[arm] for arm in state.disabled), over,
        over and state.step != spec.horizon, state.shadow, clock_alarm(state), tuple(plan.played),
        guarded_words(spec, state),
    )  # fmt: skip


def copied(state: Any) -> Any:
    """A copy of a policy's state, whose fields are numbers and lists of numbers."""
    values = {one.name: getattr(state, one.name) for one in fields(state)}
    return type(state)(**{name: value[:] if isinstance(value, list) else value for name, value in values.items()})


def to_keep(spec: Spec, state: UnitsState) -> str | None:
    """The variant to keep, by what is known now; None while nothing is known, unless it is the only one left."""
    alone = len(spec.variants) - len(state.disabled) == 1
    best = state.plan.recommend() if state.plan.runner is not None or alone else None
    return None if best is None or best in state.disabled else spec.variants[best]


def recommended(state: UnitsState) -> int:
    """The variant to keep, by what is known now; the control while nothing is."""
    best = None if state.shadow else state.plan.recommend()
    return state.served if best is None or best in state.disabled else best


def estimates(spec: Spec, state: UnitsState) -> PanelEstimates:
    """The difference of each variant to the best, as a share of a unit's level."""
    runner, names = state.plan.runner, [spec.variants[arm] for arm in state.plan.arms]
    if runner is None:
        return PanelEstimates(names[0], (), spec.confidence)
    best = runner.policy.recommend(runner.settings, runner.state)
    return panel_estimates(runner.policy, runner.settings, runner.state, names, best, spec.confidence)
