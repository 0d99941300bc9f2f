"""Randomised schedules in plans: how often their exact test tells, and which length of turns is taken."""

from typing import Any

import numpy as np
import pytest

from afterglow.errors import BadValue
from afterglow.estimation.randomisation import randomisation_test
from afterglow.lab.plan.planner import Plan, plan
from afterglow.lab.plan.power import calls_best, holm
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.schedules import lengths, schedules
from afterglow.lab.plan.trials import Candidate, Effort, fitted
from afterglow.policies.block_means import BlockMeans

EASY: dict[str, Any] = {
    "arms": 2, "window": 4, "horizon": 600, "gap": 0.1, "mean": 0.4, "noise": 0.1, "runs": 80, "seed": 3
}  # fmt: skip


def scenario(**changes: Any) -> Scenario:
    given: dict[str, Any] = {
        "arms": 2, "window": 6, "horizon": 600, "gap": 0.1, "mean": 0.4, "noise": 0.1, "season": 1, "align": 1,
        "swing": 0.2, "spread": "uniform", "reward_max": 1.0, "history": None,
    }  # fmt: skip
    return Scenario(**given | changes)


@pytest.mark.parametrize(("arms", "blocks"), [(2, 7), (3, 8), (2, 16)])
def test_power_is_that_of_the_exact_test(arms: int, blocks: int) -> None:
    rows = np.random.default_rng(2).normal(0, 1, (60, blocks, arms))
    rows[:, :, 1] += 1.2
    called = calls_best(rows, 1)
    exact = []
    for run in rows:
        table = tuple(tuple(float(value) for value in row) for row in run)
        test = randomisation_test(BlockMeans(table, blocks, 0, True, 0), range(arms), 1, 0.95)
        assert test is not None
        exact.append(test.better(1) is not None)
    if blocks < 12:
        assert called.tolist() == exact
    assert 0 < np.mean(exact) < 1
    assert np.mean(called != exact) < 0.1  # both draw swaps where there are many


def test_corrections_are_holms() -> None:
    assert holm(np.array([[0.01, 0.04, 0.03]])).tolist() == [[0.03, 0.06, 0.06]]


def test_lengths_are_half_a_window_to_a_cycle_in_whole_cycles() -> None:
    assert lengths(scenario()) == [3, 6, 12]
    assert lengths(scenario(season=24)) == [3, 6, 12, 24]
    assert lengths(scenario(season=24, align=24)) == [24]


def test_a_schedule_lasts_to_the_end_or_to_half_of_any_horizon() -> None:
    to_end, to_half = schedules(scenario(), Effort(40, 1, 1, lambda _: None))
    assert set(to_end.options) == {"hold"}
    assert to_half.options["until"] == 300
    assert fitted(to_half, scenario(horizon=900)).options == to_half.options | {"until": 450}
    assert fitted(Candidate("washout-ucb"), scenario()).options == {}


@pytest.fixture(scope="module")
def earning() -> Plan:
    return plan(**EASY)


def test_a_plan_says_what_a_test_would_tell_and_what_that_costs(earning: Plan) -> None:
    assert earning.tested is None
    rows = {("until" in each.settings): each for each in earning.candidates if each.policy == "switchback"}
    assert set(rows) == {False, True}
    to_end, to_half = rows[False], rows[True]
    assert to_end.tested is not None
    assert to_half.tested is not None
    assert to_end.tested >= to_half.tested
    assert to_half.lost < to_end.lost
    assert f"with switchback to the end (hold={to_end.settings['hold']}) the exact test calls" in earning.testing


def test_for_knowing_the_schedule_whose_test_tells_most_often_is_taken(earning: Plan) -> None:
    found = plan(**EASY, purpose="knowing")
    assert found.policy == "switchback"
    assert found.tested == max(each.tested for each in earning.candidates if each.tested is not None)
    assert found.testing.startswith("the exact test calls the best arm in ")
    assert found.why.startswith("for knowing: its exact test calls the best arm in ")
    assert found.lost > earning.lost
    with pytest.raises(BadValue, match="no purpose named 'winning'"):
        plan(**EASY, purpose="winning")
