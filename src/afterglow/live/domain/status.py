"""Status and explanations of an experiment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from afterglow.estimation.panel import UnitsTest
from afterglow.estimation.randomisation import Test
from afterglow.estimation.verdict import Verdict
from afterglow.live.domain.guards.stops import GuardStatus, guards_case
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, Phase, Role
from afterglow.live.domain.verdict import case_of, decided_by, estimates

STANDS_OUT = ("leading", "clear", "tested", "proven")  # grades

REASONS = {
    Role.PLAN: "as planned",
    Role.WASHOUT: "as planned, not learned from: effects of steps outside the plan may still arrive",
    Role.OUTSIDE: "outside the plan, not learned from",
    Role.SHADOW: "shadow: the control is served, the plan is only logged",
}


@dataclass(frozen=True, slots=True)
class UnitStatus:
    """How one unit stands."""

    unit: str
    variant: str  # live now
    planned: str
    role: str
    pinned: str | None
    level: float | None  # mean total of a step: told, or from its first counted steps; None while unknown
    silent: int  # steps since its last report


@dataclass(frozen=True, slots=True)
class Status:
    """How an experiment stands. Its verdict is computed when it is first asked for."""

    phase: str  # draft, scheduled, running, paused, over
    step: int
    horizon: int | None
    variant: str | None  # live now; None if units have different ones
    pinned: str | None  # None if units differ in it
    disabled: tuple[str, ...]
    shadow: bool
    held: bool  # the clock has jumped: the current step goes on until it is right, or accepted
    washout: int  # further steps that won't be learned from
    learned: int  # steps
    excluded: int  # steps
    alarm: str | None
    recommended: str | None  # the variant to keep, by what is known now; None while nothing is learned
    archived: bool  # hidden from lists
    judge: Callable[[], Verdict] = field(repr=False, compare=False)
    examine: Callable[[], Test | UnitsTest | None] = field(repr=False, compare=False)
    watch: Callable[[], tuple[GuardStatus, ...]] = field(repr=False, compare=False, default=tuple)
    units: tuple["UnitStatus", ...] = ()  # of an experiment with units
    stale: bool = False  # a step has ended that could not be closed in time, since others have the experiment's lock

    @property
    def verdict(self) -> Verdict:
        """The graded answer."""
        return self.judge()

    @property
    def test(self) -> Test | None:
        """The exact test of a randomised schedule; None before it has ended, and for other policies."""
        found = self.examine()
        return found if isinstance(found, Test) else None

    @property
    def units_test(self) -> UnitsTest | None:
        """The exact test of an experiment with units; None before its end, and without units."""
        found = self.examine()
        return found if isinstance(found, UnitsTest) else None

    @property
    def guards(self) -> tuple[GuardStatus, ...]:
        """Every guard and variant: the excess over the limit, and whether the variant was stopped."""
        return self.watch()

    @property
    def status(self) -> str:
        """The grade of the verdict: exploring, leading, clear, tested or proven; after the end, if none of these holds,
        inconclusive or stopped."""
        return self.verdict.grade

    @property
    def leader(self) -> str | None:
        """The variant that the verdict recommends, if the grade is leading or higher."""
        found = self.verdict
        return str(found.recommended) if found.grade in STANDS_OUT else None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a step got its variant."""

    step: int
    variant: str
    planned: str
    role: str
    why: str
    policy: str
    hold: tuple[int, int] | None  # the step in which the hold was decided, and its length
    figures: Mapping[str, Any]  # the policy's state when it decided; by variant where it has one number for each
    estimates: Any  # when the step began: `Estimates`, or `PanelEstimates` of an experiment with units
    because: str = ""  # the numbers that the policy compared, as a sentence; empty if it declares none
    index: Mapping[str, float] = field(default_factory=dict)  # these numbers by variant, amounts in the unit of totals
    index_name: str = ""  # what they are called
    index_unit: str = ""  # amount: the unit of totals; share: from 0 to 1
    unit: str | None = None  # of an experiment with units


def status(spec: Spec, state: ExperimentState, judge: Callable[[Any], Verdict] = decided_by) -> Status:
    """The status now; `judge` makes the verdict on what is known now, if it is asked for."""
    case, guarded = case_of(spec, state), guards_case(spec, state)
    return Status(
        str(state.phase), state.step, spec.horizon, spec.variants[state.served],
        spec.variants[state.pinned] if state.pinned >= 0 else None, case.disabled, state.shadow, state.held is not None,
        state.washout, state.learned, state.excluded, case.alarm, case.recommended, state.archived,
        cache(lambda: judge(case)), case.test, cache(guarded.read),
    )  # fmt: skip


def explanation(spec: Spec, state: ExperimentState) -> Explanation:
    """Why the current step has its variant."""
    hold, holding, step = state.plan.hold, state.plan.holding, state.step
    why = REASONS.get(state.role, "")
    if state.role is Role.OUTSIDE:
        why = f"{'paused' if state.phase is Phase.PAUSED else 'pinned'}: {why}"
    because, index, name, unit = compared(spec, state)
    if holding is None:
        policy, figures = "none: there is nothing to choose", dict[str, Any]()
    else:
        policy = f"{spec.policy} (version {spec.policy_version})"
        if holding.policy.evidence is not None:
            why += f"; the plan rests on {holding.policy.evidence(holding.settings, holding.state)}"
        names = [spec.variants[arm] for arm in state.plan.arms]
        figures = {each.name: by_variant(names, getattr(holding.state, each.name)) for each in fields(holding.state)}
    return Explanation(
        step, spec.variants[state.served], spec.variants[state.planned], str(state.role), why, policy,
        (hold.since, hold.steps) if hold else None, figures, estimates(spec, state), because, index, name, unit,
    )  # fmt: skip


def compared(spec: Spec, state: ExperimentState) -> tuple[str, dict[str, float], str, str]:
    """What the policy compared when it chose: a sentence, the numbers by variant, what they are called, their unit."""
    plan = state.plan
    found = None if plan.holding is None else plan.holding.index()
    if found is None or plan.hold is None:
        return "", {}, "", ""
    names = [spec.variants[arm] for arm in plan.arms]
    sentence = found.sentence(names, plan.hold.arm, spec.reward_max, spec.unit)
    if not found.values:
        return sentence, {}, "", ""
    values = dict(zip(names, found.scaled(spec.reward_max), strict=True))
    return sentence, values, found.what, "amount" if found.amounts else "share"


def by_variant(names: list[str], value: Any) -> Any:
    if isinstance(value, list):
        return dict(zip(names, value, strict=True)) if len(value) == len(names) else value[:]
    return value
