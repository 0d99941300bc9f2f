"""Compiled draws in bulk, and the tests of their law that several files share."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from afterglow.engine.binomial import binomial
from afterglow.engine.compiling import jitted
from afterglow.engine.random import child
from afterglow.engine.rewards import KINDS, block_bernoulli, block_cells, table_of, total_bernoulli, total_cells
from afterglow.worlds.rewards import Reward

Numbers = NDArray[np.float64]
CHANCE = 1e-7  # a single test of a right law fails this often
done: dict[Any, Any] = {}


@cache
def compiled(function: Any) -> Any:
    return jitted(function, done)


def many_binomials(key: Any, n: int, p: float, out: Any) -> None:
    for i in range(out.size):
        out[i] = binomial(child(key, i), n, p)


def many_blocks_bernoulli(table: Any, arm: int, key: Any, n: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = block_bernoulli(table, arm, child(key, i), n)


def many_blocks_cells(table: Any, arm: int, key: Any, n: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = block_cells(table, arm, child(key, i), n)


def many_totals_bernoulli(table: Any, arm: int, key: Any, n: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = total_bernoulli(table, arm, child(key, i), 0, n)


def many_totals_cells(table: Any, arm: int, key: Any, n: int, out: Any) -> None:
    for i in range(out.size):
        out[i] = total_cells(table, arm, child(key, i), 0, n)


BLOCKS = {"bernoulli": many_blocks_bernoulli, "cells": many_blocks_cells}
TOTALS = {"bernoulli": many_totals_bernoulli, "cells": many_totals_cells}


def binomials(n: int, p: float, count: int, seed: int = 1) -> NDArray[np.int64]:
    out = np.empty(count, np.int64)
    compiled(many_binomials)(np.uint64(seed), n, p, out)
    return out


def blocks(law: Reward, n: int, count: int, seed: int = 1) -> Numbers:
    """Sums of n rewards, each drawn at once."""
    kind, table = table_of([law])
    out = np.empty(count)
    compiled(BLOCKS[kind])(table, 0, np.uint64(seed), n, out)
    return out


def totals(law: Reward, n: int, count: int, seed: int = 2) -> Numbers:
    """Sums of n rewards drawn one by one."""
    kind, table = table_of([law])
    out = np.empty(count)
    compiled(TOTALS[kind])(table, 0, np.uint64(seed), n, out)
    return out


def rewards(laws: list[Reward], arm: int, n: int, t0: int = 0, seed: int = 3) -> Numbers:
    """The rewards of steps t0, t0 + 1, …"""
    kind, table = table_of(laws)
    out = np.empty(n)
    compiled(KINDS[kind][0])(table, arm, np.uint64(seed), t0, n, out)
    return out


def fit(counts: NDArray[np.int64], expected: Numbers, least: float = 50.0) -> float:
    """The p-value of Pearson's chi-square; outcomes expected less than `least` times are taken together."""
    often = expected >= least
    seen, due = counts[often].astype(float), expected[often]
    if due.sum() < expected.sum() - least:
        seen, due = np.append(seen, counts[~often].sum()), np.append(due, expected[~often].sum())
    return float(stats.chi2.sf(((seen - due) ** 2 / due).sum(), max(due.size - 1, 1)))


def agreement(sample: Numbers, cdf: Callable[[Numbers], Numbers]) -> float:
    """The p-value of Kolmogorov's test."""
    due = cdf(np.sort(sample))
    rank = np.arange(sample.size + 1) / sample.size
    return float(stats.kstwo.sf(max((rank[1:] - due).max(), (due - rank[:-1]).max()), sample.size))
