"""How often the exact test of a randomised schedule calls the best arm, over many simulated runs at once.

The test is that of `afterglow.estimation.randomisation`: labels of two arms are swapped within blocks, and p-values are
corrected for all pairs. A run counts if the best arm is better than every other at 95 %. With more than 1,024 swaps,
999 drawn ones are compared, which is enough for a share of runs.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
MOST_SWAPS = 1_024
DRAWN = 999
SEED = 1  # of the swaps
DUST = 1e-12

Numbers = NDArray[np.float64]
Marks = NDArray[np.bool_]


def calls_best(rows: Numbers, best: int) -> Marks:
    """Whether the test calls the best arm, for each run; `rows` has means by run, block and arm."""
    runs, blocks, arms = rows.shape
    pairs = list(combinations(range(arms), 2))
    signs = swaps(blocks)
    p = np.stack([pair_p(rows[:, :, one] - rows[:, :, other], signs) for one, other in pairs], axis=1)
    corrected = holm(p)
    found = np.ones(runs, dtype=bool)
    for place, (one, other) in enumerate(pairs):
        if best in (one, other):
            difference = (rows[:, :, one] - rows[:, :, other]).sum(axis=1) * (1 if one == best else -1)
            found &= (corrected[:, place] <= 1 - CONFIDENCE + DUST) & (difference > 0)
    return found


def swaps(blocks: int) -> Numbers:
    """Signs of all swaps up to a swap of all blocks, or of the schedule played and 999 drawn swaps: one per column."""
    if 2 ** (blocks - 1) <= MOST_SWAPS:
        numbers = np.arange(2 ** (blocks - 1))
        bits = numbers[None, :] >> np.arange(blocks)[:, None] & 1
    else:
        bits = np.random.default_rng(SEED).integers(0, 2, (blocks, DRAWN + 1))
        bits[:, 0] = 0
    return np.asarray(1.0 - 2.0 * bits)


def pair_p(differences: Numbers, signs: Numbers) -> Numbers:
    """p of each run for one pair of arms."""
    seen = np.abs(differences.sum(axis=1))
    dust = DUST * np.abs(differences).sum(axis=1)
    return np.asarray((np.abs(differences @ signs) >= (seen - dust)[:, None]).mean(axis=1))


def holm(p: Numbers) -> Numbers:
    """Holm's correction of each row."""
    order = p.argsort(axis=1)
    factors = p.shape[1] - np.arange(p.shape[1])
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=1) * factors, axis=1)
    found = np.empty_like(p)
    np.put_along_axis(found, order, np.minimum(stepped, 1.0), axis=1)
    return found
