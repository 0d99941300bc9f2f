"""Compiled baselines: the income of consecutive steps.

    income(table, key, t0, n)    the income of steps t0 … t0 + n - 1

Without randomness it is closed: whole cycles and a rest. Otherwise step t reads the uniforms of its own number, so
the same steps bring the same income in every tier. A correlated noise also needs its value of the step before, which a
cell of the table keeps: each run has a copy of its own and asks for its steps in order.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.random import child, uniform
from afterglow.worlds.baseline import Baseline, Blocks, Noise

Numbers = NDArray[np.float64]

# A table is these numbers, the cycle's values, the history's values.
KIND, PERIOD, CYCLE, DEVIATION, CORRELATION, BEFORE, LENGTH, SEASON, SIZE, VALUES = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
NONE, CLOSED, RANDOM, SIGNED = 0.0, 1.0, 2.0, 3.0  # kinds; signed is random and not cut at 0


def income(table: Numbers, key: Any, t0: int, n: int) -> float:
    if table[KIND] < RANDOM:
        return closed(table, t0, n)
    period = int(table[PERIOD])
    noise_key = child(key, 0)
    block_key = child(key, 1)
    total = 0.0
    for t in range(t0, t0 + n):
        value = table[VALUES + t % period]
        if table[DEVIATION] > 0.0:
            value += noise(table, noise_key, t)
        if table[SIZE] > 0.0:
            value += from_history(table, VALUES + period, block_key, t)
        total += max(0.0, value) if table[KIND] == RANDOM else value
    return total


def closed(table: Numbers, t0: int, n: int) -> float:
    """Whole cycles at once, then the phases that are left."""
    period = int(table[PERIOD])
    total = float((n // period) * table[CYCLE])
    for t in range(t0, t0 + n % period):
        total += float(table[VALUES + t % period])
    return total


def noise(table: Numbers, key: Any, t: int) -> float:
    """A normal number of the given deviation, correlated with that of step t - 1."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, 2 * t)))
    fresh = table[DEVIATION] * radius * math.cos(2.0 * math.pi * uniform(key, 2 * t + 1))
    kept = table[CORRELATION] if t > 0 else 0.0
    table[BEFORE] = kept * table[BEFORE] + math.sqrt(1.0 - kept * kept) * fresh
    return float(table[BEFORE])


def from_history(table: Numbers, first: int, key: Any, t: int) -> float:
    """The value of step t: its block begins at a random place of the history, in the block's phase."""
    size, season, length = int(table[SIZE]), int(table[SEASON]), int(table[LENGTH])
    block = t // length
    begin = season * int(uniform(key, block) * (size // season)) + (block * length) % season
    return float(table[first + (begin + t % length) % size])


def table_of(baseline: Baseline) -> Numbers:
    """The numbers that `income` reads."""
    head = np.zeros(VALUES)
    if not baseline.parts:
        return head
    cycle = np.array(baseline.profile)
    history = np.zeros(0)
    random = SIGNED if baseline.signed else RANDOM
    head[KIND], head[PERIOD], head[CYCLE] = random if baseline.random else CLOSED, cycle.size, math.fsum(cycle)
    for part in baseline.parts:
        if isinstance(part, Noise):
            head[DEVIATION], head[CORRELATION] = part.deviation, part.correlation
        if isinstance(part, Blocks):
            history = np.array(part.used)
            head[LENGTH], head[SEASON], head[SIZE] = part.length, part.season, history.size
    return np.concatenate([head, cycle, history])
