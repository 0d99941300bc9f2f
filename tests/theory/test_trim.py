"""The regret bound of trim-ucb: its parts and how it grows."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.theory import peeling
from afterglow.theory.trim import failure, log_evidence, pulls, regret_bound, settling

gaps = st.floats(0.001, 1)
windows = st.integers(1, 10**4)
evidences = st.floats(2, 60)


def excess(v: float, window: int, f: float) -> float:
    """How far the upper bound of a run of w + v steps may be above its mean."""
    w = window - 1
    return 2 * w / v + (1 + math.sqrt(1 + w / v)) * math.sqrt(f / (2 * v))


@given(gaps, windows, evidences)
def test_a_run_settles_within_the_closed_form(gap: float, window: int, f: float) -> None:
    closed = max(4 * (window - 1) / gap, 9 * f / gap**2)
    assert excess(closed, window, f) <= gap
    v = settling(gap, window, f)
    assert v <= closed
    assert excess(v, window, f) <= gap * (1 + 1e-9)
    assert excess(v * 0.999, window, f) > gap


@given(gaps, evidences)
def test_without_delay_it_settles_where_two_radii_fill_the_gap(gap: float, f: float) -> None:
    assert settling(gap, 1, f) == pytest.approx(2 * f / gap**2)


@given(gaps, windows, evidences)
def test_pulls_are_within_their_closed_form(gap: float, window: int, f: float) -> None:
    w = window - 1
    closed = 14.6 * (4 * w / gap + 9 * f / gap**2) + 13.6 * w + 6.3 * max(16, window) + 1
    assert pulls(gap, window, f) <= closed * (1 + 1e-12)


def test_a_deviation_costs_a_constant_at_level_strict() -> None:
    for exponent in (3, 6, 9, 12, 100):
        horizon = 10**exponent
        f = log_evidence(horizon)
        assert f == pytest.approx(math.log(horizon) + 3 * math.log(math.log(horizon)))
        assert failure(horizon, f) == pytest.approx(math.log2(horizon) * peeling(f, horizon))
        assert horizon * failure(horizon, f) < 8
    assert log_evidence(10**6, "plain") == pytest.approx(math.log(10**6))


@given(st.integers(2, 20), windows, st.integers(100, 10**9), st.sampled_from(["plain", "strict"]))
def test_the_bound_grows_with_window_and_horizon(arms: int, window: int, horizon: int, level: str) -> None:
    bound = regret_bound(arms, horizon, window, level=level, endgame=0)
    assert regret_bound(arms, horizon, window + 1, level=level, endgame=0) > bound
    assert regret_bound(arms, 2 * horizon, window, level=level, endgame=0) > bound


def test_for_fixed_gaps_the_window_counts_once_per_arm_and_the_horizon_by_its_logarithm() -> None:
    known = [0.1, 0.2, 0.3, 0.4]
    base = regret_bound(5, 10**6, 1, known)
    assert regret_bound(5, 10**6, 1001, known) - base < 75 * 5 * 1000
    assert regret_bound(5, 10**12, 1, known) < 3 * base


def test_the_endgame_and_a_second_radius_are_paid_for() -> None:
    known = [0.1, 0.4]
    assert regret_bound(3, 10**5, 10, known) - regret_bound(3, 10**5, 10, known, endgame=0) == pytest.approx(160 * 0.4)
    aside = failure(10**5, log_evidence(10**5)) * 10**5 * 0.9
    double = regret_bound(3, 10**5, 10, known, radii=2)
    assert double - regret_bound(3, 10**5, 10, known) == pytest.approx(aside)


def test_no_bound_is_claimed_for_level_plus() -> None:
    with pytest.raises(BadValue, match="level must be plain or strict for a bound to hold, got 'plus'"):
        regret_bound(3, 10**5, 10, level="plus")
