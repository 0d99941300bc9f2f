"""The exact test of an experiment that follows a randomised schedule: one look, at its end."""

from dataclasses import dataclass

from afterglow.estimation.randomisation import Test, randomisation_test
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, Phase
from afterglow.policies.block_means import BlockMeans
from afterglow.rng import TEST, key


@dataclass(frozen=True, slots=True)
class ScheduleCase:
    """All that the test depends on; later events don't change it."""

    blocks: BlockMeans
    variants: tuple[str, ...]
    stream: int  # key of the orders that are drawn
    confidence: float
    reward_max: float
    void_steps: int

    def test(self) -> Test | None:
        """The test; None if no block counts. It is computed once, and then known."""
        return randomisation_test(
            self.blocks, self.variants, self.stream, self.confidence, self.reward_max, self.void_steps
        )


def schedule_case(spec: Spec, state: ExperimentState) -> ScheduleCase | None:
    """What is tested, once the schedule has ended or the horizon is reached; None before, and without a schedule.

    An experiment that was stopped earlier has no test: whoever stops when totals look good is wrong too often. In a
    shadow the control was served, so there is nothing to test.
    """
    plan, holding = state.plan, state.plan.holding
    if holding is None or holding.policy.test is None or state.shadow:
        return None
    blocks = holding.policy.test(holding.settings, holding.state)
    at_the_end = state.phase is Phase.OVER and state.step == spec.horizon
    if not (blocks.ended or at_the_end):
        return None
    variants = tuple(spec.variants[arm] for arm in plan.arms)
    stream = key(spec.seed, state.restarts, TEST)
    return ScheduleCase(blocks, variants, stream, spec.confidence, spec.reward_max, plan.voids)


def schedule_test(spec: Spec, state: ExperimentState) -> Test | None:
    """The test of a state."""
    case = schedule_case(spec, state)
    return None if case is None else case.test()
