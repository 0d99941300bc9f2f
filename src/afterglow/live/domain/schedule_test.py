"""The exact test of an experiment that follows a randomised schedule: one look, at its end."""

from afterglow.estimation.randomisation import Test, randomisation_test
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, Phase
from afterglow.rng import TEST, key


def schedule_test(spec: Spec, state: ExperimentState) -> Test | None:
    """The test, once the schedule has ended or the horizon is reached; None before, and for policies without one.

    An experiment that was stopped earlier has none: whoever stops when totals look good is wrong too often. In a shadow
    the control was served, so there is nothing to test.
    """
    plan = state.plan
    holding = plan.holding
    if holding is None or holding.policy.test is None or state.shadow:
        return None
    blocks = holding.policy.test(holding.settings, holding.state)
    at_the_end = state.phase is Phase.OVER and state.step == spec.horizon
    if not (blocks.ended or at_the_end):
        return None
    stream = key(spec.seed, state.restarts, TEST)
    arms = [spec.variants[arm] for arm in plan.arms]
    return randomisation_test(blocks, arms, stream, spec.confidence, spec.reward_max, plan.voids)
