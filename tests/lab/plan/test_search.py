"""The searches of a plan: for the smallest gap and the shortest horizon."""

import pytest

from afterglow.lab.plan.search import Search


def test_a_search_finds_where_a_target_is_reached_and_plays_each_value_once() -> None:
    asked: list[float] = []

    def play(value: float) -> float:
        asked.append(value)
        return value / (1 + value)

    search = Search(play, 1.0, 0.01, 100.0)
    assert search.least(0.8) == pytest.approx(4.0, rel=0.03)
    assert search.least(0.95) == pytest.approx(19.0, rel=0.03)
    assert search.least(0.999) is None
    assert search.least(0.001) == 0.01
    assert len(asked) == len(set(asked)) < 30


def test_a_search_never_tells_of_what_it_has_not_played() -> None:
    asked: list[float] = []

    def play(steps: float) -> float | None:
        asked.append(steps)
        return None if steps < 10 else steps / (10 + steps)

    search = Search(play, 7, 3, 1_000, whole=True)
    assert search.least(0.8) == pytest.approx(40, abs=2)
    assert search.least(0.3) == 10
    assert all(isinstance(steps, int) for steps in asked)
    assert search.curve() == [(steps, steps / (10 + steps)) for steps in sorted(asked) if steps >= 10]
