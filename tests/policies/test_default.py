"""The policy of an experiment for which none is chosen: by season and length."""

import pytest

from afterglow import Agent
from afterglow.errors import BadValue
from afterglow.live.domain.spec import specify
from afterglow.policies.default import default_policy


def test_a_season_is_what_random_turns_are_for() -> None:
    assert Agent(3, 24, season=168).policy.name == "random-turns"
    assert Agent(3, 24, 2016, season=168).policy.name == "random-turns"
    assert Agent(3, 24, 2016).policy.name == "thrift-ucb"
    assert specify("prices", ["A", "B"], 24, 2016, season=168).policy == "random-turns"
    assert specify("prices", ["A", "B"], 24, 2016).policy == "thrift-ucb"


def test_a_policy_that_is_named_is_kept() -> None:
    assert Agent(3, 24, 2016, "thrift-ucb", season=24).policy.name == "thrift-ucb"
    assert specify("prices", ["A", "B"], 24, 2016, season=24, policy="lean-ucb").policy == "lean-ucb"


def test_too_short_a_horizon_and_settings_of_the_usual_policy_lead_to_it() -> None:
    assert default_policy(3, 24, 527, 168, {}) == "thrift-ucb"
    assert default_policy(3, 24, 528, 168, {}) == "random-turns"
    assert default_policy(3, 24, 2016, 168, {"noise": 0.1}) == "thrift-ucb"
    with pytest.raises(BadValue, match="season must be"):
        Agent(3, 24, 2016, season=0)


def test_a_stored_agent_keeps_its_policy() -> None:
    agent = Agent(2, 6, season=24)
    for step in range(200):
        agent.update(0.5 + 0.01 * (step % 7) + 0.1 * int(agent.select()))
    again = Agent.from_json(agent.to_json())
    assert again.policy.name == "random-turns"
    assert [again.select(), again.to_json()] == [agent.select(), agent.to_json()]
