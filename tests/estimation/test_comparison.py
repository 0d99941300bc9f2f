"""Differences between arms: how running looks and the look at the fixed end share the confidence."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import Comparison, compare
from afterglow.estimation.modelled import modelled
from afterglow.estimation.noise import arm_noise, common, event, noise, scatter
from afterglow.policies.contrasts import Contrasts


@pytest.mark.parametrize("reach", [4, 20, 80])
def test_running_looks_and_the_last_one_together_miss_less_than_they_may(reach: int) -> None:
    """A Brownian motion that is watched up to a fixed time, in units of e: 40,000 paths, 400 looks, share 5 %."""
    share, looks, paths = 0.05, 400, 40_000
    times = np.arange(1, looks + 1) * reach / looks
    border = (1 + 1 / times) * (2 * math.log(1 / (Comparison.RUNNING * share)) + np.log1p(times))
    random = np.random.default_rng(3)
    value, crossed = np.zeros(paths), np.zeros(paths, dtype=bool)
    for time, most in zip(times, border, strict=True):
        value += random.normal(size=paths) * math.sqrt(reach / looks)
        crossed |= value**2 / time > most
    last = NormalDist().inv_cdf(1 - 0.5 * Comparison.FINAL * share)
    missed = float((crossed | (value**2 / reach > last**2)).mean())
    assert missed < 0.95 * share  # the standard error is 0.001


def batches_of(*arms: tuple[float, float], count: int = 30) -> Batches:
    """Batches of six steps in turns of two; each arm has a mean and a standard deviation of its batches."""
    random, batches = np.random.default_rng(5), Batches(len(arms), 6)
    for _ in range(count // 2):
        for arm, (mean, deviation) in enumerate(arms):
            for batch in random.normal(mean, deviation, 2):
                batches.add_all(arm, [float(batch)] * 6)
            batches.end()
    return batches


def test_the_look_at_the_fixed_end_tells_what_running_looks_do_not() -> None:
    found = compare(batches_of((0.5, 0.04), (0.55, 0.04)), 1_000)
    assert not found.above(1, 0, 0.05)
    assert found.above(1, 0, 0.05, fixed_end=True)
    low = found.interval(found.contrast(1, 0), Comparison.FINAL * 0.05, uniform=False)[1]
    assert low > 0  # the interval that is shown agrees


def test_a_model_of_the_policy_decides_by_one_look_only_if_its_errors_were_measured_to_hold() -> None:
    washed = compare(batches_of((0.5, 0.04), (0.55, 0.04)), 1_000)
    far = Contrasts((0.5, 0.55), (0.0, 0.0, 0.0, 0.05**2 / 2.6**2), 200, 0.01, 100)
    for final in (False, True):
        found = modelled(replace(far, final=final), range(2), washed)
        assert not found.above(1, 0, 0.05)
        assert found.above(1, 0, 0.05, fixed_end=True) is final


def test_an_arm_with_enough_batches_is_judged_by_its_own_noise() -> None:
    few, many = noise(batches_of((0.5, 0.01), (0.5, 0.1), count=4)), noise(batches_of((0.5, 0.01), (0.5, 0.1)))
    assert few is not None
    assert many is not None
    assert few[0].value > 10 * many[0].value  # the prior of an arm with three degrees of freedom is that of all arms
    assert many[0].freedom == 14.0  # fifteen turns, each a batch of twelve steps
    assert many[0].value == pytest.approx(12 * 0.01**2 / 2 / (1 - 5 / 24), rel=0.8)


def test_three_arms_share_their_noise_more_than_two() -> None:
    """A ratio of deviations that is log-normal takes the place of three times the noise of all."""
    found = []
    for arms in (3, 2):
        batches = batches_of((0.6, 0.02), (0.6, 0.02))
        few = Batches(arms, 6)
        few.arms[0], few.timeline = batches.arms[0], batches.timeline
        for arm in range(1, arms):
            few.add_all(arm, [0.41] * 6 + [0.39] * 6)
            few.end()
        judged = noise(few)
        assert judged is not None
        found.append(judged[1])
        assert not judged[1].borrowed
    assert found[0].value < found[1].value / 1.4
    assert found[0].freedom > found[1].freedom


def test_guards_keep_the_prior_whatever_the_number_of_arms() -> None:
    """What they stop must be stopped again when a log is replayed."""
    batches = batches_of((0.5, 0.02), (0.5, 0.02), (0.5, 0.02), count=4)
    own = [scatter(washed, batches) for washed in batches.arms]
    secondary = noise(batches, largest=1.0)
    assert secondary is not None
    for (squares, freedom), found in zip(own, secondary, strict=True):
        weight = 2 * (1 - freedom / 6)
        value = (squares + weight * 3 * common(own)) / (freedom + weight)
        assert found.freedom == freedom + weight
        assert value < found.value < 1.1 * value  # one more event


def test_deviations_by_rounding_do_not_count_as_noise() -> None:
    batches = Batches(2, 3)
    for arm in (0, 1, 0, 1):
        batches.add_all(arm, [0.1 + 0.2 * arm + 1e-16 * step for step in range(30)])
        batches.end()
    found = noise(batches)
    assert found is not None
    assert all(one.value >= 0.1**2 / 60 for one in found)  # one event that takes a total to 0 is allowed for
    batches = Batches(2, 3)
    for arm in (0, 1, 0, 1):
        batches.add_all(arm, [0.0] * 30)
        batches.end()
    found = noise(batches)
    assert found is not None
    assert all(one.value == 1 / 60 for one in found)  # nothing was seen: one event of the largest reward


def test_an_arm_with_a_single_batch_is_told_apart_at_the_fixed_end_only() -> None:
    """Its noise is that of the others: whoever looks often would find a time at which they are calmer than it is."""
    batches = batches_of((0.5, 0.001), (0.6, 0.001))
    alone = Batches(3, 6)
    alone.arms[:2], alone.timeline = batches.arms, batches.timeline
    alone.add_all(2, [0.2] * 7)
    alone.end()
    found = compare(alone, 1_000)
    assert found.borrows(1, 2)
    assert not found.above(1, 2, 0.05)
    assert found.above(1, 2, 0.05, fixed_end=True)
    assert found.more_steps(1, 2, 0.5) == 6
    assert found.above(1, 0, 0.05)


def test_a_rare_failure_outside_of_whole_batches_makes_nothing_clear() -> None:
    """Totals were all 1, but for rounding, until one failed a step ago: its batch isn't over, so none has varied."""
    batches = Batches(2, 6)
    for arm, totals in ((0, [1 - 1e-15] * 93), (1, [1 - 1e-15] * 36 + [5 / 6])):
        batches.add_all(arm, totals)
        batches.end()
    found = noise(batches)
    assert found is not None
    assert found[0].value == pytest.approx(1 / 93)
    assert found[1].value == pytest.approx(1 / 37)
    assert not compare(batches, 600).above(0, 1, 0.05, fixed_end=True)


def test_totals_that_hold_more_than_rewards_keep_a_wide_prior() -> None:
    few = [noise(batches_of((level, 0.02), (level, 0.02), count=4)) for level in (0.5, 1.5)]
    assert all(found is not None for found in few)
    values = [found[0].value for found in few if found is not None]
    assert values[1] == pytest.approx(values[0], rel=0.05)  # before, the prior of the second was three times narrower


def totals_with_rests(seed: int) -> Batches:
    """Two arms in turns that leave steps outside of whole batches: rare rewards of random size, and a calm arm."""
    random, batches = np.random.default_rng(seed), Batches(2, 6)
    for _ in range(2):
        rare = np.where(random.random(16) < 0.15, random.random(16), 0.0)
        for arm, totals in enumerate((rare.tolist(), [0.3] * 15 + [0.3 + 0.01 * (seed % 2)])):
            batches.add_all(arm, totals)
            batches.end()
    return batches


@pytest.mark.parametrize("largest", [None, 0.8])
def test_steps_outside_of_whole_batches_only_ever_widen_and_guards_do_not_read_them(largest: float | None) -> None:
    wider = 0
    for seed in range(60):
        batches = totals_with_rests(seed)
        own = [scatter(washed, batches) for washed in batches.arms]
        level = sum(one.total for one in batches.arms) / sum(one.steps for one in batches.arms)
        usual = event(common(own), level, largest)
        found = noise(batches, largest)
        assert found is not None
        for washed, (squares, degrees), one in zip(batches.arms, own, found, strict=True):
            size = max(usual, event(squares / degrees, washed.mean, largest))
            least = arm_noise(washed, squares, degrees, size, common(own), largest).value
            assert one.value == least if largest else one.value >= least
            wider += one.value > least
    assert (wider > 0) is (largest is None)


def test_failures_are_the_rare_events_up_to_four_times_the_largest_variance_of_rewards() -> None:
    """Estimates from few batches scatter; beyond that totals hold more than rewards, and 1 is no end of their range."""
    mean, most = 0.99, 0.99 * 0.01
    assert event(0.5 * most, mean) == pytest.approx(0.5 * most / 0.01)
    assert event(3.9 * most, mean) == 1.0
    assert event(4.1 * most, mean) == pytest.approx(4.1 * most / mean)
