"""`Episode`: one run of a world, pulled step by step, for other agents and for tests."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from afterglow import rng
from afterglow.checks import any_seed, is_number
from afterglow.engine.addresses import address_of
from afterglow.engine.compiling import digest, jitted, keep, source_of
from afterglow.engine.driver import FILL, INCOME, SCATTER, fill_at, income_at, scatter_at
from afterglow.engine.income import NONE
from afterglow.engine.machinery import machinery
from afterglow.engine.tiers import CHUNK, MANY, collect_owed, cut_steps
from afterglow.engine.view import first_cell
from afterglow.errors import BadValue, argument
from afterglow.worlds.world import World

# Cells of the three rows that a step reads and writes.
FILL_AT, SCATTER_AT, INCOME_AT, REWARD_KEY, SPREAD_KEY, BASE_KEY = 0, 1, 2, 3, 4, 5
WINDOW, GATHER, ARM, AGE, STEP, AT = 0, 1, 2, 3, 4, 5
GENERATED, EARNED, PENDING, STOP = 0, 1, 2, 3


def pull_once(
    words: Any, places: Any, sums: Any, law: Any, cuts: Any, base: Any, scratch: Any, rewards: Any, future: Any,
    arm: int,
) -> Any:  # fmt: skip
    """One step of an arm: the pooled total. Everything else is in the rows."""
    last, at, window = places[ARM], places[AT], places[WINDOW]
    places[AGE] = places[AGE] + 1 if arm == last else 0
    if places[GATHER] == 1 and last >= 0 and arm != last:
        future[at] = collect_owed(first_cell(future), at, window)
    seen, generated, at = cut_steps(
        fill_at(words[FILL_AT]), scatter_at(words[SCATTER_AT]), first_cell(law), first_cell(cuts), first_cell(scratch),
        arm, window, places[AGE], words[REWARD_KEY], words[SPREAD_KEY], places[STEP], 1, MANY, first_cell(rewards),
        first_cell(future), at, first_cell(sums[STOP:]),
    )  # fmt: skip
    earned = 0.0
    if base[0] != NONE:
        earned = income_at(words[INCOME_AT])(first_cell(base), words[BASE_KEY], places[STEP], 1)
    pending = 0.0
    for i in range(window - 1):
        pending += future[at + i]
    places[ARM] = arm
    places[AT] = at
    places[STEP] += 1
    sums[GENERATED] += generated
    sums[EARNED] += earned
    sums[PENDING] = pending
    return seen + earned


i8, f8, u8 = types.int64, types.float64, types.uint64
SIGNATURE = f8(u8[::1], i8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], i8)


@cache
def machine() -> Any:
    makers = source_of("afterglow.engine.view", "afterglow.engine.addresses")
    mark, done = digest(pull_once, str(SIGNATURE), makers), dict[Any, Any]()
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
        self.world, self.arms = world, world.arms
        self.made = made = machinery(world)  # kept, because its functions are called by address
        seed = any_seed(seed)
        fill, _, _, scatter, _, income = made.functions
        addresses = [address_of(fill, FILL), address_of(scatter, SCATTER), address_of(income, INCOME)]
        keys = [rng.key(seed, run, stream) for stream in (rng.REWARD, rng.SPREAD, rng.BASELINE)]
        self.places = np.array([world.window, int(made.gather), -1, 0, 0, 0], np.int64)
        self.sums = np.zeros(4)
        self.rows = (
            np.array(addresses + keys, np.uint64), self.places, self.sums, made.law, made.cuts, made.base.copy(),
            np.zeros(made.room), np.zeros(CHUNK), np.zeros(CHUNK + world.window),
        )  # fmt: skip
        self.machine = machine()

    def pull(self, arm: int) -> float:
        """Play an arm for one step: the pooled total of that step."""
        if type(arm) is not int:
            if not is_number(arm) or arm != int(arm):
                raise self.refused(arm)
            arm = int(arm)
        if not 0 <= arm < self.arms:
            raise self.refused(arm)
        return float(self.machine(*self.rows, arm))

    def refused(self, arm: object) -> BadValue:
        return BadValue(f"{argument('arm')} must be between 0 and {self.arms - 1}, got {arm!r}")

    @property
    def step(self) -> int:
        """Steps played."""
        return int(self.places[STEP])

    @property
    def generated(self) -> float:
        """Reward of all pulls."""
        return float(self.sums[GENERATED])

    @property
    def income(self) -> float:
        """What the baseline brought."""
        return float(self.sums[EARNED])

    @property
    def owed(self) -> list[float]:
        """What earlier pulls still pay in each of the next window - 1 steps."""
        future, at = self.rows[-1], self.places[AT]
        return [float(part) for part in future[at : at + self.world.window - 1]]

    @property
    def pending(self) -> float:
        """Reward that was generated and has not arrived yet."""
        return float(self.sums[PENDING])
