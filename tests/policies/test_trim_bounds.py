"""The radii of trim-ucb: exact where KL is, never wider than Hoeffding's, and honest about an estimated variance."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.policies.terms import kl, kldown, klup
from afterglow.policies.trim_bounds import evidence, highest, lowest, pooled_variance

DUST = 1e-9


def test_kl_bounds_are_where_the_evidence_is_used_up() -> None:
    assert klup(3.0, 10.0, 2.0) > 0.3 > kldown(3.0, 10.0, 2.0)
    assert 10 * kl(0.3, klup(3.0, 10.0, 2.0)) == pytest.approx(2.0)
    assert 10 * kl(0.3, kldown(3.0, 10.0, 2.0)) == pytest.approx(2.0)
    assert klup(0.0, 10.0, 2.0) == pytest.approx(1 - math.exp(-0.2))
    assert (klup(5.0, 5.0, 1.0), klup(7.0, 5.0, 1.0), klup(0.0, 0.0, 1.0), klup(1.0, -2.0, 1.0)) == (1.0,) * 4
    assert klup(1 - 1e-17, 1.0, 800.0) == 1.0
    assert klup(0.0, 1.0, 800.0) == pytest.approx(1.0)


def test_kl_is_infinite_where_a_mean_is_excluded_and_zero_at_itself() -> None:
    assert kl(0.5, 1.0) == kl(0.5, 0.0) == kl(0.0, 1.0) == kl(1.0, 0.0) == math.inf
    assert kl(1.0, 1.0) == kl(0.0, 0.0) == kl(0.3, 0.3) == 0.0
    assert kl(1e-300, 1e-310) >= 0.0
    assert kl(0.5, math.nextafter(1.0, 0.0)) == pytest.approx(-0.5 * math.log(2) + 0.5 * math.log(2**52))


@settings(derandomize=True, deadline=None, max_examples=50)
@given(share=st.floats(0, 1), count=st.integers(1, 10**9), f=st.floats(0, 40), variance=st.floats(1e-6, 0.25))
def test_a_radius_is_never_wider_than_hoeffdings(share: float, count: int, f: float, variance: float) -> None:
    total = share * count
    high = highest(total, count, f, variance, 1 / 3)
    low = lowest(total, count, f, variance, 1 / 3)
    assert 0 <= low <= share + DUST
    assert share - DUST <= high <= min(1, share + math.sqrt(f / (2 * count))) + DUST
    assert high <= share + math.sqrt(2 * variance * f / count) + f / (3 * count) + DUST
    assert highest(total, count, f, 0.25, 1 / 3) == pytest.approx(klup(total, count, f), abs=1e-8)


def test_the_levels_ask_for_the_evidence_they_name() -> None:
    assert evidence(0, 1_000, 5, 10) == math.log(1_000)
    assert evidence(1, 1_000, 5, 10) == pytest.approx(math.log(1_000) + 3 * math.log(math.log(1_000)))
    assert evidence(2, 1_000, 5, 10) == pytest.approx(math.log(20 * (math.log(20) ** 2 + 1)))
    assert evidence(2, 1_000, 5, 500) == 0.0
    assert evidence(1, 2, 5, 1) == math.log(2)


def test_an_estimated_variance_is_pooled_within_arms_and_waits_for_eight_degrees_of_freedom() -> None:
    means = [[0.1, 0.3, 0.2, 0.2, 0.2], [0.8, 0.6, 0.7, 0.7], [0.5, 0.5]]
    counts = [len(batch) for batch in means]
    sums = [sum(batch) for batch in means]
    squares = [sum(mean * mean for mean in batch) for batch in means]
    assert pooled_variance(4, counts, sums, squares) == pytest.approx(1.5 * 4 * (0.02 + 0.02) / 8)
    assert pooled_variance(4, counts[:2], sums[:2], squares[:2]) == 0.25
    assert pooled_variance(400, counts, sums, squares) == 0.25
    assert pooled_variance(4, [9], [4.5], [2.25]) == 1e-6
