"""What every policy must keep, live and compiled."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from afterglow import Agent
from afterglow.engine.agreement import agree
from afterglow.engine.episode import Episode
from afterglow.engine.simulate import simulate
from afterglow.errors import AfterglowError
from afterglow.policies.policy import Policy
from afterglow.worlds.world import World
from support.worlds.everything import called, every_policy, needed

Anyone = Policy[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::afterglow.errors.AfterglowWarning")


@pytest.mark.parametrize("policy", every_policy(), ids=called)
@pytest.mark.parametrize(("arms", "window", "horizon"), [(2, 1, 500), (3, 6, 4_000), (5, 8, 20_000), (9, 3, 2_000)])
def test_plain_and_compiled_make_the_same_decisions_hold_by_hold(
    policy: Anyone, arms: int, window: int, horizon: int
) -> None:
    settings = policy.settings(arms, window, horizon, needed(policy, window))
    assert agree(policy, settings, arms, window, horizon, seed=arms) >= 1


@pytest.mark.parametrize("policy", every_policy(), ids=called)
def test_state_survives_json_at_every_hold(policy: Anyone) -> None:
    settings = policy.settings(3, 4, 600, needed(policy, 4))
    state, clock, count = policy.start(settings), 0, 0
    while clock < 600:
        copy = policy.State(**json.loads(json.dumps(asdict(state))))
        draws = [((7 * count + j) % 11) / 11 for j in range(policy.reads(3))]
        arm, steps, split = policy.next_hold(settings, state, draws)
        assert policy.next_hold(settings, copy, draws) == (arm, steps, split)
        steps = min(steps, 600 - clock)
        split = min(split, steps)
        sums = 0.3 * split, 0.45 * (steps - split)
        policy.learn(settings, state, arm, steps, split, *sums)
        policy.learn(settings, copy, arm, steps, split, *sums)
        assert asdict(copy) == asdict(state)
        clock, count = clock + steps, count + 1


@pytest.mark.parametrize("policy", every_policy(), ids=called)
def test_the_live_policy_pulled_step_by_step_plays_as_the_step_engine(policy: Anyone) -> None:
    if policy.privileged:
        return  # told what no live policy is told; its agreement is checked above
    world = World.of([0.3, 0.8, 0.5], 8, "hoard")
    options: dict[str, Any] = dict(needed(policy, 8))
    agent, episode, pulls = Agent(3, 8, policy=policy, horizon=1_500, seed=5, **options), Episode(world, 5), [0, 0, 0]
    for _ in range(1_500):
        arm = int(agent.select())
        pulls[arm] += 1
        agent.update(episode.pull(arm))
    outcome = simulate(policy, world, 1_500, runs=1, seed=5, options=options, engine="step")
    assert pulls == outcome.pulls[0].tolist()
    assert episode.generated == outcome.generated[0]
    assert episode.pending == outcome.pending[0]


@pytest.mark.parametrize("policy", every_policy(), ids=called)
def test_every_policy_says_what_it_is_and_what_it_needs(policy: Anyone) -> None:
    assert policy.summary
    assert policy.guarantee
    assert policy.source
    assert set(policy.needs()) <= {"window", "horizon", "mean_delay", "delay_variance"}


@pytest.mark.parametrize("policy", every_policy(), ids=called)
@pytest.mark.parametrize(
    "wrong", [{"arms": 1}, {"arms": 2.5}, {"window": 0}, {"horizon": 0}, {"horizon": float("nan")}]
)
def test_wrong_numbers_are_refused_with_the_value_named(policy: Anyone, wrong: dict[str, Any]) -> None:
    place = {"arms": 3, "window": 4, "horizon": 5_000} | wrong
    (name, value), *_ = wrong.items()
    if name in policy.parameters():
        with pytest.raises(AfterglowError, match=str(value)) as refusal:
            policy.settings(**place, options=needed(policy, 4))
        assert name in str(refusal.value)


@pytest.mark.parametrize("policy", every_policy(), ids=called)
def test_recommends_an_arm_that_exists(policy: Anyone) -> None:
    world = World.of([0.2, 0.9], 4, "uniform")
    outcome = simulate(policy, world, 3_000, 20, options=needed(policy, 4), recommend=True)
    assert outcome.recommended is not None
    assert set(outcome.recommended.tolist()) <= {0, 1}
    assert (outcome.recommended == 1).mean() >= 0.5
