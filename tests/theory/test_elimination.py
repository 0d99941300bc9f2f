"""The schedule of Algorithm 2, Theorem 2 as printed, and a sharper one."""

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from afterglow.policies._elimination import gaps as phase_gaps
from afterglow.theory import (
    auer_ortner,
    hoeffding,
    leak,
    lemma_3_paper,
    pulls_at_elimination,
    pulls_needed,
    pulls_root,
    resolving_phase,
    schedule,
    theorem_2_paper,
    theorem_2_sharper,
)

horizons = st.integers(11, 10**12)
windows = st.integers(1, 10**4)


@given(horizons, windows)
def test_the_pulls_of_a_phase_solve_their_quadratic(horizon: int, window: int) -> None:
    for phase, gap in enumerate(phase_gaps(horizon, 0.5), 1):
        root = pulls_root(horizon, window, phase, gap)
        chance = math.sqrt(math.log(horizon * gap * gap) / (2 * root))
        assert chance + leak(window, phase) / root == pytest.approx(gap / 2)
        assert 0 <= pulls_needed(horizon, window, phase, gap) - root < 1
        assert 2 * hoeffding(root, chance) == pytest.approx(lemma_3_paper(horizon, gap))


@given(horizons, windows)
def test_the_schedule_grows_until_the_policy_commits(horizon: int, window: int) -> None:
    pulls = schedule(horizon, window)
    assert all(a < b for a, b in pairwise(pulls))


def test_one_phase_later_it_would_fall() -> None:
    assert schedule(10**5, 1)[-1] == pulls_needed(10**5, 1, 7, 2.0**-7) == 59_273
    assert pulls_needed(10**5, 1, 8, 2.0**-8) == 55_388


@given(horizons, windows, st.floats(0.001, 1))
def test_an_arm_is_dropped_within_the_stated_pulls(horizon: int, window: int, gap: float) -> None:
    assume(gap >= 4 * math.sqrt(math.e / horizon))
    phase = resolving_phase(gap)
    assert gap / 4 <= 2.0**-phase < gap / 2
    assert phase <= len(schedule(horizon, window))  # so it is played before the policy commits
    assert schedule(horizon, window)[phase - 1] <= pulls_at_elimination(gap, horizon, window) * (1 + 1e-12)


@given(horizons, windows, st.lists(st.floats(0.001, 1), min_size=1, max_size=6))
def test_the_sharper_theorem_is_below_the_printed_one(horizon: int, window: int, gaps: list[float]) -> None:
    assume(min(gaps) > 4 * math.sqrt(math.e / horizon))
    arms = len(gaps) + 1
    assert theorem_2_sharper(arms, horizon, window, gaps) <= theorem_2_paper(arms, horizon, window, gaps)


@given(st.integers(2, 30), horizons, windows)
def test_the_bound_for_any_gaps_is_above_that_for_some(arms: int, horizon: int, window: int) -> None:
    for bound in (theorem_2_paper, theorem_2_sharper):
        free = bound(arms, horizon, window)
        for gap in (1.0, 0.3, 10 / math.sqrt(horizon), math.e / math.sqrt(horizon)):
            equal = [min(1.0, gap)] * (arms - 1)
            assert min(bound(arms, horizon, window, equal), horizon * equal[0]) <= free * (1 + 1e-9)


def test_the_printed_theorem_is_its_formula() -> None:
    T, d, gap = 10**6, 8, 0.2
    one_arm = gap + 64 * math.log(T * gap**2) / gap + 64 * math.log(2 / gap) * (d - 1) + 96 / gap
    assert theorem_2_paper(2, T, d, [gap]) == pytest.approx(one_arm)
    small = 0.001  # below the least threshold: played all along, and 64 over the threshold
    threshold = math.sqrt(math.e / T)
    assert theorem_2_paper(3, T, d, [gap, small]) == pytest.approx(one_arm + 64 / threshold + T * small)


def test_a_second_best_arm_counts_among_the_small_gaps_where_the_proof_needs_it() -> None:
    alone, shared = theorem_2_sharper(2, 10**6, 8, [0.2]), theorem_2_sharper(3, 10**6, 8, [0, 0, 0.2])
    assert shared == theorem_2_sharper(3, 10**6, 8, [0, 0.2])
    assert shared == pytest.approx(alone + 64 / (4 * math.sqrt(math.e / 10**6)))


def test_the_bound_of_improved_ucb_is_that_of_its_paper() -> None:
    T, gap = 10**6, 0.2
    assert auer_ortner(2, T, [0, gap]) == pytest.approx(gap + 32 * math.log(T * gap**2) / gap + 96 / gap)


@given(st.integers(2, 30), windows, st.integers(1000, 10**9))
def test_bounds_grow_with_window_and_horizon(arms: int, window: int, horizon: int) -> None:
    for bound in (theorem_2_paper, theorem_2_sharper):
        assert bound(arms, horizon, window + 1) >= bound(arms, horizon, window)
        assert bound(arms, 2 * horizon, window) >= bound(arms, horizon, window)
