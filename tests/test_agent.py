"""The agent: select, update, estimate."""

import json
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from afterglow import Agent, Policy
from afterglow.errors import BadValue, HorizonReached, OutOfTurn, UnknownName
from afterglow.rng import POLICY, key, uniform
from support.worlds.own_policy import MEANS, Settings, State, a_number, in_turn, learn, next_hold, play, start
from support.worlds.pooled import SPREADS, PooledWorld


def test_three_lines_are_enough() -> None:
    agent = Agent(arms=["A", "B", "C"], window=24, seed=7)
    arm = agent.select()
    agent.update(3.2)
    assert arm in agent.arms
    assert agent.policy.name == "thrift-ucb"
    assert agent.step == 1
    assert repr(agent) == "<Agent thrift-ucb: 3 arms, window 24, step 1, holding 'A'>"


def test_the_arm_of_a_step_stays_until_the_step_ends() -> None:
    agent = Agent(3, 4, policy="ucb1")
    first = agent.select()
    text = agent.to_json()
    assert [agent.select() for _ in range(3)] == [first] * 3
    assert agent.to_json() == text
    agent.update(0.0)
    assert agent.select() != first


def test_a_total_before_its_arm_was_asked_for_is_out_of_turn() -> None:
    agent = Agent(3, 4)
    with pytest.raises(OutOfTurn, match=r"step 0 has none; call select\(\)"):
        agent.update(1.0)
    agent.select()
    agent.update(1.0)
    with pytest.raises(OutOfTurn, match="step 1 has none"):
        agent.update(1.0)
    assert agent.hold is not None
    assert agent.hold.done == agent.step == 1


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (float("nan"), "must be a number, got nan"),
        (float("inf"), "at most window x reward_max = 4 x 2.5 = 10, got inf"),
        (-float("inf"), "must not be negative, got -inf"),
        (-0.25, "must not be negative, got -0.25"),
        (Decimal("-0.25"), r"must not be negative, got Decimal\('-0.25'\)"),
        (Decimal("sNaN"), "must be a number, got"),
        (10.001, "at most window x reward_max = 4 x 2.5 = 10, got 10.001"),
        (10**400, "at most window x reward_max"),
        (True, "must be a number, got True"),
        ("3", "must be a number, got '3'"),
        (None, "must be a number, got None"),
        (1j, "must be a number, got 1j"),
        ([1.0], r"must be a number, got \[1.0\]"),
        (np.bool_(True), "must be a number, got np.True_"),
        (np.float32("nan"), "must be a number"),
    ],
)
def test_an_impossible_total_is_refused_by_value_and_changes_nothing(total: Any, said: str) -> None:
    agent = Agent(3, 4, reward_max=2.5)
    play(agent, 7)
    agent.select()
    text = agent.to_json()
    with pytest.raises(BadValue, match=said):
        agent.update(total)
    assert agent.to_json() == text


@pytest.mark.parametrize("total", [0, 10, 10.0, 10 * (1 + 1e-12), np.float64(3.5), np.float32(3.5), np.int64(3)])
def test_any_real_number_within_the_window_is_a_total(total: float) -> None:
    agent = Agent(3, 4, reward_max=2.5)
    agent.select()
    agent.update(total)
    assert json.loads(agent.to_json())["tallies"][0]["seen"] == float(total) / 2.5


def test_reward_max_changes_the_unit_and_nothing_else() -> None:
    unit, eighths = Agent(3, 4), Agent(3, 4, reward_max=0.125)
    assert play(unit, 200) == play(eighths, 200)
    for one, other in zip(unit.estimates(), eighths.estimates(), strict=True):
        assert (other.mean, other.low, other.high) == (one.mean / 8, one.low / 8, one.high / 8)


def test_the_horizon_ends_the_experiment_and_names_the_way_out() -> None:
    agent = Agent(3, 4, policy="phased-elimination", horizon=100)
    play(agent, 99)
    assert not agent.finished
    play(agent, 1)
    assert agent.finished
    assert agent.hold is None
    assert repr(agent).endswith("step 100 of 100, finished>")
    text = agent.to_json()
    for call in (agent.select, lambda: agent.update(0.0)):
        with pytest.raises(HorizonReached, match=r"all 100 steps are played; recommend\(\)"):
            call()
    assert agent.to_json() == text
    assert agent.recommend() in agent.arms


def test_the_last_hold_is_cut_at_the_horizon_and_learned() -> None:
    agent = Agent(2, 4, policy=in_turn, horizon=7, longest=50)
    while not agent.finished:
        agent.select()
        assert agent.hold is not None
        assert agent.hold.steps - agent.hold.done <= 7 - agent.step
        agent.update(1.0)
    state = json.loads(agent.to_json())["state"]
    assert sum(state["pulls"]) == 7


def test_the_arm_played_most_is_recommended_unless_the_policy_knows_better() -> None:
    agent = Agent(["x", "y"], 2, policy=in_turn)
    with pytest.raises(OutOfTurn, match="needs at least one step"):
        agent.recommend()
    for _ in range(40):
        agent.select()
        agent.update(0.5)
    most = max(agent.estimates(), key=lambda estimate: estimate.pulls)
    assert agent.recommend() == most.arm
    wiser = Policy("wiser", Settings, State, start, next_hold, learn, recommend=lambda settings, state: 1, draws=1)
    agent = Agent(["x", "y"], 2, policy=wiser)
    agent.select()
    agent.update(0.5)
    while agent.hold:  # until the policy has learned, the arm played most is all there is
        assert agent.recommend() == "x"
        agent.select()
        agent.update(0.5)
    assert agent.recommend() == "y"


def test_a_policy_of_ones_own_runs_and_draws_what_a_simulation_draws() -> None:
    agent = Agent(3, 4, policy=in_turn, seed=9, run=2, longest=7)
    arms = play(agent, 200)
    stream = key(9, 2, POLICY)
    expected: list[int] = []
    for h in range(200):
        expected += [h % 3] * (1 + int(uniform(stream, h) * 7))
    assert arms == expected[:200]


def test_privileged_policies_are_refused_with_the_reason() -> None:
    told = Policy("told-all", Settings, State, start, next_hold, learn, privileged=True)
    with pytest.raises(BadValue, match="told-all needs each pull's own reward, which pooled totals don't show"):
        Agent(3, 4, policy=told)
    with pytest.raises(BadValue, match="attributed-ucb needs each pull's own reward"):
        Agent(3, 4, policy="attributed-ucb")


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"arms": 1}, BadValue, "arms must be a whole number of at least 2, got 1"),
        ({"arms": True}, BadValue, "arms must be a whole number of at least 2, got True"),
        ({"arms": []}, BadValue, r"arms must be at least 2, got \[\]"),
        ({"arms": ["A"]}, BadValue, r"arms must be at least 2, got \['A'\]"),
        ({"arms": "AB"}, BadValue, "arms must be a list of names or a whole number of at least 2, got 'AB'"),
        ({"arms": None}, BadValue, "arms must be a list of names"),
        ({"arms": ["A", "B", "A"]}, BadValue, "arms must have different names, got 'A' 2 times"),
        ({"arms": ["A", None]}, BadValue, "arms must have strings or numbers as names, got None"),
        ({"arms": [0.5, float("nan")]}, BadValue, "arms must have strings or numbers as names, got nan"),
        ({"window": 0}, BadValue, r"window must be a whole number of at least 1 \(1 = paid at once\), got 0"),
        ({"window": 2.5}, BadValue, "window must be a whole number"),
        ({"horizon": 0}, BadValue, "horizon must be a whole number of at least 1, got 0"),
        ({"reward_max": 0}, BadValue, "reward_max must be a number above 0"),
        ({"reward_max": float("inf")}, BadValue, "reward_max must be a number above 0"),
        ({"confidence": 1}, BadValue, "confidence must be a number above 0 and below 1, got 1"),
        ({"seed": -1}, BadValue, "seed must be a whole number of at least 0, got -1"),
        ({"policy": "trim-ucv"}, UnknownName, "no policy named 'trim-ucv'; did you mean 'trim-ucb'"),
        ({"policy": 3}, BadValue, "policy must be a name or a Policy, got 3"),
        ({"policy": "ucb1", "horizont": 9}, UnknownName, "setting of ucb1 named 'horizont'; did you mean 'horizon'"),
        ({"policy": "ucb1", "alpha": 9}, UnknownName, "no setting of ucb1 named 'alpha'; it takes none"),
        ({"policy": "phased-ucb"}, BadValue, "phased-ucb needs horizon"),
    ],
    ids=str,
)
def test_what_cannot_be_played_is_said_at_once(arguments: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Agent(**{"arms": 3, "window": 4, **arguments})


def test_a_state_that_cannot_be_stored_is_refused_before_the_first_step() -> None:
    @dataclass
    class Wrong:
        arm: int
        seen: bool

    wrong = Policy("wrong", Settings, Wrong, lambda settings: Wrong(0, False), next_hold, learn)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="state of wrong: field 'seen' must hold what it is annotated with"):
        Agent(3, 4, policy=wrong)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("policy", ["trim-ucb", "ucb1", "washout-ucb"])
def test_estimates_hold_at_all_times_for_any_policy_and_spread(policy: str, spread: str) -> None:
    for seed in range(4):
        agent = Agent(3, 6, policy=policy, confidence=0.9)
        world = PooledWorld(MEANS, 6, spread, seed)
        for step in range(800):
            agent.update(world.pull(a_number(agent)))
            if step % 40 == 0:
                estimates = agent.estimates()
                assert estimates.alarm is None
                for estimate, mean in zip(estimates, MEANS, strict=True):
                    assert estimate.low <= mean <= estimate.high


def test_a_window_told_too_short_raises_the_alarm() -> None:
    patient = Policy("patient", Settings, State, start, lambda s, state, draws: (state.arm, s.longest, 0), learn)
    agent = Agent(["A", "B"], 3, policy=patient, longest=100)
    world = PooledWorld([0.9, 0.3], 24, "last", seed=4)
    for _ in range(600):
        agent.update(world.pull(agent.arms.index(agent.select())))
    alarm = agent.estimates().alarm
    assert alarm is not None
    assert "the window of 3 steps is too short" in alarm
    assert "in at most 0.05 of experiments" in alarm
    assert agent.estimates()["A"].contradiction


def test_importing_the_agent_needs_the_standard_library_alone() -> None:
    code = "import sys, afterglow; print(sorted({'numpy', 'numba', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_options_are_a_mapping_or_names_or_both() -> None:
    made = [
        Agent(3, 4, 1000, policy="trim-ucb", options={"level": "plus", "endgame": 8}),
        Agent(3, 4, 1000, policy="trim-ucb", level="plus", endgame=8),
        Agent(3, 4, 1000, policy="trim-ucb", options={"level": "plus"}, endgame=8),
    ]
    assert len({agent.to_json() for agent in made}) == 1
    with pytest.raises(BadValue, match="level is given by name and in options; give it once"):
        Agent(3, 4, 1000, options={"level": "plus"}, level="plus")
