r"""Means, kernels and differences of arms by ridge regression, if effects depend on arm and lag only.

Each total is regressed on the share of each arm in the lags {0}, {1}, {2, 3}, {4 .. 7}, … up to the window, and on the
phase of the season if there is one. Some arm is always played, so what the arms have in common can't be separated from
the level; a kernel is an arm's excess over the average arm at the same lags. The ridge is the long-run noise over the
squared mean total, at most 1; its pull towards 0 is added to the error. A kernel that is not level within a bin adds a
bias that the intervals don't show.

*Differences* use the joint covariance, because what two arms share (the level, the season) is known less well than
their difference. They are simultaneous: with $m$ of them, each is an interval of level $1 - \alpha/m$ (Bonferroni). If
the arm of reference was given beforehand, $m$ is one less than the arms; if it is the best by the data, $m$ counts all
pairs.

Steps before the first full window, and after gaps, have an unknown past and are left out.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import BadValue
from afterglow.lab.fit.jackknife import Regression, grown_blocks, joint_p, moments, quantile, regress, shortest_blocks
from afterglow.lab.fit.recorded import Array, Recorded, contrasts
from afterglow.policies.lag_ridge_ucb import lag_edges

NEGLIGIBLE = 1e-5  # of the level: less than that is rounding and the pull of the ridge, not noise
Interval = tuple[float, float, float]  # value, low, high


@dataclass(frozen=True)
class LagExcess:
    """Reward of a pull above the average arm at each of the lags from `first` to `last`."""

    first: int
    last: int
    excess: float
    low: float
    high: float

    def over_all(self) -> Interval:
        """(excess, low, high) over all its lags together."""
        lags = self.last - self.first + 1
        return lags * self.excess, lags * self.low, lags * self.high

    @property
    def text(self) -> str:
        """The lags as people write them."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Regressed:
    """Coefficients of a fit in the units of totals, bin by bin, arm by arm in each."""

    arms: int
    bins: list[tuple[int, int]]
    level: float
    confidence: float
    found: Regression
    rest: Array  # residuals, one for each step of the table, season included; nan if unknown
    lingers: bool  # whether noise lasts longer than the blocks behind the errors

    def mean(self, arm: int) -> Interval:
        """An arm's mean reward per pull."""
        return self.interval(np.tile(np.eye(self.arms)[arm], len(self.bins)))

    def kernel(self, arm: int) -> list[LagExcess]:
        """An arm's lag kernel: its excess over the average arm by lag."""
        row = []
        for place, (first, end) in enumerate(self.bins):
            factors = np.zeros((len(self.bins), self.arms))
            factors[place] = (np.eye(self.arms)[arm] - 1 / self.arms) / (end - first)
            row.append(LagExcess(first, end - 1, *self.interval(factors.ravel())))
        return row

    def difference(self, arm: int, than: int, together: int) -> Interval:
        """Difference between the means of two arms; one of `together` simultaneous intervals."""
        rows = np.eye(self.arms)
        return self.interval(np.tile(rows[arm] - rows[than], len(self.bins)), together)

    def expectation(self) -> Interval:
        """The coefficient of expected totals."""
        factors = np.zeros(len(self.found.values))
        factors[-1] = 1 / self.level
        return self.interval(factors)

    def interval(self, factors: Array, together: int = 1) -> Interval:
        """A linear combination of coefficients with its interval; factors that are left out are 0."""
        value, error = self.estimate(factors)
        half = quantile(1 - (1 - self.confidence) / together, self.found.freedom) * error
        return value, value - half, value + half

    def estimate(self, factors: Array) -> tuple[float, float]:
        """A linear combination of coefficients with its standard error."""
        factors = np.concatenate([factors, np.zeros(len(self.found.values) - len(factors))])
        pull = self.found.shrunk.T @ factors  # on weights of about the mean
        variance = float(factors @ self.found.variance() @ factors + pull @ pull)
        return self.level * float(factors @ self.found.values), self.level * math.sqrt(variance)


def regression(recorded: Recorded, window: int, confidence: float) -> Regressed:
    """The regression of totals on arms by lags."""
    bins = list(pairwise(lag_edges(window)))
    columns = np.hstack([recorded.filled(first, end) for first, end in bins])  # bin by bin, arm by arm
    size = columns.shape[1]
    rows = ~np.isnan(columns).any(axis=1) & ~np.isnan(recorded.total)
    least = 2 * size + recorded.season - 1
    if rows.sum() < least:
        cycle = f" and a season of {recorded.season:,}" if recorded.season > 1 else ""
        raise BadValue(
            f"a fit of {len(recorded.names)} arms x {len(bins)} groups of lags{cycle} needs {least:,} steps with a "
            f"known past, the table has {int(rows.sum()):,}; shorten the window of {window:,} or fill the gaps",
            kind="too-few-steps",
            field="window",
        )
    level = abs(float(np.mean(recorded.total[rows]))) or 1.0
    scaled, places = recorded.total[rows] / level, np.flatnonzero(rows)
    used = columns[rows]
    if recorded.expected is not None:
        used = np.column_stack([used, recorded.surplus[rows] / level])
    first = moments(used, scaled, places, shortest_blocks(len(used), window), recorded.season)
    rough = levelled(scaled - used @ regress(first, 1e-6).values, places % recorded.season)
    blocks, lingers = grown_blocks(rough if np.abs(rough).max() > NEGLIGIBLE else np.zeros(len(rough)), window)
    products = moments(used, scaled, places, blocks, recorded.season)
    found = regress(products, min(1.0, noise(rough, window)))
    rest = np.full(len(recorded), np.nan)
    rest[rows] = level * (scaled - used @ found.values)
    return Regressed(len(recorded.names), bins, level, confidence, found, rest, lingers)


def differs_by_arm(recorded: Recorded, found: Regressed, window: int) -> float | None:
    """The p-value of the test that the coefficient of expected totals is the same for all arms; None if it can't be."""
    shares = recorded.filled(0, window)
    rows = ~np.isnan(found.rest) & ~np.isnan(shares).any(axis=1)
    mixed = contrasts(shares[rows]) * recorded.surplus[rows, None]
    if rows.sum() < 8 * mixed.shape[1] or not np.abs(mixed).max() > 0:
        return None
    columns = np.column_stack([shares[rows], recorded.surplus[rows], mixed])
    totals, size = recorded.total[rows], mixed.shape[1]
    blocks = found.found.freedom + 1
    products = moments(columns / max(1e-12, float(np.abs(columns).max())), totals, np.flatnonzero(rows), blocks,
                       recorded.season)  # fmt: skip
    again = regress(products)
    return joint_p(again.values[-size:], again.variance()[-size:, -size:], again.freedom)


def levelled(values: Array, phase: NDArray[np.signedinteger]) -> Array:
    """Values without the mean of their phase; as they are where there is one phase."""
    if not phase.any():
        return values
    counts = np.maximum(1, np.bincount(phase))
    return np.asarray(values - (np.bincount(phase, values) / counts)[phase])


def noise(error: Array, window: int) -> float:
    """Long-run variance of a step's noise, from sums over four windows."""
    size = min(4 * window, max(1, len(error) // 8))
    sums = error[: len(error) // size * size].reshape(-1, size).sum(axis=1)
    return float(np.mean(sums**2) / size)
