r"""Confidence intervals, bands and fitted exponents.

- The *interval of a mean* is Student's, or, for skewed regret on logarithmic axes, that of its logarithm; that of a
  *difference* of means is Welch's, or Student's of the differences run by run where both meet the same rewards; the
  *interval of a probability* Clopper and Pearson's, never too short; the *interval of a mean of shares* what
  Student's and that one cover together; the *interval of a quantile* lies between two
  order statistics and needs no law at all.
- A *band of the mean* covers the expected curve: pointwise at each step by itself, or simultaneous at all steps at
  once. The simultaneous band is the sup-t band (Montiel Olea & Plagborg-Møller 2019): the critical value is a
  quantile of the largest of correlated t statistics, simulated with a fixed seed, and never above Bonferroni's.
- A *band of the runs* covers runs, not their mean: pointwise the given share of runs at each step, or simultaneous
  the whole curve of that share of the runs.
- An *exponent* is the slope of the least-squares line through (log x, log mean regret). With weights $w_i$ it is
  $\sum_i w_i \log m_i$, to first order $\sum_i w_i R_{ir}/m_i$ averaged over the runs r. Runs are independent and the
  points of one run are not, so Student's interval of these sums allows for common random numbers.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv, stdtrit  # not scipy.stats, which takes long to load

from afterglow.checks import number
from afterglow.engine.outcome import Mean
from afterglow.errors import BadValue
from afterglow.student_t import student_quantile

Numbers = NDArray[np.float64]
LEVEL = 0.95  # of every interval on a page
DRAWS = 4_000  # of the simulated largest t statistic
SEED = 20_190_501
LARGEST = 100.0  # exponent of an interval on a logarithmic scale


@dataclass(frozen=True)
class Interval:
    """An estimate and the interval around it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Band:
    """A curve and the band around it."""

    value: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class PowerLaw:
    """y = factor · x^exponent."""

    exponent: Interval
    factor: float
    misfit: float  # the largest ratio between a point and the line, either way


def mean_interval(values: Numbers, level: float = 0.95) -> Interval:
    """Student's interval of a mean; a single run has none.

    >>> mean_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    Interval(value=2.5, low=0.445..., high=4.554...)
    """
    checked(level)
    found = Mean.of(values)
    half = student_quantile(level, values.size - 1) * found.se if values.size > 1 else math.nan
    return Interval(found.mean, found.mean - half, found.mean + half)


def log_interval(values: Numbers, level: float = 0.95) -> Interval:
    """Interval of a positive mean on the scale of its logarithm: mean · exp(± t · se / mean), by the delta method.

    It is never below 0 and longer above than below, as suits regret, whose runs are skewed. Of a mean that is not
    positive, it is Student's.

    >>> log_interval(np.array([1.0, 2.0, 3.0, 4.0]))
    Interval(value=2.5, low=1.099..., high=5.685...)
    """
    found = mean_interval(values, level)
    if not found.value > 0 or math.isnan(found.high):
        return found
    ratio = math.exp(min((found.high - found.value) / found.value, LARGEST))
    return Interval(found.value, found.value / ratio, found.value * ratio)


def difference_interval(first: Numbers, second: Numbers, level: float = 0.95) -> Interval:
    """Welch's interval of the difference of two means whose runs have nothing to do with each other.

    >>> difference_interval(np.array([4.0, 5.0, 6.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    Interval(value=2.5, low=0.268..., high=4.731...)
    """
    checked(level)
    parts = [float(values.var(ddof=1)) / values.size if values.size > 1 else math.nan for values in (first, second)]
    found, square = float(first.mean() - second.mean()), sum(parts)
    if square == 0:
        return Interval(found, found, found)
    freedom = square**2 / sum(
        part**2 / max(values.size - 1, 1) for part, values in zip(parts, (first, second), strict=True)
    )
    half = float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(square)
    return Interval(found, found - half, found + half)


def probability_interval(hits: float, trials: int, level: float = 0.95) -> Interval:
    """Clopper and Pearson's interval: it covers the probability at least as often as it says.

    >>> probability_interval(10, 10)
    Interval(value=1.0, low=0.691..., high=1.0)
    """
    tail = (1 - checked(level)) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits == trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return Interval(hits / trials, low, high)


def share_interval(values: Numbers, level: float = 0.95) -> Interval:
    """Of the mean of numbers between 0 and 1, one for each run, of which few may differ.

    It holds Student's and Clopper and Pearson's with one trial for each run: n numbers that are all 0 are at
    least as unlikely as n failures.

    >>> share_interval(np.zeros(5))
    Interval(value=0.0, low=0.0, high=0.521...)
    """
    found, hits = mean_interval(values, level), round(float(values.sum()), 9)
    exact = probability_interval(hits, values.size, level)
    low, high = np.fmin(found.low, exact.low), np.fmax(found.high, exact.high)
    return Interval(found.value, max(0.0, float(low)), min(1.0, float(high)))


def quantile_interval(values: Numbers, q: float, level: float = 0.95) -> Interval:
    """A quantile between two order statistics; infinite where the runs are too few to bound it.

    >>> quantile_interval(np.arange(1.0, 10.0), 0.5)
    Interval(value=5.0, low=2.0, high=8.0)
    """
    tail, ordered, count = (1 - checked(level)) / 2, np.sort(values), values.size
    number("q", q, 0.0, 1.0)
    below = bdtr(np.arange(count + 1), count, q)  # P(at most j values lie below the quantile)
    lower = int(np.searchsorted(below, tail, side="right"))  # the largest l with P(B <= l - 1) <= tail
    upper = int(np.searchsorted(below, 1 - tail, side="left")) + 1  # the smallest u with P(B >= u) <= tail
    low = float(ordered[lower - 1]) if lower >= 1 else -math.inf
    high = float(ordered[upper - 1]) if upper <= count else math.inf
    return Interval(at_rank(ordered, q), low, high)


def at_rank(ordered: Numbers, q: float) -> float:
    """The smallest value with at least a share q of all values at or below it; it may be infinite."""
    return float(ordered[max(0, math.ceil(q * ordered.size - 1e-9) - 1)])


def band_of_mean(curves: Numbers, level: float = 0.95, simultaneous: bool = False, log: bool = False) -> Band:
    """Of curves with one row for each run: the mean, and where the expected curve lies; `log` as in `log_interval`."""
    runs, points = curves.shape
    if runs < 2:
        raise BadValue("a band of the mean needs at least 2 runs, got 1", kind="too-few-runs", field="curves")
    mean, error = curves.mean(axis=0), curves.std(axis=0, ddof=1) / math.sqrt(runs)
    times = student_quantile(checked(level), runs - 1)
    if simultaneous:
        times = min(sup_t(curves, level), student_quantile(1 - (1 - level) / points, runs - 1))
    if log:
        positive = mean > 0
        ratio = np.exp(np.minimum(times * error / np.where(positive, mean, 1.0), LARGEST))
        return Band(mean, np.where(positive, mean / ratio, mean), np.where(positive, mean * ratio, mean))
    return Band(mean, mean - times * error, mean + times * error)


def sup_t(curves: Numbers, level: float) -> float:
    """The value that the largest of the curves' t statistics exceeds with probability 1 - level."""
    runs = curves.shape[0]
    spread = curves.std(axis=0, ddof=1)
    moving = spread > 1e-12 * np.maximum(1.0, np.abs(curves).max(axis=0))
    if not moving.any():
        return student_quantile(level, runs - 1)
    scaled = (curves[:, moving] - curves[:, moving].mean(axis=0)) / (spread[moving] * math.sqrt(runs - 1))
    source = np.random.Generator(np.random.PCG64(SEED))
    largest = np.empty(DRAWS)
    for begin in range(0, DRAWS, 500):  # in parts, so that long studies don't need large matrices
        part = source.standard_normal((500, runs)) @ scaled
        largest[begin : begin + 500] = np.abs(part).max(axis=1)
    largest /= np.sqrt(source.chisquare(runs - 1, DRAWS) / (runs - 1))
    return float(np.quantile(largest, level))


def band_of_runs(curves: Numbers, level: float = 0.95, simultaneous: bool = False) -> Band:
    """Of curves with one row for each run: the median, and where the given share of the runs lies.

    The simultaneous band is the hull of the deepest runs: those whose most extreme rank is least extreme.
    """
    checked(level)
    runs = curves.shape[0]
    median = np.median(curves, axis=0)
    if not simultaneous:
        low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return Band(median, low, high)
    below, above = ranks(curves), ranks(-curves)
    depth = np.minimum(below, above).min(axis=1)
    deepest = np.argsort(-depth, kind="stable")[: math.ceil(level * runs - 1e-9)]
    return Band(median, curves[deepest].min(axis=0), curves[deepest].max(axis=0))


def power_fit(x: Numbers, samples: Numbers, level: float = 0.95) -> PowerLaw:
    """The exponent of mean(samples) in x; `samples` has one row for each run, one column for each x."""
    runs = samples.shape[0]
    checked(level)
    means = samples.mean(axis=0)
    if x.size < 2 or np.any(means <= 0):
        sentence = f"an exponent needs at least 2 points with a mean above 0, got {x.size} with {means.tolist()}"
        raise BadValue(sentence, kind="too-few-points", field="samples")
    place = np.log(x) - np.log(x).mean()
    weights = place / (place @ place)
    exponent = float(weights @ np.log(means))
    factor = math.exp(float(np.log(means).mean() - exponent * np.log(x).mean()))
    half = math.nan
    if runs > 1:
        influence = samples @ (weights / means)
        half = student_quantile(level, runs - 1) * float(influence.std(ddof=1)) / math.sqrt(runs)
    misfit = float(np.exp(np.abs(np.log(means) - math.log(factor) - exponent * np.log(x)).max()))
    return PowerLaw(Interval(exponent, exponent - half, exponent + half), factor, misfit)


def ranks(curves: Numbers) -> NDArray[np.int64]:
    """How many runs lie below each, step by step."""
    ordered = np.sort(curves, axis=0)
    columns = [np.searchsorted(ordered[:, j], curves[:, j], side="left") for j in range(curves.shape[1])]
    return np.stack(columns, axis=1)


def checked(level: float) -> float:
    return number("level", level, 0.0, 1.0)
