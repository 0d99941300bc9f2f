"""Other people's agents can play."""

import subprocess
import sys
from time import process_time

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from afterglow.engine.episode import Episode
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


@pytest.mark.parametrize("name", ["World", "Hoard", "Handicap", "Chameleon"])
def test_gymnasium_makes_it_by_name(name: str) -> None:
    env = gymnasium.make(f"afterglow/{name}-v0", rewards=[0.9, 0.1], window=4, horizon=3)
    assert env.unwrapped.world.spread.text == ("uniform" if name == "World" else name.lower())  # type: ignore[attr-defined]
    env.reset(seed=1)
    assert [env.step(np.int64(0))[3] for _ in range(3)] == [False, False, True]


def test_a_name_with_its_module_needs_no_import() -> None:
    code = "import gymnasium; print(gymnasium.make('afterglow.lab.gym_env:afterglow/World-v0').action_space)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "Discrete(3)\n", done.stderr


def test_a_step_takes_less_time_than_one_of_gymnasiums_own() -> None:
    """About a third of it; a step that looks its functions up anew takes fifty times as long."""

    def seconds(env: gymnasium.Env[np.ndarray, np.int64]) -> float:
        env.reset(seed=1)
        began = process_time()
        for number in range(2_000):
            if env.step(np.int64(number & 1))[2]:
                env.reset()
        return process_time() - began

    ours = WorldEnv(World.of([0.9, 0.5, 0.1], 10, "uniform"), horizon=2_000)
    theirs = gymnasium.make("CartPole-v1").unwrapped
    assert min(seconds(ours) for _ in range(5)) < min(seconds(theirs) for _ in range(5))


def test_what_is_owed_is_what_is_pending() -> None:
    episode = Episode(World.of([0.9, 0.5], 6, "uniform"), seed=2)
    for arm in (0, 0, 1, 0, 1, 1, 1):
        episode.pull(arm)
        assert sum(episode.owed) == pytest.approx(episode.pending)
    assert len(episode.owed) == 5
    assert episode.step == 7


@pytest.mark.parametrize("arm", [-1, 2, 0.5, "0", None, float("nan")])
def test_an_episode_refuses_what_is_no_arm(arm: object) -> None:
    with pytest.raises(BadValue, match="arm must be between 0 and 1, got"):
        Episode(World.of([0.9, 0.5], 6, "uniform")).pull(arm)  # type: ignore[arg-type]
