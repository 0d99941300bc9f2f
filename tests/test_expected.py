"""Expected totals: what was known beforehand is taken out before the policy learns."""

import math
from random import Random
from typing import Any

import pytest

from afterglow import Agent
from afterglow.errors import BadValue
from afterglow.estimation.bounds import Bounds

WEEK = [1200 + 300 * math.sin(2 * math.pi * hour / 24) + (200 if hour >= 120 else 0) for hour in range(168)]
EFFECT = {"A": 0.0, "B": 60.0, "C": 20.0}


def agent(**given: Any) -> Agent:
    return Agent(["A", "B", "C"], window=6, horizon=1000, policy="lean-ucb", reward_max=2600, **given)


def play(one: Agent, steps: int, seed: int = 3, told: bool = False) -> list[Any]:
    rng, played = Random(seed), list[Any]()
    for step in range(steps):
        played.append(one.select())
        demand = WEEK[step % 168]
        total = demand + sum(EFFECT[arm] for arm in played[-6:]) / 6 + rng.gauss(0, 40)
        one.update(max(0.0, total), **({"expected": demand} if told else {}))
    return played


def test_a_profile_and_the_same_numbers_step_by_step_lead_to_the_same_decisions() -> None:
    typical = sum(WEEK) / 168
    assert play(agent(profile=WEEK), 600) == play(agent(typical=typical), 600, told=True)


def test_trust_zero_decides_as_without_expectations() -> None:
    assert play(agent(profile=WEEK, trust=0), 600) == play(agent(), 600)


def test_a_profile_finds_what_its_season_hides() -> None:
    found = [agent(profile=WEEK), agent()]
    for one in found:
        play(one, 1000)
    known, blind = (one.verdict(control="A") for one in found)
    assert known.recommended == "B"
    assert known.chance is not None
    assert blind.chance is not None
    assert known.chance > 0.9 > blind.chance


def test_proved_bounds_and_means_stay_as_totals_came_in() -> None:
    plain, adjusted = Bounds(2, 6, 0.95), Bounds(2, 6, 0.95)
    rng = Random(5)
    for step in range(300):
        arm, total = step // 20 % 2, rng.random()
        plain.record(arm, total)
        adjusted.record(arm, total, total - 0.3)
    assert [adjusted.interval(arm) for arm in (0, 1)] == [plain.interval(arm) for arm in (0, 1)]
    assert [adjusted.mean(arm) for arm in (0, 1)] == [plain.mean(arm) for arm in (0, 1)]
    for one, other in zip(adjusted.batches.arms, plain.batches.arms, strict=True):
        assert one.total == pytest.approx(other.total - 0.3 * other.steps)


def test_expectations_survive_json_and_are_absent_without() -> None:
    one = agent(profile=WEEK, trust=0.8)
    play(one, 100)
    again = Agent.from_json(one.to_json())
    assert again.to_json() == one.to_json()
    assert again.expected == one.expected
    assert '"profile"' not in agent().to_json()


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"profile": [1.0]}, "profile", "2 to 10,000 numbers, got 1"),
        ({"profile": [1.0, math.nan]}, "profile", "got nan at place 1"),
        ({"profile": WEEK, "typical": 1.0}, "profile", "exclude each other"),
        ({"typical": "much"}, "typical", "must be a finite number, got 'much'"),
        ({"typical": 1.0, "trust": 2}, "trust", "at most 1.5, got 2"),
        ({"trust": 1.0}, "trust", "give a profile or typical"),
    ],
)
def test_expectations_that_cannot_be_used_are_named(given: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(BadValue, match=says) as refused:
        agent(**given)
    assert refused.value.field == field


def test_a_policy_that_bounds_totals_refuses_a_profile() -> None:
    with pytest.raises(BadValue, match="trim-ucb bounds what came in") as refused:
        Agent(2, window=6, policy="trim-ucb", profile=WEEK)
    assert refused.value.field == "profile"


@pytest.mark.parametrize(("given", "says"), [({"profile": WEEK}, "comes from the profile"), ({}, "what is typical")])
def test_an_expectation_where_none_fits_changes_nothing(given: dict[str, Any], says: str) -> None:
    one = agent(**given)
    one.select()
    before = one.to_json()
    with pytest.raises(BadValue, match=says):
        one.update(1000.0, expected=900.0)
    assert one.to_json() == before
