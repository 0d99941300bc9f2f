"""Exact tests of schedules that ran elsewhere, and the tables that a design can't have made."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from afterglow.errors import BadValue
from afterglow.lab.fit import DesignTest, design_test, fit
from afterglow.lab.fit.coins import drawn_orders
from afterglow.lab.fit.page import page
from afterglow.lab.fit.recorded import Recorded
from afterglow.lab.schedule import as_csv, schedule
from afterglow.rng import uniform

NAMES = ("A", "B", "C")


def recorded(arms: list[int], length: int, totals: NDArray[np.float64], season: int = 1) -> Recorded:
    steps = np.repeat(arms, length)
    return Recorded(NAMES[: max(arms) + 1], steps, np.asarray(totals, float).copy(), 0, season)


def noise(turns: int, length: int, seed: int = 1) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(10, 1, turns * length)


def test_blocks_are_tested_like_the_policy_tests_them() -> None:
    arms = [0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1]
    totals = noise(12, 5) + np.repeat(arms, 5)
    found = design_test(recorded(arms, 5, totals), 3, 5, "blocks")
    means = totals.reshape(12, 5)[:, 2:].mean(axis=1)
    differences = np.array([means[2 * b + arms[2 * b]] - means[2 * b + 1 - arms[2 * b]] for b in range(6)])
    sums = [abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=6)]
    assert found.test.p == pytest.approx(np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9))
    assert found.test.pairs[0].difference == pytest.approx(differences.mean())
    assert (found.turns, found.turns_left_out, found.test.blocks) == (12, 0, 6)
    assert found.sentence == "B is better than A: p = 0.031, by re-drawing the schedule"


def washed_difference(arms: tuple[int, ...], totals: NDArray[np.float64], length: int, washout: int) -> float:
    """The statistic of a coin design, step by step."""
    steps = np.repeat(arms, length)
    kept: list[list[float]] = [[], []]
    for step in range(washout, len(steps)):
        if len(set(steps[step - washout : step + 1])) == 1:
            kept[steps[step]].append(totals[step])
    return abs(float(np.mean(kept[0]) - np.mean(kept[1]))) if kept[0] and kept[1] else 0.0


@pytest.mark.parametrize("length", [2, 4, 7])
def test_coins_are_drawn_again_turn_by_turn_with_their_washed_steps(length: int) -> None:
    arms = (0, 0, 1, 0, 1, 1, 1, 0, 0, 1)
    totals = noise(10, length) + 0.5 * np.repeat(arms, length)
    found = design_test(recorded(list(arms), length, totals), 4, length, "coin")
    seen = washed_difference(arms, totals, length, 3)
    others = [washed_difference(one, totals, length, 3) for one in product((0, 1), repeat=10)]
    assert abs(found.test.pairs[0].difference) == pytest.approx(seen)
    assert found.test.p == pytest.approx(np.mean(np.array(others) >= seen - 1e-9))
    assert found.test.every_order


def test_coins_of_three_arms_leave_the_third_where_it_was() -> None:
    arms = [0, 1, 2, 2, 1, 0, 0, 2, 1, 1, 0, 2, 0, 1]
    totals = noise(14, 4) + 3.0 * (np.repeat(arms, 4) == 2)
    test = design_test(recorded(arms, 4, totals), 2, 4, "coin").test
    assert not test.every_order
    assert test.p < 0.01
    assert test.pair("A", "B").p > 0.05
    assert test.better("C") is not None


def test_drawn_orders_are_those_of_the_plain_generator() -> None:
    drawn = drawn_orders(3, 5, 12345)
    assert drawn[7].tolist() == [int(3 * uniform(12345, 35 + place)) for place in range(5)]


@pytest.mark.parametrize(
    ("arms", "design", "says"),
    [
        ([0, 1, 0, 0, 1, 0], "blocks", "turn 4, steps 12 to 15, has A, as turn 3 of the same block of 2 turns has"),
        ([0, 0, 1, 1], "blocks", "turn 2, steps 4 to 7, has A, as turn 1"),
    ],
)
def test_the_first_turn_that_breaks_the_design_is_named(arms: list[int], design: str, says: str) -> None:
    with pytest.raises(BadValue, match=says) as refusal:
        design_test(recorded(arms, 4, noise(len(arms), 4)), 2, 4, design)
    assert (refusal.value.kind, refusal.value.field) == ("not-the-design", "design")


def test_hostile_tables_are_refused_by_name() -> None:
    table = recorded([0, 1, 1, 0], 6, noise(4, 6))
    with pytest.raises(BadValue, match="turn 2, steps 5 to 9, begins with A and has B from step 6 on"):
        design_test(table, 2, 5, "coin")
    with pytest.raises(BadValue, match="turns must be at least the window, 7"):
        design_test(table, 7, 6, "blocks")
    with pytest.raises(BadValue, match="turns must leave at least two whole turns"):
        design_test(recorded([0, 0, 0, 1], 6, noise(4, 6)), 7, 13, "coin")
    with pytest.raises(BadValue, match="no design named 'block'; did you mean 'blocks'"):
        design_test(table, 2, 6, "block")
    table.arm[6:12] = -1
    with pytest.raises(BadValue, match="turn 2, steps 6 to 11, has no rows"):
        design_test(table, 2, 6, "blocks")
    empty = recorded([0, 1, 1, 0], 6, np.full(24, np.nan))
    with pytest.raises(BadValue, match="no block has a total of every arm"):
        design_test(empty, 2, 6, "blocks")
    with pytest.raises(BadValue, match="no step of A has the same arm in the 20 steps before it"):
        design_test(recorded([0, 1, 1, 0], 6, noise(4, 6)), 21, 6, "coin")


def test_steps_without_totals_are_counted_and_turns_without_any_left_out() -> None:
    totals = noise(9, 5)
    totals[7] = np.nan
    totals[20:25] = np.nan  # the fifth turn
    found = design_test(recorded([0, 1, 1, 0, 0, 1, 1, 0, 1], 5, totals), 2, 5, "blocks")
    assert (found.turns, found.turns_left_out, found.steps_without_total, found.test.blocks) == (6, 3, 1, 3)


def size(window: int, told: int, season: int, design: str) -> float:
    """How often a true "alike" is rejected under a day, a trend and noise that lingers."""
    rng = np.random.default_rng(5)
    runs, length, rejected = 400, 6, 0
    turns = 16 if design == "blocks" else 10
    for _ in range(runs):
        if design == "blocks":
            arms = np.concatenate([rng.permutation(2) for _ in range(8)])
        else:
            arms = rng.integers(0, 2, turns)
        steps = np.arange(turns * length)
        lingering = np.convolve(rng.standard_t(2, len(steps)), 0.9 ** np.arange(40))[: len(steps)]
        totals = 10 + 3 * np.sin(steps / 8 * 2 * np.pi) + 0.02 * steps + lingering
        table = recorded(arms.tolist(), length, totals, season)
        table.names = NAMES[:2]
        try:
            rejected += design_test(table, told, length, design).test.p <= 0.05
        except BadValue:  # one arm alone was drawn
            continue
    return rejected / runs


@pytest.mark.parametrize(("told", "season", "design"), [(3, 1, "blocks"), (5, 8, "blocks"), (5, 8, "coin")])
def test_the_size_holds_with_adjusted_totals_and_a_wrong_window(told: int, season: int, design: str) -> None:
    rejected = size(5, told, season, design)
    assert rejected < 0.05 + 4.9 * math.sqrt(0.05 * 0.95 / 400)


def test_expected_totals_and_a_season_make_the_test_sharper() -> None:
    rng = np.random.default_rng(8)
    arms = np.concatenate([rng.permutation(2) for _ in range(10)]).tolist()
    demand = np.repeat(rng.normal(0, 5, 20), 6)
    totals = 20 + demand + rng.normal(0, 0.3, 120) + np.repeat(arms, 6)
    rows = "".join(
        f"{step},{NAMES[arms[step // 6]]},{total},{20 + demand[step]}\n" for step, total in enumerate(totals)
    )
    text = "step,arm,total,awaited\n" + rows
    plain = fit(text, 2, 200.0, design="blocks", turns=6, reading={"column": "total"}).test
    sharp = fit(text, 2, 200.0, design="blocks", turns=6, expected="awaited", reading={"column": "total"}).test
    assert isinstance(plain, DesignTest)
    assert isinstance(sharp, DesignTest)
    assert plain.test.p > 0.05
    assert sharp.test.p == 2 / 2**10
    assert sharp.adjusted == "expected totals"
    with pytest.raises(BadValue, match="turns is for the test of a schedule, which needs design too"):
        fit(text, 2, turns=6, reading={"column": "total"})
    with pytest.raises(BadValue, match="design is for the test of a schedule, which needs turns too"):
        fit(text, 2, design="coin", reading={"column": "total"})


def test_a_schedule_taken_away_comes_back_tested() -> None:
    turns = schedule(["49", "59", "69"], 6, 400, 6, seed=7)
    rng = np.random.default_rng(1)
    empty = as_csv(turns)
    lines = empty.splitlines()
    better = [f"{line}{100 + rng.normal(0, 3) + 6 * (',59,' in line):.3f}" for line in lines[1:]]
    found = fit("\n".join([lines[0], *better, ""]), 6, 500.0, design="blocks", turns=11)
    assert found.test is not None
    assert found.test.test.better("59") is not None
    assert found.to_dict()["test"]["test"]["blocks"] == 12
    assert "Exact test of the schedule" in page(found)
