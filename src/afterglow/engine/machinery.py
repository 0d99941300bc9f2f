"""Compiled functions and tables of a world."""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from afterglow.engine import income, rewards, scatter
from afterglow.engine.chance import refuse_chance
from afterglow.engine.driver import (
    BLOCKS,
    FILL,
    INCOME,
    LEAK,
    SCATTER,
    TOTAL,
    block_over,
    by_pointer,
    fill_over,
    income_over,
    leak_over,
    scatter_over,
    total_over,
)
from afterglow.engine.policies import gist
from afterglow.errors import BadValue
from afterglow.worlds.rewards import Reward
from afterglow.worlds.spreads import Spread
from afterglow.worlds.world import World

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Machinery:
    """What the driver needs of a world."""

    functions: tuple[Any, Any, Any, Any, Any, Any]  # fill, total, block, scatter, leak, income
    law: Numbers
    cuts: Numbers
    base: Numbers  # the baseline
    room: int
    gather: bool
    window: int
    gaps: Numbers
    best: int
    spread: Spread


def machinery(world: World, attributed: bool = False) -> Machinery:
    """The world compiled; `attributed` pays each pull's whole reward when its window closes."""
    kind, law = reward_table(world.rewards)
    spread = Spread("last") if attributed else world.spread
    plan = spread.plan(world.arms, world.best, world.window)
    functions = (
        *reward_functions(kind),
        *spread_functions(plan.kind, spread.function, spread.memory),
        income_function(),
    )
    room = world.window + max(plan.room, 1)
    return Machinery(
        functions, law, plan.table, income.table_of(world.baseline), room, plan.gather, world.window,
        np.array(world.gaps), world.best, spread,
    )  # fmt: skip


def reward_table(laws: tuple[Reward, ...]) -> tuple[str, Numbers]:
    """The laws as one table; made once for laws that can be told apart."""
    try:
        return known_table(laws)
    except TypeError:  # a user's law that has no hash
        return rewards.table_of(laws)


known_table = lru_cache(maxsize=256)(rewards.table_of)


@cache
def reward_functions(kind: str) -> tuple[Any, Any, Any]:
    """(fill, total, block) for a kind of reward table."""
    fill, total, block = rewards.KINDS[kind]
    return (
        by_pointer(fill_over, FILL, fill),
        by_pointer(total_over, TOTAL, total),
        by_pointer(block_over, BLOCKS, block),
    )


def spread_functions(kind: str, function: Any, memory: int) -> tuple[Any, Any]:
    """(scatter, leak) for a kind of spread; a user's function, as it is now, takes the place of the stand-in."""
    return named_spread(kind) if function is None else compiled_spread(kind, function, memory)


@cache
def named_spread(kind: str) -> tuple[Any, Any]:
    return compiled_spread(kind, None, 0)


def compiled_spread(kind: str, function: Any, memory: int) -> tuple[Any, Any]:
    stand_in = scatter.cut_with_memory if memory else scatter.cut
    swap = {} if function is None else {stand_in: function}
    refuse_chance({"the world's spread": function})
    try:
        return (
            by_pointer(scatter_over, SCATTER, getattr(scatter, f"scatter_{kind}"), swap, merge=kind == "kernel"),
            by_pointer(leak_over, LEAK, getattr(scatter, f"leak_{kind}"), swap),
        )
    except NumbaError as error:
        sentence = f"the world's spread can't be compiled: {gist(error)}; docs/guides/worlds.md says what may be used"
        raise BadValue(sentence, kind="not-compiled", field="spread") from error


@cache
def income_function() -> Any:
    """The compiled sum of a baseline."""
    return by_pointer(income_over, INCOME, income.income)
