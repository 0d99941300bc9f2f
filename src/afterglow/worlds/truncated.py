"""The truncated normal law by quadrature: accurate in any tail, and without SciPy.

Only where the density is above exp(-45) of its top does the law have weight that a float can hold. That
stretch is cut into cells so small that Gauss-Legendre sums over each are exact to the last digits.
"""

import math
from functools import lru_cache

import numpy as np

from afterglow.errors import BadValue
from afterglow.worlds.cells import Cells, Numbers, cut, knots_of

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NEGLIGIBLE = 45.0  # logarithms below the top of the density
GRID = 2048  # equal cells from which quantiles are read


@lru_cache(maxsize=256)
def truncated_normal(mean: float, deviation: float, low: float, high: float) -> tuple[float, float, Cells]:
    """Mean, variance and cells of a normal law given that it falls between low and high."""
    top = min(max(mean, low), high)
    reach = math.sqrt((top - mean) ** 2 + 2 * NEGLIGIBLE * deviation**2)
    grid = np.unique(np.linspace(max(low, mean - reach), min(high, mean + reach), GRID + 1))
    if grid.size < GRID:
        raise BadValue(
            f"a normal reward of centre {mean:g} and deviation {deviation:g} is a single point between {low:g} and "
            f"{high:g}; use discrete:{top:g}@1",
            field="deviation",
        )
    upto = np.concatenate([[0.0], np.cumsum(moments(grid, mean, deviation, top)[0])])
    knots = knots_of(lambda u: np.interp(u, upto / upto[-1], grid), float(grid[0]), float(grid[-1]))
    mass, first, second = moments(knots, mean, deviation, top)
    centre = float(mass @ first / mass.sum())
    variance = float(mass @ (second + (first - centre) ** 2) / mass.sum())
    return centre, variance, cut(knots, mass, first)


def moments(knots: Numbers, mean: float, deviation: float, top: float) -> tuple[Numbers, Numbers, Numbers]:
    """Weight, mean and variance of the law between consecutive knots."""
    half = np.diff(knots)[:, None] / 2
    away = half * NODES
    x = knots[:-1, None] + half + away
    weight = half * WEIGHTS * np.exp(-(x - top) * (x + top - 2 * mean) / (2 * deviation**2))
    mass = weight.sum(axis=1)
    first = (weight * away).sum(axis=1) / mass
    second = (weight * (away - first[:, None]) ** 2).sum(axis=1) / mass
    return mass, knots[:-1] + half[:, 0] + first, second
