"""An agent as text: the same decisions from every point, and no other text mistaken for one."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from afterglow import Agent, Policy
from afterglow.errors import BadFormat
from support.worlds.own_policy import MEANS, Settings, State, a_number, in_turn, learn, next_hold, play, start
from support.worlds.pooled import PooledWorld

PLAYED: list[dict[str, Any]] = [
    {"policy": "trim-ucb"},
    {"policy": "trim-ucb", "horizon": 300},
    {"policy": "ucb1", "horizon": 300},
    {"policy": "leak-ucb"},
    {"policy": "washout-ucb"},
    {"policy": "phased-ucb", "horizon": 300, "constants": "corrected"},
    {"policy": "phased-elimination", "horizon": 300},
    {"policy": "composite-exp3", "horizon": 300, "seed": 11},
]


@pytest.mark.parametrize("arguments", PLAYED, ids=str)
def test_a_stored_agent_goes_on_with_the_same_decisions_from_every_point(arguments: dict[str, Any]) -> None:
    straight, chain = Agent(3, 4, **arguments), Agent(3, 4, **arguments)
    world = PooledWorld(MEANS, 4, "delay", seed=3)
    for _ in range(300):
        chain = Agent.from_json(chain.to_json())
        arm = a_number(straight)
        assert a_number(chain) == arm
        chain = Agent.from_json(chain.to_json())
        total = world.pull(arm) / 3
        straight.update(total)
        chain.update(total)
        assert chain.to_json() == straight.to_json()
        assert chain.hold == straight.hold
    assert str(chain.estimates()) == str(straight.estimates())
    assert chain.recommend() == straight.recommend()


@pytest.mark.parametrize("arguments", PLAYED, ids=str)
def test_a_stored_agent_plays_the_rest_of_the_run_alike(arguments: dict[str, Any]) -> None:
    for stored_at in (1, 50, 137, 250):
        agent = Agent(3, 4, **arguments)
        play(agent, stored_at)
        copy = Agent.from_json(agent.to_json())
        assert play(copy, 300 - stored_at, seed=8) == play(agent, 300 - stored_at, seed=8)
        assert copy.to_json() == agent.to_json()


def test_a_policy_of_ones_own_is_given_again() -> None:
    agent = Agent(3, 4, policy=in_turn, longest=9)
    play(agent, 30)
    copy = Agent.from_json(agent.to_json(), policy=in_turn)
    assert play(copy, 50, seed=2) == play(agent, 50, seed=2)
    with pytest.raises(
        BadFormat, match=r"'in-turn' is not one of Afterglow's; give it: Agent.from_json\(text, policy="
    ):
        Agent.from_json(agent.to_json())


def test_a_policy_that_took_the_name_of_another_is_not_mistaken_for_it() -> None:
    disguised = Policy("ucb1", Settings, State, start, next_hold, learn, draws=1)
    with pytest.raises(BadFormat, match="not one of Afterglow's"):
        Agent.from_json(Agent(3, 4, policy=disguised).to_json())


def test_another_version_of_a_policy_is_refused() -> None:
    newer = Policy("in-turn", Settings, State, start, next_hold, learn, draws=1, version=2)
    text = Agent(3, 4, policy=in_turn).to_json()
    with pytest.raises(BadFormat, match="version 1 of in-turn, this is version 2"):
        Agent.from_json(text, policy=newer)


def test_another_policy_is_refused() -> None:
    with pytest.raises(BadFormat, match="stored with policy 'thrift-ucb', got 'in-turn'"):
        Agent.from_json(Agent(3, 4).to_json(), policy=in_turn)


def test_an_edited_policy_whose_state_has_other_fields_is_refused_by_field() -> None:
    @dataclass
    class Longer(State):
        extra: int = 0

    edited = Policy(
        "in-turn", Settings, Longer, lambda s: Longer(0, [0] * s.arms, [0.0] * s.arms), next_hold, learn, draws=1
    )
    with pytest.raises(
        BadFormat, match="state of in-turn must have the fields arm, pulls, sums, extra, got arm, pulls"
    ):
        Agent.from_json(Agent(3, 4, policy=in_turn).to_json(), policy=edited)


def test_settings_are_stored_as_resolved_and_beside_them_what_was_given() -> None:
    values = json.loads(Agent(3, 4, horizon=1000, policy="phased-ucb", constants="corrected").to_json())
    assert values["options"] == {"constants": "corrected"}
    assert values["settings"]["hold"] >= 1
    assert values["version"] == 1


def test_every_changed_digit_is_noticed() -> None:
    agent = Agent(3, 4, horizon=300, policy="trim-ucb")
    play(agent, 20)
    text = agent.to_json()
    for place, character in enumerate(text):
        if character.isdigit():
            other = str((int(character) + 1) % 10)
            with pytest.raises(BadFormat):
                Agent.from_json(text[:place] + other + text[place + 1 :])


def test_every_cut_text_is_noticed() -> None:
    text = Agent(3, 4).to_json()
    for place in range(0, len(text), 7):
        with pytest.raises(BadFormat, match="must be JSON"):
            Agent.from_json(text[:place])


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "7", '{"format": "other"}', "{}", "[" * 100_000, b"\xff\xfe", "NaN"]
)
def test_foreign_text_is_refused(text: str | bytes) -> None:
    with pytest.raises(BadFormat, match=r"must be|to_json"):
        Agent.from_json(text)


def test_a_later_version_of_the_format_is_refused_with_its_number() -> None:
    text = Agent(3, 4).to_json().replace('"version": 1,', '"version": 2,', 1)
    with pytest.raises(BadFormat, match="version 2 of 'afterglow-agent', this release reads version 1"):
        Agent.from_json(text)


def test_a_text_written_anew_by_another_program_still_reads() -> None:
    agent = Agent(["a", "b"], 4)
    for _ in range(9):
        agent.select()
        agent.update(1.0)
    rewritten = json.dumps(json.loads(agent.to_json().replace(".0,", ",")), sort_keys=True, indent=1)
    assert Agent.from_json(rewritten.encode()).to_json() == agent.to_json()
