"""Piecewise uniform representation of reward laws: in each cell, with probability p, uniform on [low, low + width].

A discrete law is cells of width 0, a uniform law is one cell. A smooth law is cut at several hundred points, and
between two of them it is taken as the widest uniform with the right mean. So its mean and its probabilities at the
cuts are exact, its variance is short by a few millionths at most if it has a shape one would draw, and in between
the distribution function is off by 1/256 at most, looked at with a resolution of 1e-9. Cells are in order and do
not overlap: their quantile function rises with u.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import MissingExtra

Numbers = NDArray[np.float64]
HALF = 256  # a smooth law is cut at this many equally likely points and at as many equally spaced ones
NARROW = 1e-9  # of the range: cuts closer than this are one
TINY = 2.0**-60  # cells less likely than this can't be drawn


@dataclass(frozen=True)
class Cells:
    """Cells in rising order."""

    probability: Numbers
    low: Numbers
    width: Numbers

    @property
    def mean(self) -> float:
        return float(np.sum(self.probability * (self.low + self.width / 2)))

    @property
    def variance(self) -> float:
        away = self.low + self.width / 2 - self.mean
        return float(np.sum(self.probability * (away**2 + self.width**2 / 12)))

    def cdf(self, x: Numbers) -> Numbers:
        """Probability of at most x."""
        cell = np.searchsorted(self.low, x, side="right") - 1
        width = self.width[cell]
        share = np.where(width > 0, np.clip(x - self.low[cell], 0.0, width) / np.where(width > 0, width, 1.0), 1.0)
        before = np.cumsum(self.probability) - self.probability
        return np.where(cell < 0, 0.0, before[cell] + self.probability[cell] * share)


def atoms(values: Numbers, probabilities: Numbers) -> Cells:
    """The law of given values, equal ones merged."""
    low, place = np.unique(values, return_inverse=True)
    mass = np.bincount(place, weights=probabilities, minlength=low.size)
    seen = mass > 0
    return Cells(mass[seen] / mass.sum(), low[seen], np.zeros(int(seen.sum())))


def cut(knots: Numbers, mass: Numbers, mean: Numbers) -> Cells:
    """Cells between consecutive knots, given each one's probability and conditional mean."""
    likely = mass > TINY * mass.sum()
    left, right = knots[:-1][likely], knots[1:][likely]
    middle = np.clip(mean[likely], left, right)
    reach = np.minimum(middle - left, right - middle)
    return Cells(mass[likely] / mass[likely].sum(), middle - reach, 2 * reach)


def knots_of(quantile: Callable[[Numbers], Numbers], low: float, high: float) -> Numbers:
    """Where to cut a law on [low, high]: equally likely points, and equally spaced ones where it has weight."""
    likely = quantile(np.arange(1, HALF) / HALF)
    first, last = quantile(np.array([1e-12, 1 - 1e-12]))
    spaced = np.linspace(max(first, low), min(last, high), HALF + 1)
    knots = np.unique(np.clip(np.concatenate([likely, spaced]), low, high))
    _, apart = np.unique(np.round((knots - low) / (NARROW * (last - first))), return_index=True)
    return np.unique(np.concatenate([[low], knots[apart], [high]]))


@lru_cache(maxsize=64)  # plans look for gaps and lengths in worlds of few laws
def beta_cells(a: float, b: float) -> Cells:
    """Of Beta(a, b): probabilities and partial means between knots are differences of incomplete beta functions."""
    try:
        from scipy.special import betainc, betaincc, betaincinv  # noqa: PLC0415  only Beta rewards need SciPy
    except ImportError:
        raise MissingExtra("a Beta reward", "lab") from None
    knots = knots_of(lambda u: np.asarray(betaincinv(a, b, u)), 0.0, 1.0)

    def between(a: float) -> Numbers:
        below, above = betainc(a, b, knots), betaincc(a, b, knots)
        return np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))

    mass = between(a)
    made = cut(knots, mass, a / (a + b) * between(a + 1) / np.where(mass > 0, mass, 1.0))
    for part in (made.probability, made.low, made.width):
        part.flags.writeable = False  # they are shared
    return made
