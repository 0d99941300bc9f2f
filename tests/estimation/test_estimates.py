"""Estimates as users read them."""

import math

import pytest

from afterglow import Agent, Estimate, Estimates
from afterglow.errors import UnknownName


def estimate(arm: str, low: float, high: float) -> Estimate:
    return Estimate(arm, mean=0.5, low=low, high=high, pulls=50, runs=2, share=0.5)


def played() -> Agent:
    agent = Agent(["A", "B", "C"], 3, policy="leak-ucb", reward_max=10)
    for step in range(60):
        agent.select()
        agent.update(10.0 * (step % 2))
    return agent


def test_estimates_are_read_by_arm_or_in_order() -> None:
    estimates = played().estimates()
    assert [one.arm for one in estimates] == ["A", "B", "C"]
    assert len(estimates) == 3
    assert estimates["B"] is estimates.arms[1]
    with pytest.raises(UnknownName, match="no arm named 'D'; the arms are A, B, C"):
        estimates["D"]


def test_the_mean_lies_within_the_interval_and_shares_add_up() -> None:
    estimates = played().estimates()
    for one in estimates:
        assert 0 <= one.low <= one.mean <= one.high <= 10
    assert sum(one.share for one in estimates) == pytest.approx(1)
    assert sum(one.pulls for one in estimates) == 60


def test_reading_changes_nothing() -> None:
    agent = played()
    text = agent.to_json()
    agent.estimates()
    assert agent.to_json() == text


def test_before_the_first_step_nothing_is_known() -> None:
    for one in Agent(2, 3, reward_max=4).estimates():
        assert (one.low, one.high, one.pulls, one.runs, one.share) == (0, 4, 0, 0, 0)
        assert math.isnan(one.mean)
    assert str(Agent(2, 3, reward_max=4).estimates()).splitlines()[1].split() == [
        "1",
        "–",
        "[0,",
        "4]",
        "0",
        "pulls",
        "(0%)",
    ]


def test_bounds_that_fit_raise_no_alarm() -> None:
    estimates = Estimates((estimate("A", 0.2, 0.6), estimate("B", 0.3, 0.3)), 0.95, 24)
    assert estimates.alarm is None
    assert str(estimates).splitlines()[0].split() == ["A", "0.5", "[0.2,", "0.6]", "50", "pulls", "(50%)"]


def test_the_alarm_names_the_arm_its_bounds_and_what_may_be_wrong() -> None:
    estimates = Estimates((estimate("A", 0.2, 0.6), estimate("B", 0.61, 0.42)), 0.99, 24)
    assert estimates.alarm == (
        "the average of 'B' is at least 0.61 and at most 0.42: the window of 24 steps is too short, totals are not "
        "what they should be or the arms change with time; chance alone does this in at most 0.01 of experiments"
    )
    assert str(estimates).endswith(estimates.alarm)


def test_totals_beyond_what_pulls_can_bring_raise_the_alarm() -> None:
    agent = Agent(2, window=4, seed=1)
    for step in range(40):
        agent.select()
        agent.update(1.0)
        assert agent.estimates().alarm is None, step
    for _ in range(4):
        agent.select()
        agent.update(3.0)
    alarm = agent.estimates().alarm
    assert alarm is not None
    assert alarm.startswith("totals exceed what reward_max allows by 5: ")
