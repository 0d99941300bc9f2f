"""Over a stretch of one arm, totals and rewards differ by at most window - 1, whatever the spread."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.theory import leak, lemma_1, lemma_1_paper, lemma_2_paper

UNIT = 64  # rewards are whole numbers of 64ths, so that sums are exact


def arrivals(cuts: list[list[int]], window: int) -> list[int]:
    """X: what arrives at each step, the window after the last pull included."""
    totals = [0] * (len(cuts) + window)
    for step, cut in enumerate(cuts):
        for lag, part in enumerate(cut):
            totals[step + lag] += part
    return totals


def runs_of(arms: list[int]) -> list[tuple[int, int]]:
    """The runs of a sequence of arms as (first step, step after the last)."""
    edges = [0, *(step for step in range(1, len(arms)) if arms[step] != arms[step - 1]), len(arms)]
    return list(pairwise(edges))


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[int], list[list[int]]]:
    """A window, arms played in holds, and each pull's reward cut over its window in any way."""
    window = draw(st.integers(1, 7))
    holds = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 12)), min_size=1, max_size=7))
    arms = [arm for arm, steps in holds for _ in range(steps)]
    cuts = []
    for _ in arms:
        reward = draw(st.integers(0, UNIT))
        marks = sorted(draw(st.lists(st.integers(0, reward), min_size=window - 1, max_size=window - 1)))
        cuts.append([b - a for a, b in zip([0, *marks], [*marks, reward], strict=True)])
    return window, arms, cuts


@given(histories())
def test_a_run_leaks_at_most_window_minus_one(history: tuple[int, list[int], list[list[int]]]) -> None:
    window, arms, cuts = history
    totals = arrivals(cuts, window)
    for first, last in runs_of(arms):
        seen = sum(totals[first:last])
        generated = sum(sum(cut) for cut in cuts[first:last])
        assert abs(seen - generated) <= leak(window) * UNIT


@given(histories(), st.data())
def test_so_does_any_stretch_of_steps_whole_hold_or_not(
    history: tuple[int, list[int], list[list[int]]], data: st.DataObject
) -> None:
    window, arms, cuts = history
    totals = arrivals(cuts, window)
    first = data.draw(st.integers(0, len(arms) - 1))
    last = data.draw(st.integers(first + 1, len(arms)))
    generated = sum(sum(cut) for cut in cuts[first:last])
    assert abs(sum(totals[first:last]) - generated) <= leak(window) * UNIT


@given(histories())
def test_an_arm_leaks_at_most_window_minus_one_per_run(history: tuple[int, list[int], list[list[int]]]) -> None:
    window, arms, cuts = history
    totals = arrivals(cuts, window)
    for arm in set(arms):
        seen = sum(totals[step] for step, played in enumerate(arms) if played == arm)
        generated = sum(sum(cuts[step]) for step, played in enumerate(arms) if played == arm)
        runs = sum(1 for first, _ in runs_of(arms) if arms[first] == arm)
        assert abs(seen - generated) <= leak(window, runs) * UNIT


def hoarded(change: int, window: int) -> Callable[[int], int]:
    """An adversary: pulls before `change` pay at the first step of the new arm, or at the deadline."""
    return lambda step: min(window - 1, change - step) if step < change else 0


@pytest.mark.parametrize("window", [1, 2, 5, 24])
@pytest.mark.parametrize("length", [24, 60])
def test_the_bound_is_reached_from_both_sides(window: int, length: int) -> None:
    change = length  # one run before, one after
    lag = hoarded(change, window)
    cuts = [[UNIT if part == lag(step) else 0 for part in range(window)] for step in range(2 * length)]
    totals = arrivals(cuts, window)
    first, second = sum(totals[:change]), sum(totals[change : 2 * length])
    assert first - length * UNIT == -leak(window) * UNIT
    assert second - length * UNIT == leak(window) * UNIT


def test_the_paper_allows_one_pull_too_many_per_hold() -> None:
    assert lemma_1_paper(10, 466) == pytest.approx(10 / 466)
    assert lemma_1(10, 466) == pytest.approx(9 / 466)
    assert lemma_1(1, 3) == 0
    assert lemma_2_paper(10, 3) == 27
