r"""Regression on steps that share pulls, with errors that know it.

Totals of neighbouring steps come from the same pulls, so their noise is correlated over the window and the usual
errors of a regression are too small. Here the steps are cut into blocks of at least four windows, each block is left
out once, and the errors are those of the jackknife: the variance of the estimates is
$\frac{G - 1}{G} \sum_g (\hat\theta_{(g)} - \hat\theta)(\hat\theta_{(g)} - \hat\theta)'$, with $G - 1$ degrees of
freedom. It allows for unequal noise and for blocks that weigh a lot, and errs on the wide side (MacKinnon & White,
Some Heteroskedasticity-Consistent Covariance Matrix Estimators, 1985; Bell & McCaffrey 2002 for blocks).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtrit

Array = NDArray[np.float64]
MOST_BLOCKS = 50
WINDOWS = 4  # of a block, at least
TRACE = 1e-9  # of the mean square of a column


@dataclass(frozen=True)
class Regression:
    """Coefficients, those with each block left out, and what was left of a ridge's pull towards 0."""

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


def regress(columns: Array, totals: Array, places: NDArray[np.int64], window: int, ridge: float = 0.0) -> Regression:
    """Totals on columns; `places` are the steps of the rows, in order."""
    block = blocks_of(places, window)
    starts = np.flatnonzero(np.concatenate([[True], block[1:] != block[:-1]]))
    ends = np.append(starts[1:], len(block))
    grams = np.array([columns[i:j].T @ columns[i:j] for i, j in zip(starts, ends, strict=True)])
    sums = np.array([columns[i:j].T @ totals[i:j] for i, j in zip(starts, ends, strict=True)])
    pull = ridge * np.eye(columns.shape[1])
    gram, right = grams.sum(axis=0) + pull, sums.sum(axis=0)
    without = solved(gram - grams, (right - sums)[..., None])[..., 0]
    return Regression(solved(gram, right), without, solved(gram, pull))


def solved(gram: Array, right: Array) -> Array:
    """The solution of normal equations, one or many; a trace of ridge keeps it unique where columns don't differ."""
    size = gram.shape[-1]
    trace = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / size
    return np.linalg.solve(gram + TRACE * trace * np.eye(size), right)


def blocks_of(places: NDArray[np.int64], window: int) -> NDArray[np.int64]:
    """The block of each row: equal parts of the rows, none shorter than some windows."""
    count = max(2, min(MOST_BLOCKS, len(places) // (WINDOWS * window)))
    return np.arange(len(places)) * count // len(places)


def quantile(confidence: float, freedom: int) -> float:
    """Half-width of a two-sided interval in standard errors."""
    return float(stdtrit(freedom, (1 + confidence) / 2))


def joint_p(values: Array, variance: Array, freedom: int) -> float:
    """Probability of values as far from 0 if all truths are 0: Hotelling's test."""
    size = len(values)
    left = freedom + 1 - size
    if left < 1:
        return 1.0
    form = float(values @ np.linalg.pinv(variance, hermitian=True) @ values)
    return float(fdtrc(size, left, form * left / (freedom * size)))
