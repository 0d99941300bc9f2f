"""Compiled spreads: split the rewards of consecutive pulls into parts and add them to future steps.

Each kind of spread is one function of the same shape:

    scatter(table, scratch, arm, window, age, key, t0, rewards, n, left, future, at)

Pull i of n was made at step t0 + i, at age + i steps into its run; its parts go to future[at + i] and the
window - 1 places after. Random cuts come from the pull's own child key, so they don't depend on who asks.
Where only the sum of what arrives too late is wanted, this is cheaper:

    leak(table, scratch, arm, window, age, key, t0, rewards, n, left)

is what the pulls owe `left` steps from the first on; pull i pays its lags below left - i before, at least one and
not all. A scatter with the same `left`, for a part that was asked this first, owes the same.
`table` is made by `worlds.spreads`; `scratch` is working space, and a user's memory.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.random import child, uniform

Numbers = NDArray[np.float64]


class BadParts(ValueError):
    """A user's spread cuts a reward into parts that it can't have."""


def scatter_kernel(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """Fixed weights per arm, and per stage: a run's first table[1] steps may have others than the rest."""
    stages = int(table[0])
    boundary = int(table[1])
    if n == 1:  # as for policies that decide at every step: no slices
        late = 1 if stages == 2 and age >= boundary else 0
        row = 2 + (arm * stages + late) * (2 * window + 2)
        for s in range(int(table[row]), int(table[row + 1])):
            future[np.uint64(at + s)] += table[np.uint64(row + 2 + s)] * rewards[0]
        return
    i = 0
    while i < n:
        stage = 0
        stop = n
        if stages == 2 and age + i >= boundary:
            stage = 1
        elif stages == 2:
            stop = min(n, boundary - age)
        row = 2 + (arm * stages + stage) * (2 * window + 2)
        first = int(table[row])
        end = int(table[row + 1])
        weights = table[row + 2 + first : row + 2 + end]
        add_weighted(weights, rewards[i:stop], future[at + i + first : at + stop + end - 1])
        i = stop


def leak_kernel(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int,
) -> float:  # fmt: skip
    stages = int(table[0])
    boundary = int(table[1])
    owed = 0.0
    for i in range(n):
        stage = 1 if stages == 2 and age + i >= boundary else 0
        late = 2 + (arm * stages + stage) * (2 * window + 2) + 2 + window
        owed += rewards[i] * table[late + left - i]
    return owed


def add_weighted(weights: Numbers, rewards: Numbers, future: Numbers) -> None:
    """future[j + s] += weights[s] * rewards[j], the longer of the two loops inside so that it runs in lanes."""
    if rewards.size >= weights.size:
        for s in range(weights.size):
            weight = weights[s]
            ahead = future[s : s + rewards.size]
            for j in range(rewards.size):
                ahead[j] += weight * rewards[j]
    else:
        for j in range(rewards.size):
            for s in range(weights.size):
                future[j + s] += weights[s] * rewards[j]


def scatter_delay(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """The whole reward at one random lag: table holds the lags' cumulative law, then where to start looking."""
    for i in range(n):
        if rewards[i] != 0.0:
            future[at + i + lag_at(table, window, uniform(key, t0 + i))] += rewards[i]


def leak_delay(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int,
) -> float:  # fmt: skip
    owed = 0.0
    for i in range(n):
        if rewards[i] != 0.0 and lag_at(table, window, uniform(key, t0 + i)) >= left - i:
            owed += rewards[i]
    return owed


def lag_at(table: Numbers, window: int, u: float) -> int:
    """The quantile at u of the law of lags."""
    lag = int(table[window + int(u * window)])
    while table[lag] <= u:
        lag += 1
    return lag


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
        x = radius * math.sin(math.pi * (uniform(key, count + 1) - 0.5))
        v = (1.0 + c * x) ** 3
        u = 1.0 - uniform(key, count + 2)
        count += 3
        if v > 0.0 and (u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v)):
            return d * v * boost  # the first test only saves the second


def scatter_dirichlet(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """Symmetric Dirichlet(table[0]) weights, drawn anew for each pull.

    A pull that `leak` has been asked about pays what is late by the same share; lags before have been seen.
    """
    for i in range(n):
        if rewards[i] != 0.0:
            own = child(key, t0 + i)
            inside = left - i
            if inside >= window:
                add_dirichlet(table[0], own, 0, window, rewards[i], scratch, future, at + i)
            else:
                owed = rewards[i] * late_share(table[0], own, inside, window)
                add_dirichlet(table[0], own, inside, window, owed, scratch, future, at + i)


def leak_dirichlet(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int,
) -> float:  # fmt: skip
    owed = 0.0
    for i in range(n):
        if rewards[i] != 0.0:
            owed += rewards[i] * late_share(table[0], child(key, t0 + i), left - i, window)
    return owed


def late_share(alpha: float, key: Any, inside: int, window: int) -> float:
    """What Dirichlet weights leave after the first `inside` lags: a Beta number, from two Gamma numbers."""
    early = gamma(alpha * inside, child(key, window + 1), 0)
    late = gamma(alpha * (window - inside), child(key, window + 2), 0)
    if early + late > 0.0:
        return late / (early + late)
    return 1.0 if uniform(key, window + 3) * window >= inside else 0.0  # one lag takes all, as below


def add_dirichlet(
    alpha: float, key: Any, first: int, end: int, amount: float, scratch: Numbers, future: Numbers, at: int
) -> None:  # fmt: skip
    """Cut an amount by Dirichlet weights over the lags from `first` up to `end`."""
    whole = 0.0
    for s in range(first, end):
        if alpha == 1.0:
            scratch[s] = -math.log(1.0 - uniform(key, s))
        else:
            scratch[s] = gamma(alpha, child(key, s), 0)
        whole += scratch[s]
    if whole > 0.0:
        for s in range(first, end):
            future[at + s] += amount * (scratch[s] / whole)
    else:  # every weight underflowed: in the limit of small alpha one lag takes all
        future[at + first + int(uniform(key, end) * (end - first))] += amount


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
    rewards: Numbers, n: int, left: int, future: Numbers, at: int,
) -> None:  # fmt: skip
    """A user's function cuts each pull."""
    for i in range(n):
        parts = cut_by_user(table, scratch, arm, window, age + i, child(key, t0 + i), rewards[i])
        for s in range(window):
            future[at + i + s] += parts[s]


def leak_custom(
    table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, t0: int,
    rewards: Numbers, n: int, left: int,
) -> float:  # fmt: skip
    owed = 0.0
    for i in range(n):
        parts = cut_by_user(table, scratch, arm, window, age + i, child(key, t0 + i), rewards[i])
        for s in range(left - i, window):
            owed += parts[s]
    return owed


def cut_by_user(table: Numbers, scratch: Numbers, arm: int, window: int, age: int, key: Any, reward: float) -> Numbers:
    """One pull's parts, checked. table: best arm, number of draws, cells of memory."""
    count = int(table[1])
    parts = scratch[:window]
    draws = scratch[window : window + count]
    memory = scratch[window + count : window + count + int(table[2])]
    for j in range(count):
        draws[j] = uniform(key, j)
    parts[:] = 0.0
    cut_with_memory(reward, arm, int(table[0]), age, draws, parts, memory)
    whole = 0.0
    for s in range(window):
        if not parts[s] >= 0.0:
            raise BadParts("a spread's parts must not be negative")
        whole += parts[s]
    if abs(whole - reward) > 1e-9:
        raise BadParts("a spread's parts must add up to the reward")
    return parts
