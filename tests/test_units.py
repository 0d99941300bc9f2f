"""`Units`: one experiment over several units, from the first step to the exact test."""

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from afterglow import Units
from afterglow.errors import AfterglowError, BadFormat, BadValue, HorizonReached, OutOfTurn

NORTH = ["north", "south", "east", "west"]


def played(team: Units, steps: int, seed: int = 1, gap: float = 0.1) -> Units:
    """Play steps in which arm number k is worse by k gaps, under a shock that all units share."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        plan = team.select()
        common = rng.normal(0, 0.5)
        team.update(
            {unit: 100 * (1 + common - gap * team.arms.index(arm) + rng.normal(0, 0.05)) for unit, arm in plan.items()}
        )
    return team


def team(**given: Any) -> Units:
    place: dict[str, Any] = {"arms": ["A", "B", "C"], "units": NORTH, "window": 4, "horizon": 200, "seed": 7}
    return Units(**place | given)


def test_a_shock_that_all_units_share_hides_nothing() -> None:
    done = played(team(levels=dict.fromkeys(NORTH, 100.0)), 200)
    assert done.recommend() == "A"
    assert done.finished
    found = done.estimates()
    assert found["A"].difference == 0
    assert -0.3 < found["C"].low < -0.2 < found["C"].high < 0
    assert "best" in str(found)
    assert not done.alarm


def test_an_experiment_continues_from_json_with_the_same_decisions_at_every_step() -> None:
    one = team(horizon=60)
    rng = np.random.default_rng(3)
    for step in range(60):
        other = Units.from_json(one.to_json())
        assert other.select() == one.select()
        if step % 7 == 0:
            other = Units.from_json(one.to_json())
        totals = {unit: float(rng.normal(100, 9)) for unit in NORTH if rng.random() > 0.1}
        for each in (one, other):
            each.update(totals, outside=["east"] if step % 13 == 0 else [])
        assert other.to_json() == one.to_json()
        one = other
    assert one.test(99) == Units.from_json(one.to_json()).test(99)


def test_the_exact_test_rejects_an_effect_and_not_its_absence() -> None:
    units = [f"u{i}" for i in range(8)]
    assert played(Units(3, units, 4, 120), 120, gap=0.1).test(199).p <= 3 / 200
    without = [played(Units(3, units, 4, 60, seed=seed), 60, seed, gap=0.0).test(19).p for seed in range(40)]
    assert min(without) >= 1 / 20
    assert 0.25 < float(np.mean(without)) < 0.8


def test_two_units_can_not_be_tested_and_the_answer_shows_why() -> None:
    found = played(Units(2, ["a", "b"], 4, 60), 60).test(99)
    assert (found.p, found.same) == (1.0, 99)


def test_a_plan_under_other_names_is_the_same_one_in_spite_of_rounding() -> None:
    """Four units on three arms: which two are alike, and which way they move, makes twelve plans."""
    for seed in range(2):
        found = played(Units(3, list("abcd"), 4, 120, dict.fromkeys("abcd", 100.0), seed=seed), 120, seed).test(199)
        assert 6 <= found.same <= 30
        assert found.p >= (1 + found.same) / 200


def test_a_lost_step_of_one_unit_costs_its_own_cell_and_leaving_the_plan_also_the_window_after_it() -> None:
    one = team(arms=2, window=9, horizon=90)
    assert (one.settings.slot, one.settings.washout) == (8, 1)
    for step in range(32):
        one.select()
        left = {10: ["west"]}.get(step, [])
        one.update({unit: 1.0 for unit in NORTH if (step, unit) != (9, "east")}, outside=left)
    lost = [tuple(round_.lost) for round_ in one._played]
    assert lost == [(0, 0, 0, 0), (0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 0, 0)]
    with pytest.raises(OutOfTurn, match=r"test\(\) is one look at the end, 58 of 90 steps are left"):
        one.test()


@pytest.mark.parametrize("wild", [1e100, -1e100, 0.0, 1e-320])
def test_wild_totals_of_one_unit_leave_the_others_comparable(wild: float) -> None:
    one = team(levels=None)
    rng = np.random.default_rng(5)
    for step in range(200):
        plan = one.select()
        totals = {unit: 100 * (1 - 0.1 * one.arms.index(arm)) + rng.normal(0, 5) for unit, arm in plan.items()}
        one.update(totals | {"west": wild if step % 50 < 20 else totals["west"]})
    assert one.recommend() in one.arms
    assert 0 < one.test(19).p <= 1
    assert Units.from_json(one.to_json()).estimates() == one.estimates()


def test_totals_may_be_negative_and_of_any_kind_of_number() -> None:
    one = team()
    one.select()
    one.update({"north": -3, "south": Decimal("2.5"), "east": np.float64(1.5), "west": None})
    assert one.step == 1


@pytest.mark.parametrize(
    ("totals", "outside", "sentence"),
    [
        ({"nord": 3.0}, [], "no unit named 'nord'; did you mean 'north'? the units are north, south, east, west"),
        ({"north": float("nan")}, [], "totals must have finite numbers of at most 1e+100, got nan for 'north'"),
        ({"north": 1e101}, [], "totals must have finite numbers of at most 1e+100, got 1e+101"),
        ({"north": True}, [], "totals must have finite numbers of at most 1e+100, got True for 'north'"),
        ({"north": Decimal("Infinity")}, [], "totals must have finite numbers of at most 1e+100"),
        ([1.0, 2.0], [], "totals must be a mapping from units to totals, got [1.0, 2.0]"),
        ({}, ["nowhere"], "no unit named 'nowhere'"),
    ],
)
def test_what_is_no_total_is_refused_and_changes_nothing(totals: Any, outside: Any, sentence: str) -> None:
    one = team()
    with pytest.raises(OutOfTurn, match=r"call select\(\)"):
        one.update({})
    one.select()
    before = one.to_json()
    with pytest.raises(AfterglowError) as refusal:
        one.update(totals, outside)
    assert sentence in str(refusal.value)
    assert one.to_json() == before


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"units": ["a"]}, "units must be at least 2, got ['a']"),
        ({"units": ["a", "a"]}, "units must have different names, got 'a' 2 times"),
        ({"units": 201}, "units must be at most 200 where units are compared, got 201"),
        ({"arms": 21}, "arms must be at most 20 where units are compared, got 21"),
        ({"levels": {"north": 1}}, "levels must have all units or be left out, south, east, west are missing"),
        ({"levels": dict.fromkeys([*NORTH, "up"], 1)}, "no unit named 'up'; the units are north, "),
        ({"levels": dict.fromkeys(NORTH, 0)}, "levels of north must be a number above 1e-30"),
        ({"policy": "lean-ucb"}, "policy must decide for several units, lean-ucb decides for one; take panel-elim"),
        ({"policy": "panel"}, "no policy named 'panel'"),
        ({"comit": 3}, "no setting of panel-elimination named 'comit'; did you mean 'commit'?"),
        ({"horizon": 5}, "panel-elimination needs 2 slots of 4 steps = 8 to count anything, the horizon is 5"),
    ],
)
def test_what_can_not_be_an_experiment_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        team(**wrong)
    assert sentence in str(refusal.value)


def test_nothing_is_selected_after_the_horizon() -> None:
    done = played(team(horizon=8), 8)
    with pytest.raises(HorizonReached):
        done.select()


@pytest.mark.parametrize("change", [{"step": 3}, {"regular": [1, 2]}, {"selected": 1}])
def test_a_stored_text_that_contradicts_itself_is_refused(change: dict[str, Any]) -> None:
    from afterglow import records

    values = json.loads(played(team(), 8).to_json())
    values["progress"] |= change
    with pytest.raises(BadFormat):
        Units.from_json(records.write({name: value for name, value in values.items() if name != "check"}))


def test_a_policy_for_units_is_refused_where_there_is_one_total() -> None:
    from afterglow import Agent

    with pytest.raises(BadValue, match="panel-elimination decides for several units"):
        Agent(3, 4, 100, policy="panel-elimination")
