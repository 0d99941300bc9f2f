"""`Episode`: one run of a world, pulled step by step, for other agents and for tests."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from afterglow import rng
from afterglow.checks import any_seed, is_number
from afterglow.engine.compiling import digest, jitted, keep, source_of
from afterglow.engine.driver import FILL, INCOME, SCATTER
from afterglow.engine.income import NONE
from afterglow.engine.machinery import machinery
from afterglow.engine.tiers import CHUNK, MANY, collect_owed, cut_steps
from afterglow.engine.view import first_cell
from afterglow.errors import BadValue, argument
from afterglow.worlds.world import World


def pull_once(
    fill: Any, scatter: Any, income: Any, law: Any, cuts: Any, base: Any, scratch: Any, arm: int, window: int,
    age: int, gather: int, reward_key: Any, spread_key: Any, base_key: Any, t: int, rewards: Any, future: Any,
    at: int, stop: Any,
) -> Any:  # fmt: skip
    """One step: (arrived from pulls, generated, income, at)."""
    if gather == 1 and age == 0:
        owed = collect_owed(first_cell(future), at, window)
        future[at] = owed
    seen, generated, at = cut_steps(
        fill, scatter, first_cell(law), first_cell(cuts), first_cell(scratch), arm, window, age, reward_key,
        spread_key, t, 1, MANY, first_cell(rewards), first_cell(future), at, first_cell(stop),
    )  # fmt: skip
    earned = 0.0
    if base[0] != NONE:
        earned = income(first_cell(base), base_key, t, 1)
    return seen, generated, earned, at


i8, f8, u8 = types.int64, types.float64, types.uint64
SIGNATURE = types.Tuple((f8, f8, f8, i8))(
    *(types.FunctionType(kind) for kind in (FILL, SCATTER, INCOME)), *[f8[::1]] * 4, i8, i8, i8, i8, u8, u8, u8, i8,
    f8[::1], f8[::1], i8, f8[::1],
)  # fmt: skip


@cache
def machine() -> Any:
    mark, done = digest(pull_once, str(SIGNATURE), source_of("afterglow.engine.view")), dict[Any, Any]()
    parts = (collect_owed, cut_steps)
    return keep(pull_once, SIGNATURE, lambda: {f.__name__: jitted(f, done, False, mark) for f in parts}, mark)


class Episode:
    """Run number `run` of `seed`: pull by pull what the `step` engine would meet.

    >>> episode = Episode(World.of([0.9, 0.1], window=4, spread="last"), seed=3)
    >>> [episode.pull(0) for _ in range(6)]
    [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    >>> episode.generated, episode.pending
    (5.0, 3.0)
    """

    def __init__(self, world: World, seed: int = 1, run: int = 0) -> None:
        self.world = world
        self.made = machinery(world)
        self.machine, self.functions = machine(), self.made.functions
        self.rewards = np.zeros(CHUNK)
        self.future = np.zeros(CHUNK + world.window)
        self.scratch = np.zeros(self.made.room)
        self.stop = np.zeros(1)
        self.base = self.made.base.copy()
        streams = (rng.REWARD, rng.SPREAD, rng.BASELINE)
        seed = any_seed(seed)
        self.keys = [np.uint64(rng.key(seed, run, stream)) for stream in streams]
        self.at = self.step = self.age = 0
        self.arm = -1
        self.generated = self.income = 0.0

    def pull(self, arm: int) -> float:
        """Play an arm for one step: the pooled total of that step."""
        if not is_number(arm) or arm not in range(self.world.arms):
            raise BadValue(f"{argument('arm')} must be between 0 and {self.world.arms - 1}, got {arm!r}")
        changed = self.arm not in (arm, -1)
        self.age = 0 if arm != self.arm else self.age + 1
        self.arm = int(arm)
        made = self.made
        fill, _, _, scatter, _, income = self.functions
        seen, drawn, earned, self.at = self.machine(
            fill, scatter, income, made.law, made.cuts, self.base, self.scratch, self.arm,
            self.world.window, self.age, int(made.gather and changed), *self.keys, self.step, self.rewards,
            self.future, self.at, self.stop,
        )  # fmt: skip
        self.generated += drawn
        self.income += earned
        self.step += 1
        return float(seen + earned)

    @property
    def pending(self) -> float:
        """Reward that was generated and has not arrived yet."""
        return float(self.future[self.at : self.at + self.world.window - 1].sum())
