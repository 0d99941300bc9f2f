"""thompson: posterior draws on washed holds, with two uniforms for each arm."""

import math
from dataclasses import replace

import numpy as np
import pytest

from afterglow import Agent, World, simulate
from afterglow.errors import BadValue
from afterglow.policies.thompson import State, policy, sampled, variance

MIDDLE = [0.5, 0.25]  # cos(pi / 2): the posterior mean itself
HIGH, LOW = [1 - math.exp(-2.0), 0.0], [1 - math.exp(-2.0), 0.5]  # two standard errors up and down


def test_the_first_decisions_by_hand() -> None:
    plan = policy.settings(2, 4)
    state = policy.start(plan)
    assert policy.next_hold(plan, state, [*MIDDLE, *MIDDLE]) == (0, 7, 3)
    policy.learn(plan, state, 0, 7, 3, 2.5, 2.0)
    assert policy.next_hold(plan, state, [*HIGH, *LOW]) == (1, 7, 3)  # never counted: comes first whatever is drawn
    policy.learn(plan, state, 1, 7, 3, 0.5, 1.0)
    # posteriors: N(0.5, (1/4)/4) and N(0.25, (1/4)/4), so two standard errors are 0.5
    assert policy.next_hold(plan, state, [*MIDDLE, *MIDDLE]) == (0, 7, 3)
    assert policy.next_hold(plan, state, [*MIDDLE, *HIGH]) == (1, 4, 0)  # 0.75 against 0.5; it stays: no washout
    assert sampled(plan, state, 1, *HIGH) == pytest.approx(0.75)
    assert sampled(plan, state, 0, *LOW) == pytest.approx(0.0)


def test_noise_is_that_of_whole_holds_about_their_arms_mean() -> None:
    plan = policy.settings(2, 3, None, {"noise": 0.2})
    state = policy.start(plan)
    sums, steps = [1.5, 0.6, 2.4, 0.9], [3, 3, 3, 2]
    for total, more in zip(sums, steps, strict=True):
        policy.learn(plan, state, 0, more, 0, 0.0, total)
    centre = sum(sums) / sum(steps)
    scatter = sum(more * (total / more - centre) ** 2 for total, more in zip(sums, steps, strict=True))
    assert variance(plan, state, 0) == pytest.approx((2 * 0.04 + scatter) / (2 + 3))
    assert variance(plan, state, 1) == pytest.approx(0.04)
    policy.learn(plan, state, 1, 2, 2, 1.0, 0.0)  # cut within the washout: nothing is counted
    assert (state.counts, state.holds, state.clock, state.last) == ([11, 0], [4, 0], 13, 1)


def test_the_draws_are_normal() -> None:
    plan = policy.settings(2, 1)
    state = State([100, 1], [30.0, 0.0], [1, 1], [0.0, 0.0], 101, 0)
    uniforms = np.random.default_rng(3).random((20_000, 2))
    drawn = np.array([sampled(plan, state, 0, first, second) for first, second in uniforms])
    scaled = (drawn - 0.3) / 0.05
    assert abs(scaled.mean()) < 0.03
    assert abs(scaled.std() - 1) < 0.03
    assert abs((scaled > 1.96).mean() - 0.025) < 0.005


@pytest.mark.parametrize("spread", ["uniform", "last", "handicap"])
def test_stationary_spreads_cost_it_little(spread: str) -> None:
    world = World.of([0.9, 0.8, 0.7, 0.6, 0.5], 10, spread)
    regrets = simulate(policy, world, 1e5, 40, seed=2).regrets
    assert regrets.mean() < 200  # random play loses 20,000
    assert regrets.max() < 1_000  # no run stays with another arm


def test_a_noisy_best_arm_is_not_given_up_for_one_that_never_varies() -> None:
    world = World.of(["0.6", "discrete:0.5@1"], 2, "last")
    assert simulate(policy, world, 2e4, 60, seed=4).regrets.max() < 1_000  # 2,000 if it never returns


def test_the_number_of_draws_may_depend_on_the_arms() -> None:
    assert [policy.reads(arms) for arms in (2, 7)] == [4, 14]
    assert Agent(7, window=3, policy="thompson").select() == 0
    wrong = replace(policy, draws=lambda arms: arms / 2)  # type: ignore[arg-type,return-value]
    with pytest.raises(BadValue, match=r"draws of thompson must return a whole number of at least 0, got 1\.5 for 3"):
        Agent(3, window=3, policy=wrong).select()
