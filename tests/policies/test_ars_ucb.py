"""ARS-UCB: holds that grow."""

import pytest

from afterglow.errors import BadValue, UnknownName
from afterglow.policies.ars_ucb import policy
from support.worlds.steady import steady


def lengths(growth: str, horizon: int) -> list[int]:
    settings = policy.settings(2, 1, None, {"growth": growth, "alpha": 1e-9})
    holds, _ = steady(policy, settings, [0.0, 1.0], horizon)
    return [steps for arm, steps, _ in holds if arm == 1]


def test_the_jth_hold_of_an_arm_lasts_j_squared_steps_or_two_to_the_j_less_one() -> None:
    assert lengths("square", 1 + 1 + 4 + 9 + 16 + 25) == [1, 4, 9, 16, 25]
    assert lengths("double", 1 + 1 + 2 + 4 + 8 + 16) == [1, 2, 4, 8, 16]


def test_each_arm_counts_its_own_holds() -> None:
    holds, state = steady(policy, policy.settings(3, 1), [0.5, 0.5, 0.5], horizon=3 * (1 + 4 + 9))
    assert holds == [(arm, steps, 0) for steps in (1, 4, 9) for arm in range(3)]
    assert state.holds == [3, 3, 3]


def test_the_first_decisions_by_hand() -> None:
    holds, _ = steady(policy, policy.settings(2, 1), [0.0, 1.0], horizon=16)
    # t = 2: 1 + sqrt(2 log 2) leads; t = 6: sqrt(2 log 6) = 1.89 against 1 + sqrt(2 log 6 / 5) = 1.85, arm 0 again
    # t = 10: sqrt(2 log 10 / 5) = 0.96 against 1 + 0.96
    assert holds == [(0, 1, 0), (1, 1, 0), (1, 4, 0), (0, 4, 0), (1, 6, 0)]


def test_a_hold_always_fits_a_64_bit_word() -> None:
    settings = policy.settings(2, 1, None, {"growth": "double"})
    state = policy.start(settings)
    state.holds[:] = [500, 500]
    assert policy.next_hold(settings, state, [])[1] == 2**62


def test_neither_window_nor_horizon_is_asked_for() -> None:
    assert policy.needs() == []
    assert policy.options() == ["alpha", "growth"]


def test_an_unknown_growth_and_a_radius_of_nothing_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"no growth named 'squares'; did you mean 'square'\?"):
        policy.settings(2, 1, None, {"growth": "squares"})
    with pytest.raises(BadValue, match=r"^alpha must be a number above 0, got 0$"):
        policy.settings(2, 1, None, {"alpha": 0})
