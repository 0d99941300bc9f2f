"""A running experiment decides as the simulation does."""

import numpy as np
import pytest

import afterglow.live
from afterglow.engine.episode import Episode
from afterglow.engine.simulate import simulate
from afterglow.worlds.world import World

MEANS = [0.5, 0.7, 0.4]


def arms_played(policy: str, world: World, steps: int, seed: int, season: int) -> list[int]:
    """The arms of one simulated run, read from its regret after every step: all gaps differ."""
    outcome = simulate(
        policy, world, steps, runs=1, seed=seed, engine="step", checkpoints=range(1, steps + 1), season=season
    )
    paid = np.diff(outcome.curves[0], prepend=0.0)
    gaps = np.array([max(MEANS) - mean for mean in MEANS])
    return [int(arm) for arm in np.abs(paid[:, None] - gaps).argmin(axis=1)]


@pytest.mark.parametrize(
    ("address", "policy", "spread", "season"),
    [
        ("sqlite", "trim-ucb", "last", 1),
        ("sqlite", "lean-ucb", "uniform", 1),
        ("sqlite", "trim-ucb", "uniform", 6),
        ("sqlite", "composite-exp3", "hoard", 1),
        ("sqlite", "phased-ucb", "uniform", 4),
        ("postgresql", "composite-exp3", "hoard", 1),
    ],
    indirect=["address"],
)
def test_a_thousand_steps_are_played_arm_for_arm_as_in_a_simulation(
    address: str, policy: str, spread: str, season: int
) -> None:
    world = World.of(MEANS, window=5, spread=spread)
    episode, variants = Episode(world, seed=11), ["0", "1", "2"]
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create(
            "simulated", variants, 5, 1000, reward_max=100.0, policy=policy, seed=11, season=season
        )
        for step in range(1000):
            experiment.close_step(100 * episode.pull(int(experiment.current())), step=step)
        played = [int(one.variant) for one in experiment.steps()]
        assert played == arms_played(policy, world, 1000, 11, season)
        assert len(set(played)) == 3
        assert experiment.verify().ok
