"""The numbers by which a policy chooses are those that it declares, and a sentence tells them in the user's unit."""

import math
from random import Random

import pytest

from afterglow import Agent
from afterglow.policies.index import DRAWN, IN_PLAY, LARGEST, SCHEDULE, Index
from afterglow.policies.registry import WHERE, named

NAMES = ["A", "B", "C"]
MEANS = {"A": 0.35, "B": 0.6, "C": 0.5}
STEPS = 2000
OPTIONS: dict[str, dict[str, float]] = {
    "odaaf": {"mean_delay": 1.0}, "odaaf-bounded": {"mean_delay": 1.0},
    "odaaf-variance": {"mean_delay": 1.0, "delay_variance": 1.0},
}  # fmt: skip
PLAYED = [name for name in WHERE if not named(name).privileged]


@pytest.mark.parametrize("name", PLAYED)
def test_an_arm_that_is_newly_chosen_has_the_highest_index(name: str) -> None:
    """Of every policy that declares values of which the largest wins; arms still held may have lost the lead."""
    horizon = STEPS if "horizon" in named(name).parameters() else None
    agent = Agent(NAMES, window=2, horizon=horizon, policy=name, options=OPTIONS.get(name), seed=3)
    random, before, compared, how = Random(5), ("", ""), 0, ""
    for _ in range(STEPS):
        arm = str(agent.select())
        found = agent._runner.index()
        assert found is not None, f"{name} declares no index"
        assert agent.explain("EUR")
        if found.how == LARGEST and (arm, found.how) != before:
            values = dict(zip(NAMES, found.values, strict=True))
            assert values[arm] == max(values.values()), (found, arm)
            compared += math.isfinite(values[arm])
        elif found.how in (DRAWN, IN_PLAY):
            assert not math.isnan(found.values[NAMES.index(arm)])
            assert found.values[NAMES.index(arm)] > 0 or found.how == IN_PLAY
        how, before = found.how, (arm, found.how)
        agent.update(float(random.random() < MEANS[arm]))
    assert compared or how != LARGEST  # an index decided at least once


def test_the_sentence_names_both_numbers_in_the_user_s_unit() -> None:
    said = Index([0.402, 0.451, 0.31]).sentence(["x1.0", "x1.2", "x0.8"], 1, 100.0, "EUR")
    assert said == "x1.2 had the highest index, 45.1 EUR against 40.2 EUR for x1.0"


@pytest.mark.parametrize(
    ("index", "chosen", "said"),
    [
        (Index([math.inf, 0.5]), 0, "a was not tried yet"),
        (Index([0.4, math.inf]), 0, "a was chosen before and is kept until its hold ends; b was not tried yet"),
        (
            Index([0.4, 0.5]), 0,
            "a was chosen before and is kept until its hold ends; b had the highest index, 5.00 against 4.00",
        ),
        (Index([0.5, 0.5]), 1, "b had the highest index, 5.00, with a as high or nearly so"),
        (Index([0.7, 0.3], DRAWN, "chance"), 1, "b was drawn at random, its chance 30 % against 70 % for a"),
        (Index([], SCHEDULE, "one turn in each block"), 0, "the schedule says so: one turn in each block"),
        (Index([0.4, math.nan], IN_PLAY), 0, "a is the only one still in play"),
        (Index([0.4, math.inf], IN_PLAY), 1, "b is still in play, one of 2 (a 4.00); none was dropped yet"),
    ],
)  # fmt: skip
def test_every_way_to_choose_has_its_sentence(index: Index, chosen: int, said: str) -> None:
    assert index.sentence(["a", "b"], chosen, 10.0) == said


def test_an_agent_explains_its_choice_and_explaining_changes_nothing() -> None:
    agent = Agent(["x1.0", "x1.2"], window=1, policy="ucb1", reward_max=100.0)
    for total in (40.0, 45.0):
        agent.select()
        agent.update(total)
    assert agent.explain("EUR") == "x1.2 had the highest index, 163 EUR against 158 EUR for x1.0"
    assert agent.select() == "x1.2"
    plain = Agent(["x1.0", "x1.2"], window=1, policy="ucb1", reward_max=100.0)
    for total in (40.0, 45.0):
        plain.select()
        plain.update(total)
    plain.select()
    assert agent.to_json() == plain.to_json()
