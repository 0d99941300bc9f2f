"""Other people's agents can play."""

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue, OutOfTurn
from afterglow.lab.gym_env import WorldEnv
from afterglow.worlds.world import World


@pytest.mark.parametrize("spread", ["uniform", "hoard", "dirichlet"])
def test_gymnasium_finds_nothing_wrong(spread: str) -> None:
    check_env(WorldEnv(World.of([0.9, 0.5, 0.1], 6, spread), horizon=50), skip_render_check=True)


def test_an_episode_meets_what_a_simulation_meets() -> None:
    world = World.of([0.9, 0.5], 6, "dirichlet")
    outcome = simulate("ucb1", world, 200, runs=3, seed=4)
    env = WorldEnv(world, horizon=200)
    for run in range(3):
        env.reset(seed=4 if run == 0 else None)
        pulls, sums, truncated = np.zeros(2), np.zeros(2), False
        step, info = 0, {"regret": 0.0}
        while not truncated:
            with np.errstate(divide="ignore", invalid="ignore"):
                index = np.where(pulls == 0, np.inf, sums / pulls + np.sqrt(2 * np.log(max(step, 1)) / pulls))
            arm = int(index.argmax())
            total, reward, terminated, truncated, info = env.step(np.int64(arm))
            assert reward == pytest.approx(total[0])
            assert not terminated
            pulls[arm] += 1
            sums[arm] += reward
            step += 1
        assert info["regret"] == pytest.approx(outcome.regrets[run])


def test_an_arm_that_does_not_exist_is_refused() -> None:
    env = WorldEnv(World.of([0.9, 0.5], 6, "uniform"), horizon=9)
    env.reset(seed=1)
    with pytest.raises(BadValue, match="arm must be between 0 and 1, got 2"):
        env.step(np.int64(2))


def test_a_step_outside_an_episode_is_refused() -> None:
    env = WorldEnv(World.of([0.9, 0.5], 6, "uniform"), horizon=1)
    with pytest.raises(OutOfTurn, match="step must not be called before the first reset"):
        env.step(np.int64(0))
    env.reset(seed=1)
    assert env.step(np.int64(0))[3]
    with pytest.raises(OutOfTurn, match="step must not be called after the 1 steps of the episode; call reset"):
        env.step(np.int64(0))
    env.reset()
    env.step(np.int64(0))
