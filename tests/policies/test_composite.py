"""The composite wrapper around EXP3 and Tsallis-INF."""

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.policies import Policy
from afterglow.policies.composite import (
    drawn,
    exp3,
    exp3_rate,
    exponential_weights,
    geometric,
    tsallis,
    tsallis_weights,
)

LOSSES = st.lists(st.floats(0, 1e12), min_size=2, max_size=40)


def test_a_hold_lasts_twice_the_window_and_a_geometric_time_and_shows_its_last_window() -> None:
    settings = exp3.settings(4, 3, 10_000)
    state = exp3.start(settings)
    # q = 1/10: G >= g when 1 - u <= 0.9**g; 0.9**6 = 0.5314, 0.9**7 = 0.4783
    assert exp3.next_hold(settings, state, [0.0, 0.0]) == (0, 6, 3)
    assert exp3.next_hold(settings, state, [0.25, 0.5]) == (1, 12, 9)
    assert exp3.next_hold(settings, state, [0.999, 0.53]) == (3, 13, 10)


@pytest.mark.parametrize("success", [1 / 2, 1 / 38, 1 / 798])
def test_the_extra_steps_are_geometric(success: float) -> None:
    for g in (0, 1, 2, 10, 300):
        edge = -math.expm1(g * math.log1p(-success))  # G >= g from this uniform on
        if edge < 1 - 1e-9:
            assert geometric(success, edge + 1e-9 * (1 - edge)) >= g
            assert g == 0 or geometric(success, edge - 1e-9 * (1 - edge)) < g
    random, many = Random(5), 40_000
    mean = sum(geometric(success, random.random()) for _ in range(many)) / many
    deviation = math.sqrt((1 - success) / success**2 / many)
    assert abs(mean - (1 - success) / success) < 6 * deviation


def test_arms_are_drawn_by_the_cumulated_chances() -> None:
    chances = [0.25, 0.0, 0.5, 0.25]
    assert [drawn(chances, u) for u in (0.0, 0.2499, 0.25, 0.7499, 0.75, 0.9999)] == [0, 0, 2, 2, 3, 3]


def test_rounding_never_draws_an_arm_without_a_chance() -> None:
    assert drawn([0.0, 0.3, 0.7 - 1e-12, 0.0], 1 - 2**-53) == 2
    assert drawn([0.0, 1.0], 0.0) == 1


@given(LOSSES, st.floats(1e-6, 1))
def test_exponential_weights_are_chances(losses: list[float], rate: float) -> None:
    chances = [0.0] * len(losses)
    exponential_weights(losses, rate, chances)
    assert math.fsum(chances) == pytest.approx(1, rel=1e-12)
    best = losses.index(min(losses))
    for loss, chance in zip(losses, chances, strict=True):
        assert chance == pytest.approx(chances[best] * math.exp(-rate * (loss - losses[best])), rel=1e-9)


@given(LOSSES, st.integers(1, 10**9))
def test_tsallis_weights_are_chances_of_the_stated_form(losses: list[float], updates: int) -> None:
    chances = [0.0] * len(losses)
    tsallis_weights(losses, updates, chances)
    assert math.fsum(chances) == pytest.approx(1, rel=1e-12)
    assert all(0 < chance <= 1 for chance in chances)
    rate, best = 2 / math.sqrt(updates), losses.index(min(losses))
    distance = 2 / (rate * math.sqrt(chances[best]))  # min(losses) - x
    for loss, chance in zip(losses, chances, strict=True):
        assert chance == pytest.approx(4 / (rate * (loss - losses[best] + distance)) ** 2, rel=1e-9)


def test_tsallis_weights_by_hand() -> None:
    # u = 4: with x 2.5 below the smaller loss and 10/3 below the larger, 4 / 6.25 + 4 / 11.11 = 0.64 + 0.36
    chances = [0.0, 0.0]
    tsallis_weights([7.0, 7.0 + 10 / 3 - 2.5], 4, chances)
    assert chances == pytest.approx([0.64, 0.36], rel=1e-13)


def test_equal_losses_leave_all_arms_alike() -> None:
    chances = [0.0] * 1000
    tsallis_weights([3.0] * 1000, 9, chances)
    assert chances == pytest.approx([1e-3] * 1000, rel=1e-12)


def test_the_loss_is_one_less_the_share_of_the_last_window_weighted_by_the_chance() -> None:
    settings = exp3.settings(4, 3, 10_000)
    state = exp3.start(settings)
    exp3.learn(settings, state, 2, 12, 9, 100.0, 2.4)
    assert state.losses == pytest.approx([0, 0, (1 - 2.4 / 6) * 4, 0])
    weight = math.exp(-settings.rate * 2.4)
    assert state.chances == pytest.approx([1 / (3 + weight)] * 2 + [weight / (3 + weight), 1 / (3 + weight)])


def test_tsallis_shrinks_its_rate_from_one_distribution_to_the_next() -> None:
    settings = tsallis.settings(2, 1)
    state = tsallis.start(settings)
    assert state.chances == [0.5, 0.5]
    tsallis.learn(settings, state, 0, 2, 1, 0.0, 1.0)
    assert state.losses == [1.0, 0.0]
    expected = [0.0, 0.0]
    tsallis_weights([1.0, 0.0], 2, expected)
    assert state.chances == expected


@pytest.mark.parametrize("policy", [exp3, tsallis])
@pytest.mark.parametrize(("steps", "split"), [(11, 9), (9, 9), (4, 4), (1, 1)])
def test_a_hold_cut_by_the_horizon_teaches_nothing(policy: Policy[Any, Any], steps: int, split: int) -> None:
    settings = policy.settings(2, 3, 10_000)
    state = policy.start(settings)
    policy.learn(settings, state, 0, steps, split, 1.0, 0.5)
    assert state == policy.start(settings)


def test_the_rate_of_exp3_is_that_of_the_formula_and_at_most_one() -> None:
    assert exp3_rate(5, 10, 100_000) == pytest.approx(4 * math.sqrt(10 * math.log(5) / (21 * 100_000)))
    assert exp3_rate(2, 50, 10) == 1.0


def test_exp3_needs_the_horizon_and_tsallis_does_not() -> None:
    assert exp3.needs() == ["window", "horizon"]
    assert tsallis.needs() == ["window"]
    assert exp3.draws == tsallis.draws == 2
    with pytest.raises(BadValue, match="composite-exp3 needs horizon; give it"):
        exp3.settings(2, 5)
