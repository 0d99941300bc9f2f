"""An experiment through HTTP decides as the simulation does."""

from pathlib import Path

import numpy as np

from afterglow.engine.episode import Episode
from afterglow.engine.simulate import simulate
from afterglow.worlds.world import World
from testbed.quick_disk import quick_folder
from testbed.service import Serving

MEANS = [0.5, 0.7, 0.4]
STEPS = 1000


def arms_played(policy: str, world: World, seed: int) -> list[int]:
    """The arms of one simulated run, read from its regret after every step: all gaps differ."""
    outcome = simulate(policy, world, STEPS, runs=1, seed=seed, engine="step", checkpoints=range(1, STEPS + 1))
    paid = np.diff(outcome.curves[0], prepend=0.0)
    gaps = np.array([max(MEANS) - mean for mean in MEANS])
    return [int(arm) for arm in np.abs(paid[:, None] - gaps).argmin(axis=1)]


def test_a_thousand_steps_through_http_are_played_arm_for_arm_as_in_a_simulation() -> None:
    world = World.of(MEANS, window=5, spread="uniform")
    episode = Episode(world, seed=11)
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db") as serving, serving.client() as client:
        asked = {
            "name": "simulated", "variants": ["0", "1", "2"], "window": 5, "horizon": STEPS, "reward_max": 100.0,
            "policy": "trim-ucb", "seed": 11,
        }  # fmt: skip
        path = client.post("/v1/experiments", json=asked).headers["location"]
        variant = client.get(f"{path}/current").json()["variant"]
        for step in range(STEPS):
            closed = client.post(f"{path}/steps/{step}", json={"total": 100 * episode.pull(int(variant))}).json()
            variant = closed["next"]["variant"]
        played = [int(one["variant"]) for one in client.get(f"{path}/steps?limit=1000").json()["items"]]
        assert closed["next"]["role"] == "over"
    assert played == arms_played("trim-ucb", world, 11)
    assert len(set(played)) == 3
