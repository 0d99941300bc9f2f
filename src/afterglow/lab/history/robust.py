"""Robust statistics of past totals: medians of phases, outliers, Theil's trend."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
FAR = 6.0  # robust deviations


def without_outliers(values: Numbers, period: int) -> Numbers:
    """Values clipped to 6 robust deviations from the median of their phase.

    A deviation is 1.4826 times the median distance, or the same share of the phase's median where that is more: busy
    hours vary more than quiet ones.
    """
    centre = by_phase(values, period, np.median)[np.arange(values.size) % period]
    distance = np.abs(values - centre)
    spread = 1.4826 * float(np.nanmedian(distance))
    if spread == 0.0:
        return values
    level = np.abs(centre)
    share = 1.4826 * float(np.nanmedian(distance[level > 0] / level[level > 0])) if (level > 0).any() else 0.0
    reach = FAR * np.maximum(spread, share * level)
    return np.clip(values, centre - reach, centre + reach)


def theil(values: Numbers, period: int) -> float:
    """The median slope between values half the history apart, a whole number of cycles."""
    apart = max(period, values.size // 2 // period * period)
    slopes = (values[apart:] - values[:-apart]) / apart
    slopes = slopes[np.isfinite(slopes)]
    return float(np.median(slopes)) if slopes.size else 0.0


def phase_means(values: Numbers, period: int) -> Numbers:
    """Mean of each phase."""
    return by_phase(values, period, np.mean)


def by_phase(values: Numbers, period: int, summed_up: Callable[[Numbers], np.floating[Any]]) -> Numbers:
    """One number for the totals of each phase; not a number where there are none."""
    found = np.full(period, math.nan)
    for phase in range(period):
        mine = values[phase::period]
        mine = mine[np.isfinite(mine)]
        if mine.size:
            found[phase] = float(summed_up(mine))
    return found
