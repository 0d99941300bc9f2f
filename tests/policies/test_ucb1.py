"""UCB1, blind to delay."""

import pytest

from afterglow.errors import BadValue
from afterglow.policies.ucb1 import policy
from support.worlds.steady import steady


def test_every_arm_is_tried_once_in_order_and_then_the_largest_index_leads() -> None:
    holds, _ = steady(policy, policy.settings(3, 1), [0.0, 1.0, 0.0], horizon=6)
    # after the first round all radii are equal and arm 1 leads; at t = 4 its index is 1 + sqrt(2 log 4 / 2) = 2.18,
    # the others' sqrt(2 log 4) = 1.67; at t = 5 1 + sqrt(2 log 5 / 3) = 2.04 against sqrt(2 log 5) = 1.79
    assert [arm for arm, _, _ in holds] == [0, 1, 2, 1, 1, 1]
    assert all((steps, split) == (1, 0) for _, steps, split in holds)


def test_a_radius_that_outgrows_the_lead_brings_an_arm_back() -> None:
    holds, _ = steady(policy, policy.settings(2, 1), [0.0, 1.0], horizon=40)
    arms = [arm for arm, _, _ in holds]
    # arm 0 has sqrt(2 log t), arm 1 has 1 + sqrt(2 log t / (t - 1)): 1.79 < 1.90 at t = 5, 1.89 > 1.85 at t = 6
    assert arms[:8] == [0, 1, 1, 1, 1, 1, 0, 1]


def test_a_tie_goes_to_the_lowest_arm() -> None:
    holds, _ = steady(policy, policy.settings(3, 1), [0.5, 0.5, 0.5], horizon=7)
    assert [arm for arm, _, _ in holds] == [0, 1, 2, 0, 1, 2, 0]


def test_a_total_above_one_is_counted_whole() -> None:
    settings = policy.settings(2, 5)
    state = policy.start(settings)
    policy.learn(settings, state, 1, 1, 0, 0.0, 4.5)
    assert state.sums == [0.0, 4.5]


def test_one_arm_is_refused() -> None:
    with pytest.raises(BadValue, match=r"^arms must be a whole number of at least 2, got 1$"):
        policy.settings(1, 1)
