"""Phased elimination: its schedule, its phases, and when it commits."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.policies._elimination import State, drop, gaps
from afterglow.policies.phased_elimination import policy, pulls_needed, schedule
from support.worlds.steady import steady


def test_the_schedule_is_that_of_the_formula() -> None:
    assert schedule(100_000, 1) == [82, 280, 942, 3_056, 9_383, 26_175, 59_273]
    # T = 1e4, d = 10, m = 1: L = log 2500 = 7.8240, (2.7971 + sqrt(7.8240 + 18))**2 / 0.5 = 124.15
    assert schedule(10_000, 10)[0] == 125
    # m = 2: L = log 625 = 6.4378, (2.5373 + sqrt(6.4378 + 18))**2 / 0.125 = 447.69
    assert schedule(10_000, 10)[1] == 448


@given(st.integers(11, 10**12), st.integers(1, 10_000))
def test_the_last_pulls_make_chance_and_leak_half_the_gap_and_one_less_would_not(horizon: int, window: int) -> None:
    for phase, gap in enumerate(gaps(horizon, 0.5), 1):

        def error(pulls: float, m: int = phase, level: float = math.log(horizon * gap * gap)) -> float:
            return math.sqrt(level / (2 * pulls)) + m * (window - 1) / pulls

        pulls = pulls_needed(horizon, window, phase, gap)
        assert error(pulls) <= gap / 2 * (1 + 1e-12)
        assert error(pulls - 1) >= gap / 2 * (1 - 1e-12)


@given(st.integers(1, 10**13), st.integers(1, 100_000))
def test_the_schedule_grows_from_phase_to_phase_until_the_policy_commits(horizon: int, window: int) -> None:
    found = schedule(horizon, window)
    assert all(before < after for before, after in pairwise(found))


def test_the_phases_end_where_the_pulls_would_fall() -> None:
    assert len(schedule(100_000, 1)) == 7
    assert pulls_needed(100_000, 1, 8, 2.0**-8) == 55_388 < schedule(100_000, 1)[-1]
    assert 100_000 * 4.0**-7 >= math.e > 100_000 * 4.0**-8


def test_every_active_arm_is_held_in_order_and_topped_up_in_the_next_phase() -> None:
    settings = policy.settings(3, 1, 100_000)
    holds, state = steady(policy, settings, [0.5, 0.6, 0.55], horizon=3 * 942)
    assert holds == [(arm, steps, 0) for steps in (82, 280 - 82, 942 - 280) for arm in range(3)]
    assert state.pulls == [942] * 3


def test_an_arm_leaves_when_it_loses_by_more_than_the_gap_of_the_phase() -> None:
    settings = policy.settings(4, 1, 100_000)
    # phase 1 drops what loses by more than 1/2, phase 2 by more than 1/4, phase 3 by more than 1/8
    holds, state = steady(policy, settings, [0.9, 0.3, 0.6, 0.78], horizon=100_000)
    phases = [(arm, 82) for arm in (0, 1, 2, 3)] + [(arm, 198) for arm in (0, 2, 3)]
    phases += [(arm, steps) for steps in (662, 2114) for arm in (0, 3)]
    assert [(arm, steps) for arm, steps, _ in holds] == [*phases, (0, 100_000 - sum(steps for _, steps in phases))]
    assert state.active == [1, 0, 0, 0]
    assert policy.recommend is not None
    assert policy.recommend(settings, state) == 0


def test_an_arm_that_loses_by_exactly_the_gap_stays() -> None:
    state = State([8, 8, 8], [8.0, 4.0, 3.875], [1, 1, 1], 0, 3, 24)
    drop(state, 0.5)
    assert state.active == [1, 1, 0]


def test_a_dropped_arm_does_not_set_the_bar() -> None:
    state = State([10, 10, 10], [10.0, 5.0, 4.0], [0, 1, 1], 0, 3, 30)
    drop(state, 0.25)
    assert state.active == [0, 1, 1]


def test_a_hold_cut_by_the_horizon_drops_no_arm() -> None:
    settings = policy.settings(2, 1, 163)
    first = settings.schedule[0]
    horizon = 2 * first - 1
    _, cut = steady(policy, settings, [1.0, 0.0], horizon)
    assert (cut.active, cut.phase, cut.pulls) == ([1, 1], 0, [first, first - 1])
    _, whole = steady(policy, settings, [1.0, 0.0], horizon + 1)
    assert whole.active == [1, 0]


def test_after_the_last_phase_the_best_arm_left_is_held_to_the_end() -> None:
    settings = replace(policy.settings(2, 1, 1000), schedule=[10, 30], margins=[0.5, 0.25])
    holds, state = steady(policy, settings, [0.5, 0.51], 1000)
    assert holds == [(0, 10, 0), (1, 10, 0), (0, 20, 0), (1, 20, 0), (1, 940, 0)]
    assert state.active == [1, 1]


def test_a_horizon_too_short_for_a_phase_is_one_hold() -> None:
    settings = policy.settings(2, 3, 10)
    assert settings.schedule == []
    assert steady(policy, settings, [0.1, 0.9], 10)[0] == [(0, 10, 0)]


def test_the_arm_to_keep_is_a_tried_one() -> None:
    settings = policy.settings(3, 1, 100)
    _, state = steady(policy, settings, [0.2, 0.1, 0.9], horizon=30)
    assert policy.recommend is not None
    assert state.pulls[2] == 0
    assert policy.recommend(settings, state) == 0


def test_a_window_of_nothing_is_refused() -> None:
    with pytest.raises(BadValue, match=r"^window must be a whole number of at least 1 \(1 = paid at once\), got 0$"):
        policy.settings(2, 0, 100)
