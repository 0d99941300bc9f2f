"""When rewards arrive: cut the rewards of consecutive pulls into parts and add them to the future.

Each kind of spread is one function of the same shape:

    scatter(table, scratch, arm, window, age, key, t0, rewards, n, future, at)

Pull i of n was made at step t0 + i, at age + i steps into its run; its parts go to future[at + i] and the
window - 1 places after. Random cuts come from the pull's own child key, so they don't depend on who asks.
`table` is made by `worlds.spreads`; `scratch` is working space, and a user's memory.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.random import child, uniform
from afterglow.engine.view import from_place

Numbers = NDArray[np.float64]


def scatter_kernel(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """Fixed weights per arm, and per stage: a run's first table[1] steps may have others than the rest."""
    stages = int(table[0])
    boundary = int(table[1])
    i = 0
    while i < n:
        stage = 0
        stop = n
        if stages == 2 and age + i >= boundary:
            stage = 1
        elif stages == 2:
            stop = min(n, boundary - age)
        row = 2 + (arm * stages + stage) * (window + 2)
        first = int(table[row])
        end = int(table[row + 1])
        weights, part = from_place(table, row + 2 + first), from_place(rewards, i)
        add_weighted(weights, end - first, part, stop - i, from_place(future, at + i + first))
        i = stop


def add_weighted(weights: Numbers, lags: int, rewards: Numbers, n: int, future: Numbers) -> None:
    """future[j + s] += weights[s] * rewards[j], the longer of the two loops inside so that it runs in lanes."""
    if n >= lags:
        for s in range(lags):
            weight = weights[s]
            ahead = from_place(future, s)
            for j in range(n):
                ahead[j] += weight * rewards[j]
        return
    j = 0
    while j + 2 < n:  # three rewards at a time: a place is written once for the three, not read back in between
        a, b, c = rewards[j], rewards[j + 1], rewards[j + 2]
        future[j] += weights[0] * a
        future[j + 1] += weights[1] * a + weights[0] * b
        for s in range(2, lags):
            future[j + s] += weights[s] * a + weights[s - 1] * b + weights[s - 2] * c
        future[j + lags] += weights[lags - 1] * b + weights[lags - 2] * c
        future[j + lags + 1] += weights[lags - 1] * c
        j += 3
    while j < n:
        for s in range(lags):
            future[j + s] += weights[s] * rewards[j]
        j += 1


def scatter_delay(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """The whole reward at one random lag: table holds the lags' cumulative law, then where to start looking."""
    for i in range(n):
        if rewards[i] != 0.0:
            u = uniform(key, t0 + i)
            lag = int(table[window + int(u * window)])
            while table[lag] <= u:
                lag += 1
            future[at + i + lag] += rewards[i]


def gamma(shape: float, key: Any, first: int) -> float:
    """A Gamma(shape) draw by Marsaglia & Tsang (2000), from the uniforms of `key` numbered from `first`."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - uniform(key, first)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    count = first + 1
    while True:
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, count)))
        x = radius * math.cos(2.0 * math.pi * uniform(key, count + 1))
        v = (1.0 + c * x) ** 3
        u = 1.0 - uniform(key, count + 2)
        count += 3
        if v > 0.0 and math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v * boost


def scatter_dirichlet(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """Symmetric Dirichlet(table[0]) weights, drawn anew for each pull."""
    alpha = table[0]
    for i in range(n):
        if rewards[i] != 0.0:
            own = child(key, t0 + i)
            whole = 0.0
            for s in range(window):
                if alpha == 1.0:
                    scratch[s] = -math.log(1.0 - uniform(own, s))
                else:
                    scratch[s] = gamma(alpha, child(own, s), 0)
                whole += scratch[s]
            if whole > 0.0:
                for s in range(window):
                    future[at + i + s] += rewards[i] * (scratch[s] / whole)
            else:  # every weight underflowed: in the limit of small alpha one lag takes all
                future[at + i + int(uniform(own, window) * window)] += rewards[i]


def cut(reward: float, arm: int, best: int, age: int, draws: Numbers, parts: Numbers) -> None:
    """Stands for a user's function without memory; the real one is compiled in its place."""
    parts[0] = reward


def cut_with_memory(
    reward: float, arm: int, best: int, age: int, draws: Numbers, parts: Numbers, memory: Numbers
) -> None:
    """Stands for a user's function with memory; the real one is compiled in its place."""
    cut(reward, arm, best, age, draws, parts)


def scatter_custom(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """A user's function cuts each pull, and is checked. table: best arm, number of draws, cells of memory."""
    best = int(table[0])
    count = int(table[1])
    parts = scratch[:window]
    draws = scratch[window : window + count]
    memory = scratch[window + count : window + count + int(table[2])]
    for i in range(n):
        own = child(key, t0 + i)
        for j in range(count):
            draws[j] = uniform(own, j)
        parts[:] = 0.0
        cut_with_memory(rewards[i], arm, best, age + i, draws, parts, memory)
        whole = 0.0
        for s in range(window):
            if not parts[s] >= 0.0:
                raise ValueError("a spread's parts must not be negative")
            whole += parts[s]
            future[at + i + s] += parts[s]
        if abs(whole - rewards[i]) > 1e-9:
            raise ValueError("a spread's parts must add up to the reward")
