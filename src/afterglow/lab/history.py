r"""What past totals tell: level, trend, season, noise and how it lingers.

Totals of one unchanged system, one for each step. In this order, each from what the one before has left:

1. *Outliers*: values more than 6 robust deviations (1.4826 median absolute deviations, within a phase) from the
   median are pulled in to that distance. Steps without a total count for nothing, and a phase without any total (a shop
   closed on Sundays) is taken to be like the mean of the others.
2. *Trend*: Theil's line, the median slope between totals half the history apart in the same phase.
3. *Season*: the mean of each phase over whole cycles. Without a given length, cycles of 7, 12, 24, 52 and 168 steps are
   tried if three are seen. Let $F$ be what phases explain of the variance inside cycles over what they leave. A cycle
   counts if its $F$ is larger than in all of 200 trials in which cycles are turned against each other at random, and
   than their mean by 6 deviations; a longer one must explain more. A strong cycle stands out from the fourth on.
4. *Noise*: the standard deviation of the rest, and its correlation from step to step.
5. *Noise of one pull*: $v = \lim n \operatorname{Var}(\text{mean of } n)$. Its root is what counts in an experiment,
   for it includes how long noise lingers. It is read from the slowest waves of the rest (the equal-weighted cosine
   estimator of Lazarus, Lewis, Stock & Watson 2018), so no correlation needs a model.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import BadValue
from afterglow.policies.checks import whole

Numbers = NDArray[np.float64]
FAR = 6.0  # robust deviations
PERIODS = (7, 12, 24, 52, 168)  # days of a week, months, hours of a day, weeks of a year, hours of a week
TRIALS = 200
FEWEST = 20  # totals below which nothing is estimated


@dataclass(frozen=True)
class History:
    """Estimates from past totals, in their own unit."""

    steps: int
    missing: int
    empty: int  # phases of the cycle without any total
    outliers: int
    level: float  # mean total of a step
    trend: float  # change of the total over the whole history
    season: int  # length of the cycle, 1 if none
    profile: list[float]  # what each phase adds to the level, step 0 of the history first
    noise: float  # standard deviation of single totals around level, trend and season
    correlation: float  # of the noise, from step to step
    pull_noise: float  # standard deviation of one pull that gives means the same error
    rest: list[float]  # the noise itself, 0 where a total is missing


def estimate(totals: Sequence[float], season: int | None = None, window: int = 1) -> History:
    """What totals tell; `season` is found if it isn't given (1 = none)."""
    values = np.array(totals, float)
    known = np.isfinite(values)
    if known.sum() < FEWEST:
        raise BadValue(f"a history needs at least {FEWEST} totals to estimate noise from, got {int(known.sum())}")
    period = found_period(values) if season is None else whole("season", season, 1, "1 = none")
    if period > 1 and known.size < 2 * period:
        raise BadValue(
            f"a season of {period:,} steps needs a history of two, {2 * period:,} totals, got {known.size:,}"
        )
    pulled = without_outliers(values, period)
    slope = theil(pulled, period)
    middle = (known.size - 1) / 2
    flat = pulled - slope * (np.arange(known.size) - middle)
    means = phase_means(flat, period)
    level = float(np.nanmean(means))
    profile = np.where(np.isfinite(means), means, level)
    rest = flat - profile[np.arange(known.size) % period]
    return History(
        steps=known.size, missing=int((~known).sum()), empty=int(np.isnan(means).sum()),
        outliers=int((pulled[known] != values[known]).sum()), level=level, trend=slope * known.size, season=period,
        profile=(profile - level).tolist(),
        noise=math.sqrt(float(np.nansum(rest**2)) / max(1, known.sum() - np.isfinite(means).sum())),
        correlation=lag_one(rest), pull_noise=math.sqrt(long_run(rest, max(window, period))),
        rest=np.where(known, rest, 0.0).tolist(),
    )  # fmt: skip


def without_outliers(values: Numbers, period: int) -> Numbers:
    """Values pulled in to 6 robust deviations from the median of their phase."""
    centre = by_phase(values, period, np.median)[np.arange(values.size) % period]
    spread = 1.4826 * float(np.nanmedian(np.abs(values - centre)))
    if spread == 0.0:
        return values
    return np.clip(values, centre - FAR * spread, centre + FAR * spread)


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


def found_period(values: Numbers) -> int:
    """The cycle that explains most of the totals; 1 if none is beyond chance."""
    best, top = 1, 0.0
    for period in PERIODS:
        cycles = values.size // period
        if cycles >= 3:
            grid = without_outliers(values, period)[: cycles * period].reshape(cycles, period)
            share = explained(grid)
            if share > top + 0.02 and beyond_chance(grid):
                best, top = period, share
    return best


def within(grid: Numbers) -> Numbers:
    """Cycles, one in each row, without their own means; 0 where a total is missing."""
    known = np.isfinite(grid)
    means = np.where(known, grid, 0.0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
    return np.where(known, grid - means[:, None], 0.0)


def explained(grid: Numbers) -> float:
    """Share of the variance inside cycles that phases explain, adjusted for their number."""
    inside = within(grid)
    whole_ = float(inside.var())
    if whole_ == 0.0:
        return 0.0
    return 1 - float((inside - inside.mean(axis=0)).var()) / whole_ * len(grid) / (len(grid) - 1)


def beyond_chance(grid: Numbers) -> bool:
    """Whether phases differ more than after turning the cycles against each other."""
    inside = within(grid)
    cycles, period = inside.shape
    random = np.random.default_rng(0)
    places = (random.integers(period, size=(TRIALS, cycles, 1)) + np.arange(period)) % period
    turned = [told_apart(inside[np.arange(cycles)[:, None], shift]) for shift in places]
    return told_apart(inside) > max(*turned, float(np.mean(turned) + 6 * np.std(turned)))


def told_apart(inside: Numbers) -> float:
    """What phases explain over what they leave; without a bound, unlike a share, so that few cycles can stand out."""
    power = float((inside**2).sum())
    between = len(inside) * float((inside.mean(axis=0) ** 2).sum())
    return between / max(power - between, 1e-12 * power) if power else 0.0


def lag_one(rest: Numbers) -> float:
    """Correlation of neighbours, where both are known."""
    pairs = np.isfinite(rest[1:]) & np.isfinite(rest[:-1])
    power = float(np.nanmean(rest**2))
    if power == 0.0 or not pairs.any():
        return 0.0
    return float(np.mean(rest[1:][pairs] * rest[:-1][pairs]) / power)


def long_run(rest: Numbers, longest: int) -> float:
    """n times the variance of the mean of n steps, for large n; from waves longer than twice `longest` steps."""
    steps = rest.size
    filled = np.where(np.isfinite(rest), rest, 0.0)
    count = max(1, min(math.floor(0.4 * steps ** (2 / 3)), steps // (2 * longest)))
    phases = np.pi * (np.arange(steps) + 0.5) / steps
    waves = np.array([math.sqrt(2) * np.cos(j * phases) @ filled for j in range(1, count + 1)])
    return float(np.mean(waves**2) / max(1, np.isfinite(rest).sum()))
