"""ars-exp3: EXP3 on rounds that grow."""

import math
from itertools import repeat

import pytest

from afterglow import World, simulate
from afterglow.policies.ars_exp3 import policy
from support.worlds.steady import steady


def test_round_j_lasts_the_root_of_j_rounded_up() -> None:
    holds, state = steady(policy, policy.settings(2, 1), [1.0, 1.0], 300, repeat([0.3]))
    sizes = [steps for _, steps, _ in holds[:-1]]
    assert sizes == [math.isqrt(j - 1) + 1 for j in range(1, len(holds))]
    assert sizes[:10] == [1, 2, 2, 2, 3, 3, 3, 3, 3, 4]
    assert state.losses == [0.0, 0.0]  # an arm that pays 1 a step loses nothing
    assert state.chances == [0.5, 0.5]


def test_the_first_rounds_by_hand() -> None:
    plan = policy.settings(2, 1)
    state = policy.start(plan)
    assert policy.next_hold(plan, state, [0.7]) == (1, 1, 0)
    policy.learn(plan, state, 1, 1, 0, 0.0, 0.25)
    assert state.losses == [0.0, 1.5]  # (1 - 0.25) / (1/2)
    first = 1 / (1 + math.exp(-1.5 * math.sqrt(math.log(2) / 2)))
    assert state.chances == pytest.approx([first, 1 - first])
    assert policy.next_hold(plan, state, [0.69]) == (0, 2, 0)
    policy.learn(plan, state, 0, 2, 0, 0.0, 2.5)  # more than its own: an earlier round's pay, cut to a loss of 0
    assert state.losses == [0.0, 1.5]
    policy.learn(plan, state, 0, 2, 0, 0.0, -1.0)
    chance = 1 / (1 + math.exp(-1.5 * math.sqrt(math.log(2) / 10)))
    assert state.losses[0] == pytest.approx(2 / chance)


@pytest.mark.parametrize("spread", ["uniform", "last"])
def test_regret_grows_as_the_two_thirds_power_at_most_and_no_run_is_linear(spread: str) -> None:
    world = World.of([0.8, 0.5, 0.3], 10, spread)
    short, long = (simulate(policy, world, horizon, 40, seed=6).regret.mean for horizon in (1e4, 8e4))
    assert long < 4.4 * short  # 8 ** (2/3) = 4, with 10 % for chance; 8 would be linear
    assert long < (2 * 10 + math.sqrt(2 * 3 * math.log(3))) * (1.5 * 8e4) ** (2 / 3)
