"""Differences between arms, and seasons, in fits whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from afterglow.errors import BadValue, UnknownName
from afterglow.lab.fit.fitting import fit
from afterglow.lab.fit.jackknife import moments, regress
from afterglow.lab.fit.recorded import Recorded
from afterglow.lab.fit.regression import regression
from afterglow.lab.reading.tables import Steps
from support.worlds.recorded_steps import MEANS, recorded

WEEK = 28  # steps of a cycle, four a day
WINDOW = 8


def shop(seed: int, effects: tuple[float, ...] = (0.0, 20.0, 40.0), steps: int = 840, cycle: float = 300.0) -> Steps:
    """Income of 1,000 with a week and noise that lingers; arms add effects, paid evenly over the window."""
    random = np.random.default_rng(seed)
    arms: list[int] = []
    while len(arms) < steps:
        arms += [int(random.integers(len(effects)))] * int(random.integers(10, 30))
    played = np.array(arms[:steps])
    noise = np.zeros(steps)
    for step in range(1, steps):
        noise[step] = 0.5 * noise[step - 1] + random.normal(0, 30)
    paid = np.convolve(np.array(effects)[played], np.full(WINDOW, 1 / WINDOW))[:steps]
    week = cycle * np.sin(2 * np.pi * np.arange(steps) / WEEK) + cycle / 2 * (np.arange(steps) % WEEK > 20)
    return Steps(list(range(steps)), ["ABCD"[arm] for arm in played], (1000 + week + noise + paid).tolist(), [])


@pytest.mark.parametrize(("cycle", "season"), [(0.0, 1), (300.0, WEEK), (300.0, 1)])
def test_differences_to_the_best_hold_together(cycle: float, season: int) -> None:
    """Of 600 other fits of each kind 95 % and more held. At 90 % fewer than 40 of 60 have a chance below 3e-7."""
    truth = np.array([0.0, 20.0, 40.0])
    held = 0
    for seed in range(60):
        found = regression(Recorded.of(shop(seed, cycle=cycle), season), WINDOW, 0.95)
        best = int(np.argmax([found.mean(arm)[0] for arm in range(3)]))
        ends = [found.difference(arm, best, 3)[1:] for arm in range(3)]
        held += all(low <= truth[arm] - truth[best] <= high for arm, (low, high) in enumerate(ends))
    assert held >= 40


def test_a_season_that_is_told_makes_differences_sharp() -> None:
    blind, told = (regression(Recorded.of(shop(1), season), WINDOW, 0.95) for season in (1, WEEK))
    widths = [one.difference(2, 0, 1)[2] - one.difference(2, 0, 1)[1] for one in (blind, told)]
    assert widths[1] < widths[0] / 2


def test_a_season_is_solved_for_as_with_a_column_for_each_phase() -> None:
    """The same as dummies whose coefficients add up to zero, in every block left out."""
    random = np.random.default_rng(5)
    places = np.sort(random.choice(400, 300, replace=False))
    columns, totals = random.random((300, 3)), random.random(300)
    found = regress(moments(columns, totals, places, 15, 7), 0.5)
    dummies = np.eye(7)[places % 7][:, :6] - np.eye(7)[places % 7][:, 6:]
    whole = np.hstack([columns, dummies])
    ridge = np.diag([0.5] * 3 + [0.0] * 6)

    def solve(rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.solve(whole[rows].T @ whole[rows] + ridge, whole[rows].T @ totals[rows])[:3])

    assert found.values == pytest.approx(solve(np.ones(300, dtype=bool)), rel=1e-6)
    block = np.arange(300) * 15 // 300
    assert found.without == pytest.approx(np.array([solve(block != one) for one in range(15)]), rel=1e-6)


def test_a_cycle_that_nobody_told_is_noted() -> None:
    steps = shop(2, steps=1344)
    daily = 200 * np.sin(np.arange(1344) * np.pi / 12)
    found = fit(replace(steps, total=(np.array(steps.total) + daily).tolist()), WINDOW)
    assert any("totals follow a cycle of" in note and "; with season=" in note for note in found.notes)
    plain = fit(shop(2, steps=1344, cycle=0.0), WINDOW)
    assert not any("cycle" in note for note in plain.notes)


def test_differences_are_those_of_the_means_and_the_largest_comes_first() -> None:
    found = fit(recorded(1, 3000, 60), window=24, reward_max=1.0)
    mean = {one.arm: one.mean for one in found.means}
    assert [(one.arm, one.than) for one in found.differences] == [("B", "C"), ("A", "C")]
    for one in found.differences:
        assert one.difference == pytest.approx(mean[one.arm] - mean[one.than])
        assert one.low <= MEANS["ABC".index(one.arm)] - MEANS[2] <= one.high
    named = fit(recorded(1, 3000, 60), window=24, reward_max=1.0, against="C")
    for one, other in zip(named.differences, found.differences, strict=True):
        assert other.low < one.low < one.difference == other.difference  # two hold together, not all three pairs


def test_with_a_season_nothing_is_proved_and_the_mean_is_that_of_a_whole_cycle() -> None:
    """Arm B is played at the top of the cycle alone, and yet no better."""
    steps = shop(3, (0.0, 0.0), steps=1120)
    arms = ["B" if step % WEEK > 17 and step % 3 else "A" for step in steps.step]
    found = fit(replace(steps, arm=arms), 1, 10_000.0, season=WEEK)
    assert [one.proved_low for one in found.means] == [None, None]
    assert any(note.startswith("no proved bounds: they need means that don't change") for note in found.notes)
    assert found.season == found.to_dict()["season"] == WEEK
    (one,) = found.differences
    assert one.low <= 0 <= one.high
    assert one.high - one.low < 60


def test_what_cant_be_compared_or_has_too_few_cycles_is_refused() -> None:
    with pytest.raises(BadValue, match=r"a season of 300 steps needs three cycles, 900 steps, the table has 840"):
        fit(shop(1), WINDOW, season=300)
    with pytest.raises(BadValue, match="season must be a whole number of at least 1"):
        fit(shop(1), WINDOW, season=0)
    with pytest.raises(UnknownName, match="no arm named 'E'; the arms are A, B, C"):
        fit(shop(1), WINDOW, against="E")
