"""Improved UCB: rounds, schedule and margin."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.policies.improved_ucb import margins, policy, schedule
from support.worlds.steady import steady


def test_the_schedule_is_that_of_the_formula() -> None:
    # 2 log T = 23.03, 8 log(T/4) = 81.01, 32 log(T/16) = 279.7 at T = 1e5
    assert schedule(100_000) == [24, 82, 280, 942, 3_056, 9_383, 26_175, 59_273]


@given(st.integers(3, 10**13))
def test_the_last_round_is_half_the_binary_logarithm_of_t_over_e(horizon: int) -> None:
    found = schedule(horizon)
    assert len(found) == math.floor(math.log2(horizon / math.e) / 2) + 1
    assert all(before < after for before, after in pairwise(found))


@given(st.integers(3, 10**13))
def test_the_margin_of_a_round_is_at_most_its_gap_and_little_less(horizon: int) -> None:
    for m, (margin, pulls) in enumerate(zip(margins(horizon), schedule(horizon), strict=True)):
        assert margin <= 2.0**-m * (1 + 1e-12)
        assert margin >= 2.0**-m * math.sqrt((pulls - 1) / pulls) * (1 - 1e-12)


def test_the_first_round_drops_only_what_loses_by_nearly_one() -> None:
    settings = policy.settings(3, 1, 100_000)
    assert settings.margins[0] == pytest.approx(2 * math.sqrt(math.log(100_000) / 48))
    holds, state = steady(policy, settings, [1.0, 0.0, 0.5], horizon=24 * 3 + 1)
    assert holds == [(0, 24, 0), (1, 24, 0), (2, 24, 0), (0, 1, 0)]
    assert state.active == [1, 0, 1]


def test_a_lone_survivor_is_held_to_the_end() -> None:
    holds, _ = steady(policy, policy.settings(2, 1, 100_000), [0.0, 1.0], horizon=100_000)
    assert holds == [(0, 24, 0), (1, 24, 0), (1, 100_000 - 48, 0)]


def test_it_asks_for_no_window() -> None:
    assert policy.needs() == ["horizon"]
    assert policy.settings(2, 1, 500) == policy.settings(2, 400, 500)
