"""Earlier versions of policies: what was stored with them goes on deciding as it did."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from afterglow import Agent, Units
from afterglow.errors import BadFormat
from afterglow.live.domain.spec import policy_of, specify
from afterglow.policies.registry import FORMER, ROUNDS, any_named, is_ours, round_version, version_of
from assets import make_former_panel

STORED = Path(__file__).parents[1] / "assets" / "former"


def total(arm: str, step: int) -> float:
    """As when the text was stored: waves that don't repeat."""
    waves = 90 * math.sin(step * math.pi / 12) + 25 * math.sin(1.7 * step) + 18 * math.sin(0.31 * step * step)
    return 300 + waves + (12 if arm == "B" else 0)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_agent_stored_with_an_earlier_random_turns_decides_as_it_did(version: int) -> None:
    stored = json.loads((STORED / f"random-turns-{version}.json").read_text())
    agent = Agent.from_json(json.dumps(stored["agent"]))
    agent = Agent.from_json(agent.to_json())  # and it is stored again as what it is
    assert agent.policy.version == version
    after = []
    while not agent.finished:
        step, arm = agent.step, str(agent.select())
        agent.update(total(arm, step))
        after.append(arm)
    assert "".join(after) == stored["after"]
    assert agent.recommend() == stored["recommended"]
    assert agent.verdict().recommended == stored["recommended"]


@pytest.mark.parametrize(("name", "version"), FORMER)
def test_a_former_version_is_ours_and_older_than_the_present_one(name: str, version: int) -> None:
    former = round_version(name, version) if name in ROUNDS else version_of(name, version)
    assert (former.name, former.version) == (name, version)
    assert version < any_named(name).version
    assert is_ours(former)
    assert is_ours(any_named(name))


@pytest.mark.parametrize("version", [1, 2])
def test_panel_elimination_decides_over_few_units_to_the_bit_as_it_did(version: int) -> None:
    former, present = round_version("panel-elimination", version), round_version("panel-elimination", 3)
    rng = np.random.default_rng(7)
    for missing in (0.0, 0.1):
        given = (4, 11, 12, 1_500, [1.0 + unit for unit in range(11)], rng.permutation(11).tolist(), [2, 0, 3, 1])
        one, other = former.settings(*given), present.settings(*given)
        was, now = former.start(one), present.start(other)
        while was.clock < 1_500:
            known = [one.slot * int(kept) for kept in rng.random(11) >= missing]
            bodies = [one.slot * (1 + unit) * rng.normal(1 - 0.01 * was.arms[unit], 0.05) for unit in range(11)]
            former.learn(one, was, one.slot, 0, known, bodies, bodies)
            present.learn(other, now, one.slot, 0, known, bodies, bodies)
            assert (was.arms, was.alive, was.arms_left) == (now.arms, now.alive, now.arms_left)
        assert was.dense_slots == now.dense_slots > 0 if missing else was.dense_slots == 0
        assert former.difference(one, was, 0, 1, 0.95) == present.difference(other, now, 0, 1, 0.95)
        assert former.statistic(one, was) == present.statistic(other, now)


def test_units_stored_with_version_2_decide_as_they_did() -> None:
    stored = json.loads((STORED / "panel-2.json").read_text())
    team = Units.from_json(json.dumps(stored["units"]))
    assert (team.policy.version, len(team.units)) == (2, 44)
    assert make_former_panel.play(team, 240)[::9] == stored["after"]
    assert make_former_panel.answers(team) == stored["answers"]


def test_a_live_experiment_goes_on_with_the_version_it_was_created_with() -> None:
    spec = specify("prices", ["A", "B"], 6, 1200, policy="random-turns", season=24)
    assert policy_of(spec).version == spec.policy_version == 4
    assert policy_of(replace(spec, policy_version=1)).version == 1
    assert policy_of(replace(spec, policy_version=2)).version == 2
    with pytest.raises(BadFormat, match="runs version 99 of random-turns"):
        policy_of(replace(spec, policy_version=99))
