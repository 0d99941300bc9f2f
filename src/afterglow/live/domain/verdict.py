"""The graded verdict on an experiment: what `afterglow.estimation.judge` says of its state.

A verdict takes from about ten milliseconds (three variants) to a second (fifty). So it is made in two parts:
`case_of` copies what it needs from the state, which is fast, and `decided_by` computes, without holding anything up.
"""

from dataclasses import dataclass, replace

from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import MOST, Comparison, Missing, compare
from afterglow.estimation.estimates import Estimates, read
from afterglow.estimation.modelled import modelled
from afterglow.estimation.randomisation import Test
from afterglow.estimation.verdict import LEADING, Verdict, Versus, judge
from afterglow.live.domain.guards.stops import GuardedState
from afterglow.live.domain.schedule_test import ScheduleCase, schedule_case
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AnyState, ExperimentState, Phase
from afterglow.live.domain.step_transitions import recommended
from afterglow.policies.contrasts import Contrasts


@dataclass(frozen=True, slots=True)
class LiveCase:
    """All that the verdict on a state depends on; later events don't change it."""

    spec: Spec
    known: Estimates
    batches: Batches
    recommended: str | None
    disabled: tuple[str, ...]
    alarm: str | None
    over: bool
    stopped: bool
    schedule: ScheduleCase | None = None  # for an exact test
    model: tuple[Contrasts | None, tuple[int, ...]] | None = None  # what the policy's own says, of which variants
    guarded: str = ""  # which variants guards have disabled
    shadow: bool = False  # the control is served, whatever is planned
    afresh: bool = False  # whether the policy was started again, as by `disable` and `enable`

    def verdict(self) -> Verdict:
        """The verdict on it."""
        return decided_by(self)

    def lifts(self) -> tuple[Versus, ...]:
        """The difference of every variant to the control."""
        return lifts(self)

    def test(self) -> Test | None:
        """The exact test of a randomised schedule, once it has ended."""
        return None if self.schedule is None else self.schedule.test()

    def tested(self, best: str | None) -> float | None:
        """The p-value of the test if it calls this variant better than every other."""
        test = self.test()
        return None if test is None or best not in test.means else test.better(best)


class TooMany(Comparison):
    """In place of a comparison of more variants than can be compared."""

    __slots__ = ()

    def missing(self, arm: int, other: int) -> Missing | None:
        return Missing(f"more than {MOST} variants are not compared with each other; disable some")


def estimates(spec: Spec, state: ExperimentState) -> Estimates:
    """Mean and interval of every variant, in the unit of rewards."""
    return read(state.bounds, spec.variants, spec.window, spec.reward_max, spec.confidence, horizon=spec.first_horizon)


def clock_alarm(state: AnyState) -> str | None:
    """What the clock contradicts, while a step is held."""
    if state.held is None:
        return None
    away = state.held.clock - state.held.expected
    return (
        f"the clock jumped {'forward' if away > 0 else 'back'} by {lasting(abs(away))}, which nothing confirms: "
        f"step {state.step:,} is held; set the clock right, or accept it (accept_clock) if it is right now"
    )


def alarm(spec: Spec, state: ExperimentState, known: Estimates) -> str | None:
    """What contradicts the experiment's settings, or its clock."""
    if state.held is not None:
        return clock_alarm(state)
    if state.capped:
        return (
            f"{state.capped:,} step{'' if state.capped == 1 else 's'} had a total above window x reward_max = "
            f"{spec.window * spec.reward_max:,.12g}, counted as that: reward_max or the window is too small"
        )
    if known.surplus > 0:
        unit = f" {spec.unit}" if spec.unit else ""
        most, beyond = f"{spec.reward_max:,.12g}{unit}", f"{float(f'{known.surplus:.3g}'):,.12g}{unit}"
        return (
            f"totals exceed what reward_max, the maximum value of one step's decision ({most}), allows by {beyond}: it "
            "is too small; it must be the most that one step's decision can bring, over all the steps in which it does"
        )
    return known.alarm


def lasting(milliseconds: int) -> str:
    """A duration in its largest unit."""
    for unit, length in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000)):
        if milliseconds >= 2 * length:
            return f"{milliseconds / length:,.1f} {unit}s"
    return f"{milliseconds / 1000:,.1f} seconds"


def to_keep(spec: Spec, state: ExperimentState) -> str | None:
    """The variant to keep, by what is known now: never a disabled one. None while nothing is learned."""
    if not state.learned:
        return None
    best = recommended(state)
    if best in state.disabled:
        means = {arm: state.bounds.mean(arm) for arm in range(len(spec.variants)) if arm not in state.disabled}
        best = max(means, key=lambda arm: (state.bounds.tallies[arm].pulls > 0, means[arm], -arm))
    return spec.variants[best]


def own_model(state: ExperimentState) -> tuple[Contrasts | None, tuple[int, ...]] | None:
    """What the policy's own model says of the variants it chooses among, if it has one."""
    holding = state.plan.holding
    if holding is None or holding.policy.contrasts is None or state.shadow:  # in a shadow its rows are of the control
        return None
    return holding.policy.contrasts(holding.settings, holding.state), tuple(state.plan.arms)


def case_of(spec: Spec, state: ExperimentState) -> LiveCase:
    """Copy what the verdict depends on."""
    known = estimates(spec, state)
    over = state.phase is Phase.OVER
    return LiveCase(
        spec, known, state.bounds.counted().copied(), to_keep(spec, state),
        tuple(spec.variants[arm] for arm in state.disabled), alarm(spec, state, known), over,
        over and state.step != spec.horizon, schedule_case(spec, state), own_model(state),
        guarded_words(spec, state), state.shadow and not over, state.restarts > 0,
    )  # fmt: skip


def guarded_words(spec: Spec, state: GuardedState) -> str:
    """Which variants guards have disabled, as a sentence."""
    found = [f"{spec.variants[arm]} ({spec.guards[stop.guard].name})" for arm, stop in sorted(state.stops.items())]
    return f"Disabled by a guard: {', '.join(found)}." if found else ""


def comparison_of(case: LiveCase) -> Comparison:
    """The comparison of all variants, unless there are too many."""
    if len(case.spec.variants) <= MOST:
        washed = compare(case.batches, case.spec.first_horizon)
        return washed if case.model is None else modelled(*case.model, washed, case.afresh)
    steps = tuple(washed.steps for washed in case.batches.arms)
    return TooMany(steps, None, tuple(-1 for _ in steps), None, case.batches.size, case.spec.window, 1.0)


def decided_by(case: LiveCase) -> Verdict:
    """The verdict. While an experiment runs, its policy has not learned from the current hold yet: if that hold makes
    another variant the leading one, the verdict is about that one."""
    comparison, control = comparison_of(case), case.spec.variants[case.spec.control]
    found = judged(case, comparison, case.recommended, control)
    if case.over or case.recommended is None or not found.chances:
        return found
    likeliest = max(found.chances, key=lambda variant: found.chances[variant])
    if likeliest == case.recommended or found.chances[likeliest] < LEADING:
        return found
    return judged(case, comparison, str(likeliest), control)


def judged(case: LiveCase, comparison: Comparison, best: str | None, control: str) -> Verdict:
    found = judge(
        case.known, comparison, best, control, over=case.over, stopped=case.stopped,
        extended=case.spec.lengthened > 0, alarm=case.alarm, tested=case.tested(best),
        disabled=case.disabled, unit=case.spec.unit,
    )  # fmt: skip
    said = in_shadow(control, found) if case.shadow else found.sentence
    return replace(found, sentence=f"{said} {case.guarded}".strip())


def in_shadow(control: str, found: Verdict) -> str:
    """What is said while everybody gets the control, so that there is nothing to compare."""
    said = f"Shadow mode: {control} is served whatever is planned, so variants can't be compared before it goes live."
    return said if found.alarm is None else f"{said} An alarm stands: {found.alarm}."


def lifts(case: LiveCase) -> tuple[Versus, ...]:
    """The difference of every variant to the control; their intervals hold together."""
    comparison, control = comparison_of(case), case.spec.variants[case.spec.control]
    others = [name for name in case.spec.variants if name != control]
    found = [judged(case, comparison, name, control).to_control for name in others[: MOST - 1]]
    return tuple(one for one in found if one is not None)


def verdict(spec: Spec, state: ExperimentState) -> Verdict:
    """The verdict on a state."""
    return decided_by(case_of(spec, state))
