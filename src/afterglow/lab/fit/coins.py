r"""The exact test of a coin design: the arm of each turn drawn alone, all arms with the same probability.

A step is *washed* if the arm was the same in the window - 1 steps before it. The statistic is the difference of the
means of washed steps for two arms, and the sum over arms of squared differences to the mean of these means for more; it
is 0 where an arm has no washed step. Every order is computed in the same way, so p is exact if no arm changes any
total.
Pairs: the turns of the two arms are drawn again, those of the others stay.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import Name
from afterglow.errors import BadValue
from afterglow.estimation.randomisation import DRAWS, MOST_ORDERS, PairTest, Test, holm
from afterglow.lab.fit.recorded import Array
from afterglow.rng import FIRST, GOLDEN, SECOND, mix

Choices = NDArray[np.int64]
DUST = 1e-12


def coin_test(arms: Choices, table: Array, washout: int, names: Sequence[Name], stream: int, confidence: float) -> Test:
    """Test the turns of a table: a row of totals for each turn, nan where there is none."""
    count = len(names)
    parts = washed_parts(table, washout)
    means = arm_means(arms[None], parts, count)[0]
    for arm, name in enumerate(names):
        if np.isnan(means[arm]):
            sentence = f"no step of {name} has the same arm in the {washout:,} steps before it; nothing can be tested"
            raise BadValue(sentence, kind="too-few-steps", field="window")
    every = count ** len(arms) <= MOST_ORDERS
    orders = all_orders(count, len(arms)) if every else drawn_orders(count, len(arms), stream)
    p = share(orders, arms, parts, list(range(count)), every)
    pairs = []
    for number, (one, other) in enumerate(combinations(range(count), 2)):
        pairs.append(pair_p(arms, parts, (one, other), count, mix(stream + number + 1)) if count > 2 else p)
    shown = [
        PairTest(names[one], names[other], float(means[one] - means[other]), value, adjusted, None, None, None, None)
        for (one, other), value, adjusted in zip(combinations(range(count), 2), pairs, holm(pairs), strict=True)
    ]
    known = {name: float(mean) for name, mean in zip(names, means, strict=True)}
    return Test(p, tuple(shown), known, len(arms), 0, len(orders) + (not every), every, confidence)


def pair_p(arms: Choices, parts: tuple[Array, Array], pair: tuple[int, int], count: int, stream: int) -> float:
    """p for "these two are alike": their turns are drawn again."""
    turns = np.flatnonzero(np.isin(arms, pair))
    every = 2 ** len(turns) <= MOST_ORDERS
    chosen = all_orders(2, len(turns)) if every else drawn_orders(2, len(turns), stream)
    orders = np.repeat(arms[None], len(chosen), axis=0)
    orders[:, turns] = np.array(pair)[chosen]
    return share(orders, arms, parts, list(pair), every)


def share(orders: Choices, arms: Choices, parts: tuple[Array, Array], of: list[int], every: bool) -> float:
    """The share of orders whose statistic is at least that of the arms played; a draw counts that one too."""
    seen = statistic(arms[None], parts, of)[0]
    slip = DUST * float(np.abs(parts[0]).sum() / max(1.0, parts[1].sum()))
    dust = 2 * slip * np.sqrt(seen * len(of)) + len(of) * slip * slip
    reached = 0 if every else 1
    for first in range(0, len(orders), 1_000):
        reached += int((statistic(orders[first : first + 1_000], parts, of) >= seen - dust).sum())
    return reached / (len(orders) + (not every))


def washed_parts(table: Array, washout: int) -> tuple[Array, Array]:
    """Sums and numbers of totals of each turn, by how many turns before it must have the same arm."""
    turns, length = table.shape
    needs = -(-np.maximum(0, washout - np.arange(length)) // length)
    known = ~np.isnan(table)
    sums, counts = np.zeros((2, turns, int(needs.max()) + 1))
    for place, need in enumerate(needs):
        sums[:, need] += np.where(known[:, place], table[:, place], 0.0)
        counts[:, need] += known[:, place]
    return sums.cumsum(axis=1), counts.cumsum(axis=1)


def arm_means(orders: Choices, parts: tuple[Array, Array], count: int) -> Array:
    """Means of washed steps: a row for each order, a column for each arm, nan where there is none."""
    sums, counts = parts
    most = sums.shape[1] - 1
    streak = np.zeros(orders.shape, dtype=np.int64)
    for turn in range(1, orders.shape[1]):
        same = orders[:, turn] == orders[:, turn - 1]
        streak[:, turn] = np.where(same, np.minimum(streak[:, turn - 1] + 1, most), 0)
    places = np.arange(orders.shape[1])
    total, number = sums[places, streak], counts[places, streak]
    found = np.full((len(orders), count), np.nan)
    for arm in range(count):
        mine = orders == arm
        steps = np.where(mine, number, 0.0).sum(axis=1)
        np.divide(np.where(mine, total, 0.0).sum(axis=1), steps, out=found[:, arm], where=steps > 0)
    return found


def statistic(orders: Choices, parts: tuple[Array, Array], of: list[int]) -> Array:
    """Squared differences of the means of some arms to their mean, added up; 0 where one has no mean."""
    means = arm_means(orders, parts, max(of) + 1)[:, of]
    spread = np.square(means - means.mean(axis=1, keepdims=True)).sum(axis=1)
    return np.asarray(np.nan_to_num(spread, nan=0.0))


def all_orders(count: int, turns: int) -> Choices:
    """Every choice of arms."""
    numbers = np.arange(count**turns)
    return np.asarray(numbers[:, None] // count ** np.arange(turns) % count)


def drawn_orders(count: int, turns: int, stream: int) -> Choices:
    """9,999 choices from the counter generator; `afterglow.rng` has it in plain Python."""
    with np.errstate(over="ignore"):
        z = np.arange(DRAWS * turns, dtype=np.uint64) * np.uint64(GOLDEN) ^ np.uint64(stream)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(SECOND)
        z ^= z >> np.uint64(31)
    uniform = (z >> np.uint64(11)) * 2.0**-53
    return (uniform * count).astype(np.int64).reshape(DRAWS, turns)
