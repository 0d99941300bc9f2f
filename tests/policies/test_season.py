"""Holds of whole seasons: every policy copes with them, and a daily cycle no longer favours anyone."""

import math
from typing import Any

import pytest

from afterglow import Agent
from afterglow.engine.agreement import agree
from afterglow.engine.episode import Episode
from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue
from afterglow.lab.report.rotation import rotation
from afterglow.policies.policy import Policy
from afterglow.policies.registry import named
from afterglow.policies.season import seasonal
from afterglow.worlds.world import World
from support.worlds.everything import called, every_policy, needed

Anyone = Policy[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::afterglow.errors.AfterglowWarning")
HOLDING = [policy for policy in every_policy() if not policy.every_step]
ONE_STEP = [policy for policy in every_policy() if policy.every_step]
ROUNDED = [policy for policy in HOLDING if "season" not in policy.options()]


def holds(policy: Anyone, horizon: int, options: dict[str, Any]) -> list[tuple[int, int, int]]:
    """What is played in a world that pays 0.3 a step on arm 0 and 0.6 on the others."""
    settings = policy.settings(3, 5, horizon, options)
    state, clock = policy.start(settings), 0
    played: list[tuple[int, int, int]] = []
    while clock < horizon:
        draws = [((7 * len(played) + j) % 11) / 11 for j in range(policy.reads(3))]
        arm, steps, split = policy.next_hold(settings, state, draws)
        steps = min(steps, horizon - clock)
        split = min(split, steps)
        pay = 0.6 if arm else 0.3
        policy.learn(settings, state, arm, steps, split, pay * split, pay * (steps - split))
        played.append((arm, steps, split))
        clock += steps
    return played


@pytest.mark.parametrize("policy", ROUNDED, ids=called)
def test_the_counted_part_of_every_hold_lasts_whole_seasons(policy: Anyone) -> None:
    played = holds(seasonal(policy, 12), 5_000, needed(policy, 5))
    assert len(played) > 1
    assert all((steps - split) % 12 == 0 for _, steps, split in played[:-1])


@pytest.mark.parametrize("policy", HOLDING, ids=called)
def test_every_policy_that_holds_finds_the_best_arm_in_whole_seasons_too(policy: Anyone) -> None:
    world = World.of([0.2, 0.9], 4, "uniform", "seasonal:0.5,0.25,0,0.25")
    outcome = simulate(policy, world, 3_000, 20, options=needed(policy, 4), recommend=True, season=4)
    assert outcome.settings.get("season", 0) == (0 if policy.name == "switchback" else 4)
    assert outcome.recommended is not None
    assert (outcome.recommended == 1).mean() >= 0.5


@pytest.mark.parametrize("policy", ROUNDED, ids=called)
def test_plain_and_compiled_agree_on_seasonal_holds(policy: Anyone) -> None:
    daily = seasonal(policy, 7)
    settings = daily.settings(3, 6, 4_000, needed(policy, 6))
    assert agree(daily, settings, 3, 6, 4_000) >= 1
    assert (daily.name, daily.version) == (policy.name, policy.version)


def test_estimated_variance_reads_longer_batches_rightly() -> None:
    world = World.of(["normal:0.5,0.1", "normal:0.4,0.1"], 5, "uniform")
    daily = seasonal(named("trim-ucb"), 24)
    settings = daily.settings(2, 5, 6_000, {"variance": "estimated"})
    agent, episode = Agent(2, 5, 6_000, "trim-ucb", season=24, variance="estimated"), Episode(world, 2)
    for _ in range(6_000):
        agent.update(episode.pull(int(agent.select())))
    state = agent._runner.state
    assert agent.settings == settings
    assert min(state.batch_counts) > 0
    assert all(steps == 24 * count for steps, count in zip(state.batch_steps, state.batch_counts, strict=True))
    assert state.variance == pytest.approx(1.5 * 0.01, rel=0.4)


def test_a_policy_with_a_season_of_its_own_is_given_it() -> None:
    own = seasonal(named("lean-ucb"), 24).settings(3, 10, 5_000)
    assert own == named("lean-ucb").settings(3, 10, 5_000, {"season": 24})
    assert seasonal(named("lean-ucb"), 1) is named("lean-ucb")


@pytest.mark.parametrize("policy", ONE_STEP, ids=called)
def test_policies_that_decide_at_every_step_are_refused(policy: Anyone) -> None:
    with pytest.raises(
        BadValue, match=f"season needs a policy that holds an arm for many steps, {policy.name} decides"
    ):
        seasonal(policy, 24)


@pytest.mark.parametrize("season", [0, 1.5, "day"])
def test_a_season_is_a_whole_number(season: Any) -> None:
    with pytest.raises(BadValue, match="season must be a whole number of at least 1"):
        seasonal(named("trim-ucb"), season)


@pytest.mark.parametrize("policy", ["trim-ucb", "lean-ucb", "phased-elimination", "composite-tsallis"])
def test_an_agent_with_a_season_is_stored_and_goes_on_the_same(policy: str) -> None:
    world = World.of([0.3, 0.8, 0.5], 8, "hoard", "seasonal:0.5,0,0.25")
    agent, episode, pulls = Agent(3, 8, 1_500, policy, seed=5, season=3), Episode(world, 5), [0, 0, 0]
    for step in range(1_500):
        if step % 97 == 0:
            agent = Agent.from_json(agent.to_json())
        arm = int(agent.select())
        pulls[arm] += 1
        agent.update(episode.pull(arm))
    outcome = simulate(policy, world, 1_500, runs=1, seed=5, engine="step", season=3)
    assert pulls == outcome.pulls[0].tolist()
    assert agent.season == 3


def ranked_first(baseline: str, season: int) -> float:
    """How often 40-hour turns, 3 of them washout, name the best of three arms, whichever it is."""
    right = 0
    for best in range(3):
        laws = [f"normal:{0.5 if arm == best else 0.45},0.25" for arm in range(3)]
        world = World.of(laws, 4, "uniform", baseline)
        outcome = simulate(
            rotation, world, 720, 500, 7, {"hold": 37, "commit": 720}, recommend=True, season=season, threads=1
        )
        assert outcome.recommended is not None
        right += int((outcome.recommended == best).sum())
    return right / 1_500


def test_whole_seasons_remove_the_bias_of_a_daily_cycle() -> None:
    """A cycle of 0.2 up and down: three turns of 40 hours are five days, so every arm keeps its hours for ever."""
    day = "seasonal:" + ",".join(f"{0.2 + 0.2 * math.sin(math.pi * hour / 12):.6f}" for hour in range(24))
    contiguous, aligned, no_cycle = ranked_first(day, 1), ranked_first(day, 24), ranked_first("constant:0.2", 1)
    assert contiguous < 0.72
    assert aligned > 0.88
    assert no_cycle > 0.88
    assert abs(aligned - no_cycle) < 0.08
