"""Intervals cover what they say, bands too, and fits find exponents that are known."""

import math

import numpy as np
import pytest
from scipy import stats

from afterglow.errors import BadValue
from afterglow.lab.statistics import (
    Interval,
    Numbers,
    band_of_mean,
    band_of_runs,
    difference_interval,
    mean_interval,
    power_fit,
    probability_interval,
    quantile_interval,
    share_interval,
    sup_t,
)


def source(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def walks(random: np.random.Generator, runs: int, points: int) -> Numbers:
    """Curves whose points hang together, with mean 0."""
    return np.cumsum(random.standard_normal((runs, points)), axis=1)


def surely(hits: int, trials: int, probability: float) -> bool:
    """Whether so many hits are within what happens all but once in a million times."""
    low, high = stats.binom.interval(1 - 1e-6, trials, probability)
    return bool(low <= hits <= high)


# Single numbers


def test_the_interval_of_a_mean_is_scipys() -> None:
    values = source(1).exponential(size=30)
    low, high = stats.t.interval(0.9, 29, values.mean(), stats.sem(values))
    found = mean_interval(values, 0.9)
    assert (found.value, found.low, found.high) == pytest.approx((values.mean(), low, high), rel=1e-9)


def test_the_interval_of_a_normal_mean_covers_as_often_as_it_says() -> None:
    random, trials = source(2), 5_000
    samples = random.normal(3.0, 2.0, (trials, 8))
    hits = sum(found.low <= 3.0 <= found.high for found in map(mean_interval, samples))
    assert surely(hits, trials, 0.95)


def test_the_interval_of_a_difference_is_scipys() -> None:
    first, second = source(3).exponential(size=30), source(4).normal(1.0, 3.0, size=8)
    known = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.9)
    found = difference_interval(first, second, 0.9)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), rel=1e-9)
    assert difference_interval(np.ones(3), np.zeros(4)) == Interval(1.0, 1.0, 1.0)


def test_a_single_run_has_no_interval() -> None:
    assert math.isnan(difference_interval(np.array([2.0]), np.array([1.0])).low)
    found = mean_interval(np.array([2.0]))
    assert found.value == 2.0
    assert math.isnan(found.low)


@pytest.mark.parametrize("probability", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("trials", [5, 40])
def test_the_interval_of_a_probability_covers_at_least_as_often_as_it_says(probability: float, trials: int) -> None:
    covered = 0.0
    for hits in range(trials + 1):
        found = probability_interval(hits, trials)
        if found.low <= probability <= found.high:
            covered += float(stats.binom.pmf(hits, trials, probability))
    assert covered >= 0.95


def test_the_interval_of_a_probability_is_scipys() -> None:
    for hits in (0, 3, 10):
        known = stats.binomtest(hits, 10).proportion_ci(0.95, method="exact")
        found = probability_interval(hits, 10)
        assert (found.low, found.high) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize(("q", "count"), [(0.5, 9), (0.5, 60), (0.9, 100), (0.05, 80)])
def test_the_interval_of_a_quantile_covers_exactly_as_computed(q: float, count: int) -> None:
    """Of uniforms the j-th smallest lies below q as often as a binomial number reaches j."""
    ranks = quantile_interval(np.arange(1.0, count + 1.0), q)
    low = 0 if math.isinf(ranks.low) else int(ranks.low)
    high = count + 1 if math.isinf(ranks.high) else int(ranks.high)
    exact = stats.binom.cdf(high - 1, count, q) - stats.binom.cdf(low - 1, count, q)
    assert exact >= 0.95
    samples = source(3).random((2_000, count))
    hits = sum(found.low <= q <= found.high for found in (quantile_interval(one, q) for one in samples))
    assert surely(hits, 2_000, float(exact))


def test_too_few_runs_leave_a_quantile_unbounded() -> None:
    found = quantile_interval(np.arange(1.0, 6.0), 0.95)
    assert (found.value, found.high) == (5.0, math.inf)


def test_a_median_may_be_infinite() -> None:
    times = np.array([3.0, math.inf, math.inf, 5.0, math.inf])
    assert quantile_interval(times, 0.5).value == math.inf


# Bands


@pytest.mark.parametrize("runs", [10, 60])
def test_a_simultaneous_band_covers_the_whole_expected_curve_as_often_as_it_says(runs: int) -> None:
    random, trials = source(4), 150
    hits = pointwise = 0
    for _ in range(trials):
        curves = walks(random, runs, 15)
        band, narrow = band_of_mean(curves, 0.9, simultaneous=True), band_of_mean(curves, 0.9)
        hits += bool(np.all((band.low <= 0) & (band.high >= 0)))
        pointwise += bool(np.all((narrow.low <= 0) & (narrow.high >= 0)))
    assert surely(hits, trials, 0.9)
    assert pointwise < hits - 15  # which a pointwise band doesn't


def test_a_pointwise_band_is_the_interval_of_each_step() -> None:
    curves = walks(source(5), 20, 4)
    band = band_of_mean(curves, 0.8)
    for step in range(4):
        alone = mean_interval(curves[:, step], 0.8)
        assert (band.low[step], band.high[step]) == pytest.approx((alone.low, alone.high))


def test_the_critical_value_lies_between_students_and_bonferronis() -> None:
    curves = source(6).standard_normal((50, 20))  # independent steps: where it is largest
    value = sup_t(curves, 0.95)
    assert stats.t.ppf(0.975, 49) < value < stats.t.ppf(1 - 0.025 / 20, 49) * 1.02
    same = np.repeat(curves[:, :1], 20, axis=1)  # one step told twenty times: Student's
    assert sup_t(same, 0.95) == pytest.approx(stats.t.ppf(0.975, 49), rel=0.04)


def test_steps_at_which_all_runs_agree_do_not_widen_the_band() -> None:
    curves = walks(source(7), 30, 6)
    still = np.concatenate([np.zeros((30, 3)), curves], axis=1)
    assert sup_t(still, 0.95) == sup_t(curves, 0.95)
    band = band_of_mean(still, simultaneous=True)
    assert band.low[:3].tolist() == band.high[:3].tolist() == [0, 0, 0]


def test_the_same_curves_give_the_same_band() -> None:
    curves = walks(source(8), 12, 9)
    first, second = (band_of_mean(curves, simultaneous=True) for _ in range(2))
    assert first.low.tobytes() == second.low.tobytes()


def test_a_band_of_runs_holds_the_share_of_runs_that_it_says() -> None:
    curves = walks(source(9), 200, 12)
    band = band_of_runs(curves, 0.9)
    inside = (curves >= band.low) & (curves <= band.high)
    assert np.all(np.abs(inside.mean(axis=0) - 0.9) <= 0.01)
    whole = band_of_runs(curves, 0.9, simultaneous=True)
    assert 0.9 <= np.all((curves >= whole.low) & (curves <= whole.high), axis=1).mean() <= 0.97


# Exponents


def test_a_power_law_without_noise_is_found_exactly() -> None:
    x = np.array([10.0, 100.0, 1_000.0])
    fit = power_fit(x, np.tile(3 * x**0.5, (4, 1)))
    assert (fit.exponent.value, fit.factor, fit.misfit) == pytest.approx((0.5, 3.0, 1.0))
    assert fit.exponent.high - fit.exponent.low == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("shared", [0.0, 0.9], ids=["apart", "common numbers"])
def test_the_interval_of_an_exponent_covers_as_often_as_it_says(shared: float) -> None:
    random, trials, x = source(10), 1_000, np.array([1e3, 1e4, 1e5, 1e6])
    hits = 0
    for _ in range(trials):
        own = random.normal(0, 0.3, (60, 4))
        noise = shared * own[:, :1] + math.sqrt(1 - shared**2) * own
        fit = power_fit(x, 2 * x**0.6 * (1 + noise)).exponent
        hits += fit.low <= 0.6 <= fit.high
    assert surely(hits, trials, 0.95)


def test_a_curve_that_is_no_power_law_shows_in_the_misfit() -> None:
    x = np.array([10.0, 100.0, 1_000.0])
    assert power_fit(x, np.tile([1.0, 10.0, 10.0], (3, 1))).misfit > 1.5


def test_an_exponent_needs_two_points_above_zero() -> None:
    with pytest.raises(BadValue, match="at least 2 points with a mean above 0"):
        power_fit(np.array([1.0, 2.0]), np.zeros((3, 2)))


@pytest.mark.parametrize("probability", [0.01, 0.2, 0.6])
def test_the_interval_of_a_mean_of_shares_covers_as_often_as_it_says(probability: float) -> None:
    random, runs = np.random.default_rng(8), 12
    draws = random.random((2_000, 1, runs)) < np.array([0.5, 1.0, 1.5])[:, None] * probability
    found = [share_interval(one.mean(axis=0)) for one in draws]
    assert np.mean([one.low <= probability <= one.high for one in found]) > 0.95


def test_shares_that_are_all_alike_leave_the_mean_uncertain() -> None:
    assert share_interval(np.zeros(20)).high == pytest.approx(1 - 0.025 ** (1 / 20))
    third = share_interval(np.full(5, 1 / 3))
    assert third.low < 0.1
    assert third.high > 0.7
    assert share_interval(np.ones(1)) == probability_interval(1, 1)
