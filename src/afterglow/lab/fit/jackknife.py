r"""Linear regression on correlated steps, with standard errors by a block jackknife.

Totals of neighbouring steps come from the same pulls, so their noise is correlated over the window and the usual
errors of a regression are too small. The steps are cut into blocks of at least four windows, and of more where noise
lingers: blocks double in length until sums of residuals over neighbouring blocks are no longer correlated, or six
blocks are left. Each block is left out once, and the errors are those of the jackknife: the variance of the estimates
is
$\frac{G - 1}{G} \sum_g (\hat\theta_{(g)} - \hat\theta)(\hat\theta_{(g)} - \hat\theta)'$, with $G - 1$ degrees of
freedom. It allows for unequal noise and for blocks that weigh a lot, and errs on the wide side (MacKinnon & White,
Some Heteroskedasticity-Consistent Covariance Matrix Estimators, 1985; Bell & McCaffrey 2002 for blocks).

*Season*: each phase of a cycle may add something of its own, the same in every cycle; over the cycle it adds nothing.
With $n_p$ steps in phase $p$, in which columns add up to $S_p$ and totals to $s_p$, the phases are solved for and gone,

$$X'X - \sum_p \frac{S_p S_p'}{n_p} + \frac{u u'}{c}, \quad X'y - \sum_p \frac{S_p s_p}{n_p} + \frac{u v}{c}, \quad
u = \sum_p \frac{S_p}{n_p}, \quad v = \sum_p \frac{s_p}{n_p}, \quad c = \sum_p \frac{1}{n_p},$$

so a long cycle costs no more than a short one. This is done anew without each block. Phases that lie in one block only
are left out.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtrit

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
MOST_BLOCKS, FEWEST_BLOCKS = 50, 6
LINGERS = 0.05  # correlation of neighbouring blocks from which on they double, beyond what chance explains
WINDOWS = 4  # of a block, at least
TRACE = 1e-9  # of the mean square of a column


@dataclass(frozen=True)
class Moments:
    """Sums of products of all steps first, then without each block."""

    grams: Array
    rights: Array
    shares: Array  # of the products in each block, without the season

    @property
    def gram(self) -> Array:
        """That of all steps."""
        return np.asarray(self.grams[0])


@dataclass(frozen=True)
class Regression:
    """Coefficients, those with each block left out, and the shrinkage by the ridge."""

    values: Array
    without: Array  # a row for each block
    shrunk: Array  # (gram + ridge)^-1 times the ridge

    @property
    def freedom(self) -> int:
        return len(self.without) - 1

    def variance(self) -> Array:
        """Of the coefficients, by the jackknife."""
        blocks = len(self.without)
        apart = self.without - self.values
        return np.asarray((blocks - 1) / blocks * apart.T @ apart)


def moments(columns: Array, totals: Array, places: Whole, blocks: int, season: int = 1) -> Moments:
    """Moments for a regression of totals on columns; `places` are the steps of the rows, in order."""
    block, phase = np.arange(len(places)) * blocks // len(places), places % season
    if season > 1:
        known = np.zeros((blocks, season), dtype=bool)
        known[block, phase] = True
        kept = known.sum(axis=0)[phase] > 1
        columns, totals, block, phase = columns[kept], totals[kept], block[kept], phase[kept]
    both = np.column_stack([columns, totals])
    edges = np.searchsorted(block, np.arange(blocks + 1))
    products = np.array([columns[i:j].T @ both[i:j] for i, j in pairwise(edges)])
    sums, counts = by_phase(both, block * season + phase, blocks, season)
    parts = [without_season(products.sum(axis=0), sums.sum(axis=0), counts.sum(axis=0))]
    parts += [
        without_season(
            products.sum(axis=0) - products[one], sums.sum(axis=0) - sums[one], counts.sum(axis=0) - counts[one]
        )
        for one in range(blocks)
    ]
    found = np.array(parts)
    return Moments(found[..., :-1], found[..., -1], products[..., :-1])


def by_phase(both: Array, cells: Whole, blocks: int, season: int) -> tuple[Array, Whole]:
    """(sums, numbers) of rows by block and phase."""
    order = np.argsort(cells, kind="stable")
    filled, starts = np.unique(cells[order], return_index=True)
    sums = np.zeros((blocks * season, both.shape[1]))
    sums[filled] = np.add.reduceat(both[order], starts, axis=0)
    counts = np.bincount(cells, minlength=blocks * season)
    return sums.reshape(blocks, season, -1), counts.reshape(blocks, season)


def without_season(products: Array, sums: Array, counts: Whole) -> Array:
    """Products of columns with columns and totals, what the phases explain taken out, the level kept."""
    weights = np.divide(1.0, counts, out=np.zeros(len(counts)), where=counts > 0)
    level = weights @ sums
    return np.asarray(
        products - (weights[:, None] * sums[:, :-1]).T @ sums + np.outer(level[:-1], level) / weights.sum()
    )


def regress(found: Moments, ridge: float = 0.0) -> Regression:
    """The coefficients."""
    pull = ridge * np.eye(found.grams.shape[-1])
    values = solved(found.grams + pull, found.rights[..., None])[..., 0]
    return Regression(values[0], values[1:], solved(found.gram + pull, pull))


def solved(gram: Array, right: Array) -> Array:
    """The solution of normal equations, one or many; a trace of ridge keeps it unique where columns don't differ."""
    size = gram.shape[-1]
    trace = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / size
    return np.linalg.solve(gram + TRACE * trace * np.eye(size), right)


def shortest_blocks(rows: int, window: int) -> int:
    """Number of blocks, none shorter than some windows."""
    return max(2, min(MOST_BLOCKS, rows // (WINDOWS * window)))


def grown_blocks(rest: Array, window: int, sure: float = 0.5) -> tuple[int, bool]:
    """(number of blocks, whether noise lingers beyond them): they double until neighbours are uncorrelated.

    A correlation counts if it is `sure` standard errors above what is allowed.
    """
    count = shortest_blocks(len(rest), window)
    while True:
        lingers = neighbours(rest, count) > LINGERS + sure / math.sqrt(count)
        if not lingers or count < 2 * FEWEST_BLOCKS:
            return count, lingers
        count //= 2


def neighbours(rest: Array, blocks: int) -> float:
    """Correlation of sums over neighbouring blocks, corrected for the mean that was subtracted."""
    sums = np.bincount(np.arange(len(rest)) * blocks // len(rest), rest - rest.mean())
    power = float(np.sum(sums**2))
    if power == 0.0 or blocks < 4:
        return 0.0
    return float(np.sum(sums[1:] * sums[:-1])) / power * blocks / (blocks - 1) + 1 / (blocks - 1)


def effective_blocks(found: Moments, size: int) -> float:
    """Number of blocks of equal weight that tell as much about the last `size` coefficients."""
    inverse = np.linalg.pinv(found.gram, hermitian=True)[-size:]
    weights = np.array([np.trace(inverse @ share @ inverse.T) for share in found.shares])
    return float(weights.sum() ** 2 / max(1e-300, float(np.sum(weights**2))))


def quantile(confidence: float, freedom: float) -> float:
    """Half-width of a two-sided interval in standard errors."""
    return float(stdtrit(freedom, (1 + confidence) / 2))


def joint_p(values: Array, variance: Array, freedom: float) -> float:
    """The p-value of Hotelling's test that all values are 0."""
    size = len(values)
    left = freedom + 1 - size
    if left < 1:
        return 1.0
    form = float(values @ np.linalg.pinv(variance, hermitian=True) @ values)
    return float(fdtrc(size, left, form * left / (freedom * size)))
