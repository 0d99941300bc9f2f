"""Constants of Algorithm 1, Theorem 1 as printed, and the one that is proved."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.theory import (
    bias_scale,
    corrected_constant,
    hoeffding,
    hold_length,
    leftover_exponent,
    log_level,
    pulls_constant,
    pulls_corrected,
    pulls_paper,
    pulls_proved,
    radius_scale,
    regret_proved,
    theorem_1_corrected,
    theorem_1_paper,
)

horizons = st.integers(3, 10**12)
windows = st.integers(1, 10**4)
shares = st.floats(0.05, 0.95)


def test_constants_are_those_of_the_text() -> None:
    assert corrected_constant(0.5) == pytest.approx(13.743, abs=5e-4)
    assert corrected_constant(0.75) == pytest.approx(5.635, abs=5e-4)
    assert pulls_constant(4, 2) == pytest.approx(44.985, abs=5e-4)
    assert hold_length(10, 100_000) == 466
    assert hold_length(10, 100_000, "corrected") == 839
    assert hold_length(1, 100_000, "corrected") == 1
    assert log_level(100_000) == pytest.approx(8 * math.log(100_000))


def test_the_papers_split_leaves_a_power_of_the_horizon() -> None:
    assert leftover_exponent(1 / 17) == pytest.approx(3 / 4)
    assert leftover_exponent(1 / 17, factor=8) == pytest.approx(7 / 8)
    assert leftover_exponent(1 / 17, factor=32) == pytest.approx(1 / 2)
    assert leftover_exponent(1 / 9) == pytest.approx(0)  # as printed, 1/9 would have been needed


@given(windows, horizons, shares)
def test_the_corrected_hold_keeps_the_bias_within_its_share_of_the_radius(window: int, horizon: int, a: float) -> None:
    bias = bias_scale(window, hold_length(window, horizon, "corrected", a), horizon)
    assert bias <= (1 - a) / a * (1 + 1e-12)
    assert 1 / a - bias >= 1 - 1e-9
    assert pulls_constant(1 / a, bias) <= corrected_constant(a) * (1 + 1e-9)


@given(windows, horizons, shares)
def test_the_papers_hold_and_radius_are_within_the_theorem_too(window: int, horizon: int, a: float) -> None:
    radius = radius_scale(2 * log_level(horizon, a), horizon)
    bias = bias_scale(window, hold_length(window, horizon, "paper", a), horizon)
    assert radius == pytest.approx(2 / a)
    assert radius - bias >= 2 - 1e-9
    assert pulls_constant(radius, bias) <= (4 / a - 2 + 1 / math.sqrt(2)) ** 2 * (1 + 1e-9)


@given(windows, horizons, st.floats(1e-3, 1))
def test_the_printed_pulls_follow_from_the_proved_ones(window: int, horizon: int, gap: float) -> None:
    hold = hold_length(window, horizon)
    constant = pulls_constant(4, bias_scale(window, hold, horizon))
    assert pulls_proved(gap, horizon, hold, constant) <= pulls_paper(gap, horizon, window)


@given(st.integers(2, 50), windows, horizons)
def test_so_does_the_printed_regret(arms: int, window: int, horizon: int) -> None:
    hold = hold_length(window, horizon)
    constant = pulls_constant(4, bias_scale(window, hold, horizon))
    assert regret_proved(arms, horizon, hold, constant) <= theorem_1_paper(arms, horizon, window)


@given(horizons, st.floats(1e-2, 1), shares)
def test_both_sides_of_the_proof_cost_what_it_says(horizon: int, gap: float, a: float) -> None:
    log_t = math.log(horizon)
    n = corrected_constant(a) * log_t / gap**2  # pulls from which the arm is not chosen
    radius = math.sqrt(log_t / n) / a
    optimistic = hoeffding(n, a * radius)
    pessimistic = hoeffding(n, gap - (2 - a) * radius)
    assert optimistic == pytest.approx(horizon**-2.0, rel=1e-6)
    assert pessimistic == pytest.approx(1 / horizon, rel=1e-6)


@given(st.integers(2, 30), windows, st.integers(3, 10**9))
def test_bounds_grow_with_window_and_horizon(arms: int, window: int, horizon: int) -> None:
    for bound in (theorem_1_paper, theorem_1_corrected):
        assert bound(arms, horizon, window + 1) > bound(arms, horizon, window)
        assert bound(arms, 2 * horizon, window) > bound(arms, horizon, window)
    assert pulls_corrected(0.1, horizon, window + 1) > pulls_corrected(0.1, horizon, window)


def test_the_printed_theorem_is_its_formula() -> None:
    T, K, d, gaps = 10**6, 4, 8, [0, 0.1, 0.2, 0.3]
    root = math.sqrt(T / math.log(T))
    expected = 17 * math.sqrt(T * K * math.log(T)) + (d / 2 * root + 2) * 0.6
    assert theorem_1_paper(K, T, d, gaps) == pytest.approx(expected)
    assert theorem_1_paper(K, T, d) == pytest.approx(17 * math.sqrt(T * K * math.log(T)) + (d / 2 * root + 2) * 3)


def test_known_gaps_choose_the_smaller_of_two_proved_forms() -> None:
    wide, narrow = [0.5, 0.5], [1e-4, 1e-4]
    assert theorem_1_corrected(3, 10**5, 2, wide) == pytest.approx(2 * 0.5 * pulls_corrected(0.5, 10**5, 2))
    assert theorem_1_corrected(3, 10**5, 2, narrow) < theorem_1_corrected(3, 10**5, 2)
    assert theorem_1_corrected(3, 10**5, 2, [0, 0]) == 0


def test_nothing_is_proved_for_holds_too_short_for_their_radius() -> None:
    assert pulls_constant(2, 1.5) == math.inf


@pytest.mark.parametrize(
    ("gaps", "reason"),
    [
        ([0.1], "gaps must be 3, or 2 without the best arm's, got 1"),
        ([0.1, 0.2, 0.3], "one gap of 3 must be 0"),
        ([0.1, 1.5], "gaps must be a number of at least 0 and at most 1"),
        ([0.1, -0.5], "gaps must be a number of at least 0 and at most 1"),
    ],
)
def test_gaps_that_cant_be_are_refused(gaps: list[float], reason: str) -> None:
    with pytest.raises(BadValue, match=reason):
        theorem_1_corrected(3, 1000, 2, gaps)
