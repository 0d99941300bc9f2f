r"""Compiled reward laws: single rewards, their sum, and one draw of the sum of n.

Two kinds of table serve all laws, and for each there are three functions:

    fill(table, arm, key, t0, n, out)    the rewards of steps t0 … t0 + n - 1: quantiles at uniform(key, t)
    total(table, arm, key, t0, n)        their sum, added from left to right
    block(table, arm, key, n)            one draw of the sum of n rewards; the key serves this draw alone

All arms read the same uniform at step t and quantiles rise with it: common random numbers.

A `bernoulli` table is one probability per arm; its block is a binomial. A `cells` table holds each law's cells
and the *parts* they form, to which a block deals its n pulls by conditional binomials. The pulls of an atom bring
its value each. Those of a wide cell are halved: the bits of a uniform are fair coins, so m of them sum to
$\sum_j 2^{-j}\,\mathrm{Bin}(m, 1/2)$. What remains is where the pulls of a group of narrow cells fall inside it, or
those of a wide one below its last bit. Few are drawn one by one. The sum of many is one number with their exact
mean, variance, third and fourth cumulant: a normal one, bent as Cornish & Fisher (1938) teach. It is a few
hundredths of the deviation of the whole, and the fifth cumulants that go missing change the law of the whole by less
than 1e-11 in Kolmogorov distance where this is first used, at over a thousand pulls, and by less as $n^{-3/2}$
beyond. Laws without width (Bernoulli, discrete, empirical) have no such remainder: their sums are exact.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.binomial import binomial
from afterglow.engine.random import child, uniform
from afterglow.worlds.cells import Cells
from afterglow.worlds.rewards import Bernoulli, Reward

Numbers = NDArray[np.float64]

# A `cells` table starts with where each arm's law begins. A law is three numbers, its guide, its cells and a stop
# behind the last, its parts; places inside a law are counted from its start.
SLOTS, FIRST_PART, FEW, GUIDE = 0, 1, 2, 3  # size of the guide, where parts begin, draw fewer pulls one by one
UPTO, LOW, SLOPE, HIGH, CELL = 0, 1, 2, 3, 4  # a cell: probability below it, low, width / probability, high
SHARE, BASE, WIDTH, LEVELS, VARIANCE, THIRD, FOURTH, FROM, MASS, PART = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9  # `parts_of`
U_GUIDE, U_LOW, U_SLOPE, U_HIGH, U_CELL = (np.uint64(place) for place in (GUIDE, LOW, SLOPE, HIGH, CELL))

GROUPS = 32  # into which the cells of a smooth law are put
FINE = 64  # a cell alone is halved until it is this many times narrower than the law's deviation
MANY = 32  # pulls in one part whose places inside it are summed up by cumulants
SINGLE = 10  # pulls drawn one by one in the time of one binomial


def fill_bernoulli(table: Numbers, arm: int, key: np.uint64, t0: int, n: int, out: Numbers) -> None:
    edge = 1.0 - table[arm]
    for i in range(n):
        out[i] = 1.0 if uniform(key, t0 + i) >= edge else 0.0


def total_bernoulli(table: Numbers, arm: int, key: np.uint64, t0: int, n: int) -> float:
    edge = 1.0 - table[arm]
    count = 0
    for t in range(t0, t0 + n):
        count += 1 if uniform(key, t) >= edge else 0
    return float(count)


def block_bernoulli(table: Numbers, arm: int, key: np.uint64, n: int) -> float:
    return float(binomial(key, n, table[arm]))


def quantile(table: Numbers, law: int, u: float) -> float:
    """The reward at u, 0 <= u < 1, of the law that begins at place `law` of the table."""
    start = np.uint64(law)  # unsigned places need no test for negative ones: half the time
    cell = start + np.uint64(int(table[start + U_GUIDE + np.uint64(int(u * table[start]))]))
    if u >= table[cell + U_CELL]:  # once is nearly always enough, and compiles without a branch
        cell += U_CELL
    while u >= table[cell + U_CELL]:
        cell += U_CELL
    reward = table[cell + U_LOW] + (u - table[cell]) * table[cell + U_SLOPE]
    return float(min(reward, table[cell + U_HIGH]))


def fill_cells(table: Numbers, arm: int, key: np.uint64, t0: int, n: int, out: Numbers) -> None:
    law = int(table[arm])
    for i in range(n):
        out[i] = quantile(table, law, uniform(key, t0 + i))


def total_cells(table: Numbers, arm: int, key: np.uint64, t0: int, n: int) -> float:
    return total_between(table, int(table[arm]), 0.0, 1.0, key, t0, n)


def total_between(table: Numbers, law: int, first: float, mass: float, key: np.uint64, t0: int, n: int) -> float:
    """The sum of n rewards whose uniforms lie between first and first + mass."""
    whole = 0.0
    for t in range(t0, t0 + n):
        whole += quantile(table, law, first + mass * uniform(key, t))
    return whole


def block_cells(table: Numbers, arm: int, key: np.uint64, n: int) -> float:
    law = int(table[arm])
    if n < table[law + FEW]:
        return total_between(table, law, 0.0, 1.0, key, 0, n)
    part = law + int(table[law + FIRST_PART])
    whole = 0.0
    variance = 0.0
    third = 0.0
    fourth = 0.0
    left = n
    t = 0
    while left > 0:
        m = binomial(child(key, t), left, table[part + SHARE])
        left -= m
        t += 1
        if m < MANY and table[part + VARIANCE] > 0.0:
            whole += total_between(table, law, table[part + FROM], table[part + MASS], child(key, t), 0, m)
            t += 1
        else:
            whole += m * table[part + BASE]
            variance += m * table[part + VARIANCE]
            third += m * table[part + THIRD]
            fourth += m * table[part + FOURTH]
            step = table[part + WIDTH]
            for _ in range(int(table[part + LEVELS])):
                step *= 0.5
                whole += step * binomial(child(key, t), m, 0.5)
                t += 1
        part += PART
    if variance > 0.0:
        whole += nearly_normal(child(key, t), variance, third, fourth)
    return whole


def nearly_normal(key: np.uint64, variance: float, third: float, fourth: float) -> float:
    """A number of mean 0 with these cumulants: a normal one, bent by Cornish & Fisher's expansion."""
    z = math.sqrt(-2.0 * math.log(1.0 - uniform(key, 0))) * math.cos(2.0 * math.pi * uniform(key, 1))
    deviation = math.sqrt(variance)
    skew = third / (variance * deviation)
    excess = fourth / (variance * variance)
    square = z * z
    bend = skew * (square - 1.0) / 6.0 + excess * (square - 3.0) * z / 24.0
    return deviation * (z + bend - skew * skew * (2.0 * square - 5.0) * z / 36.0)


KINDS: dict[str, tuple[Callable[..., None], Callable[..., float], Callable[..., float]]] = {
    "bernoulli": (fill_bernoulli, total_bernoulli, block_bernoulli),
    "cells": (fill_cells, total_cells, block_cells),
}


def table_of(rewards: Sequence[Reward]) -> tuple[str, Numbers]:
    """The kind of table for the arms' laws, and the table."""
    if all(isinstance(reward, Bernoulli) for reward in rewards):
        return "bernoulli", np.array([reward.mean for reward in rewards])
    laws = [law_of(reward.cells()) for reward in rewards]
    starts = len(laws) + np.cumsum([0] + [law.size for law in laws[:-1]])
    return "cells", np.concatenate([starts.astype(float), *laws])


def law_of(cells: Cells) -> Numbers:
    """One arm's law as numbers."""
    slots = 1 << (2 * cells.low.size - 1).bit_length()
    upto = np.concatenate([[0.0], np.cumsum(cells.probability)[:-1]])
    first = GUIDE + slots
    guide = first + CELL * (np.searchsorted(upto, np.arange(slots) / slots, side="right") - 1)
    table = np.stack([upto, cells.low, cells.width / cells.probability, cells.low + cells.width], axis=1)
    parts = parts_of(cells)
    few = SINGLE * (len(parts) + parts[:, LEVELS].sum()) + MANY * (parts[:, VARIANCE] > 0).sum()
    head = [slots, first + table.size + CELL, few]
    return np.concatenate([head, guide, table.ravel(), [math.inf, 0.0, 0.0, 0.0], parts.ravel()])


def parts_of(cells: Cells) -> Numbers:
    """What a sum is dealt to: atoms, wide cells, and groups of narrow cells.

    A part has its share of the pulls that earlier parts have left; what each of its pulls brings before halving,
    the width to halve and how often; the variance, third and fourth cumulant of what is left then; and the
    stretch of uniforms that lead to it.
    """
    group = groups_of(cells)
    mass = np.bincount(group, cells.probability)
    parts = np.zeros((mass.size, PART))
    parts[:, SHARE] = mass / np.cumsum(mass[::-1])[::-1]
    parts[:, FROM] = np.concatenate([[0.0], np.cumsum(mass)[:-1]])
    parts[:, MASS] = mass
    deviation = math.sqrt(cells.variance)
    for part in range(mass.size):
        inside = group == part
        if inside.sum() == 1:
            parts[part, BASE:FROM] = halved(cells.low[inside][0], cells.width[inside][0], deviation)
        else:
            parts[part, BASE:FROM] = joined(cells.probability[inside], cells.low[inside], cells.width[inside])
    return parts


def groups_of(cells: Cells) -> NDArray[np.int64]:
    """The number of each cell's part: every cell alone if few are wide, else stretches of neighbours.

    Stretches have equal sums of (probability * width^4)^(1/5), which keeps what is left inside them small.
    """
    wide = cells.width > 0
    if wide.sum() <= GROUPS:
        return np.arange(cells.low.size)
    size = (cells.probability * cells.width**4) ** 0.2
    stretch = np.floor(GROUPS * (np.cumsum(size) - size / 2) / size.sum())
    new = (stretch[1:] != stretch[:-1]) | ~wide[1:] | ~wide[:-1]
    return np.cumsum(np.concatenate([[0], new]))


def halved(low: float, width: float, deviation: float) -> list[float]:
    """A part that is one cell."""
    if width == 0.0:
        return [low, 0.0, 0.0, 0.0, 0.0, 0.0]
    levels = max(0, math.ceil(math.log2(FINE * width / deviation)))
    rest = width / 2**levels
    return [low + rest / 2, width, float(levels), rest**2 / 12, 0.0, -(rest**4) / 120]


def joined(probability: Numbers, low: Numbers, width: Numbers) -> list[float]:
    """A part that is a group of cells: its mean, nothing to halve, its cumulants."""
    share = probability / probability.sum()
    mean = share @ (low + width / 2)
    away = low + width / 2 - mean
    second = share @ (away**2 + width**2 / 12)
    third = share @ (away**3 + away * width**2 / 4)
    fourth = share @ (away**4 + away**2 * width**2 / 2 + width**4 / 80)
    return [mean, 0.0, 0.0, second, third, fourth - 3 * second**2]
