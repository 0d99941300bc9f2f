"""A world as a Gymnasium environment (extra `gym`); importing it registers `afterglow/World-v0` and others."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import whole
from afterglow.engine.episode import Episode
from afterglow.errors import MissingExtra, OutOfTurn
from afterglow.worlds.spreads import ADVERSARIAL
from afterglow.worlds.world import World

try:
    import gymnasium
except ImportError as missing:
    raise MissingExtra("the Gymnasium environment", "gym") from missing

Totals = NDArray[np.float64]


class WorldEnv(gymnasium.Env[Totals, np.int64]):
    """An action is an arm, the observation and the reward are the pooled total of the step.

    An episode is truncated after `horizon` steps. `reset(seed=s)` starts run 0 of that seed, `reset()` the next run;
    the rewards are those of `simulate`. `info` has the regret so far and the reward still pending, which an agent must
    not use.

    >>> env = WorldEnv(World.of([0.9, 0.1], window=4, spread="last"), horizon=100)
    >>> total, info = env.reset(seed=3)
    >>> env.step(0)[0], info["regret"]
    (array([0.]), 0.0)
    """

    def __init__(self, world: World, horizon: int) -> None:
        self.world, self.horizon = world, whole("horizon", horizon, 1)
        self.most = math.inf if world.baseline.parts else float(world.window)
        self.action_space = gymnasium.spaces.Discrete(world.arms)
        self.observation_space = gymnasium.spaces.Box(0.0, self.most, (1,), np.float64)
        self.gaps = [float(gap) for gap in world.gaps]
        self.seed, self.run = 1, -1
        self.played, self.regret = 0, 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Totals, dict[str, Any]]:
        """Start the next run, or run 0 of a new seed."""
        super().reset(seed=seed)
        self.seed, self.run = (self.seed, self.run + 1) if seed is None else (seed, 0)
        self.episode = Episode(self.world, self.seed, self.run)
        self.played, self.regret = 0, 0.0
        return np.zeros(1), self.info()

    def step(self, action: np.int64) -> tuple[Totals, float, bool, bool, dict[str, Any]]:
        """Play an arm for one step."""
        if self.run < 0 or self.played >= self.horizon:
            when = "before the first reset" if self.run < 0 else f"after the {self.horizon:,} steps of the episode"
            raise OutOfTurn(f"step must not be called {when}; call reset first", field="action")
        arm = int(action)
        total = self.episode.pull(arm)
        self.regret += self.gaps[arm]
        self.played += 1
        # parts such as 0.1 may add up to a hair more than the window, which the space would refuse
        seen = np.array([total if total <= self.most else self.most])
        return seen, total, False, self.played >= self.horizon, self.info()

    def info(self) -> dict[str, Any]:
        return {"step": self.played, "regret": self.regret, "pending": self.episode.pending}


def make_world(
    rewards: Any = (0.5, 0.6, 0.7), window: int = 10, spread: Any = "uniform", horizon: int = 1_000,
    baseline: Any = None,
) -> WorldEnv:  # fmt: skip
    """What `gymnasium.make("afterglow/World-v0", …)` makes: the arguments of `World.of`, and the horizon.

    >>> env = gymnasium.make("afterglow/World-v0", rewards=[0.9, 0.1], window=4, horizon=100)
    >>> int(env.action_space.n), env.unwrapped.world.window
    (2, 4)
    """
    return WorldEnv(World.of(rewards, window, spread, baseline), horizon)


def register() -> None:
    """Make the ids known to Gymnasium: a world of one's own, and one for each spread that works against its player."""
    ids = {"World": "uniform"} | {name.capitalize(): name for name in ADVERSARIAL}
    for name, spread in ids.items():
        if f"afterglow/{name}-v0" not in gymnasium.registry:
            entry = f"{__name__}:make_world"
            gymnasium.register(f"afterglow/{name}-v0", entry_point=entry, kwargs={"spread": spread})


register()
