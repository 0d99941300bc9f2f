import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from afterglow.engine.binomial import below, binomial, hat, log_mass
from support.worlds.draws import CHANCE, binomials, compiled, fit

SETTINGS = [
    (1, 0.3), (2, 0.999), (5, 0.5), (19, 0.5), (40, 0.02), (64, 0.5), (199, 0.95), (1000, 1e-4), (10**6, 9.9e-6),
    (20, 0.5), (21, 0.48), (34, 0.7), (101, 0.1), (100, 0.5), (1000, 0.011), (1000, 0.9), (4000, 0.5),
    (10**4, 0.3), (10**5, 0.999), (10**6, 2e-5), (10**9, 5e-8),
]  # fmt: skip


@pytest.mark.parametrize(("n", "p"), SETTINGS)
def test_counts_follow_the_binomial_law(n: int, p: float) -> None:
    drawn = binomials(n, p, 10**6)
    top = min(n, int(n * p + 60 * math.sqrt(n * p) + 60))
    assert drawn.min() >= 0
    assert drawn.max() <= top
    mass = stats.binom.pmf(np.arange(top + 1), n, p)
    assert fit(np.bincount(drawn, minlength=top + 1), drawn.size * mass) > CHANCE


@pytest.mark.parametrize(("n", "p"), [(10**12, 0.5), (10**12, 0.9), (10**12, 1e-3), (10**9, 0.7), (10**7, 0.5)])
def test_huge_counts_are_normal_with_the_right_moments(n: int, p: float) -> None:
    drawn = binomials(n, p, 10**6)
    z = (drawn - n * p) / math.sqrt(n * p * (1 - p))
    assert abs(z.mean()) < 5.4 / 1e3
    assert abs(z.var() - 1) < 5.4 * math.sqrt(2) / 1e3
    skew = (1 - 2 * p) / math.sqrt(n * p * (1 - p))
    assert abs((z**3).mean() - skew) < 5.4 * math.sqrt(15) / 1e3
    assert stats.kstest(z, "norm").pvalue > CHANCE


def test_huge_counts_of_a_rare_event_are_poisson() -> None:
    drawn = binomials(10**12, 3e-12, 10**6)
    assert fit(np.bincount(drawn, minlength=60), 1e6 * stats.poisson.pmf(np.arange(60), 3.0)) > CHANCE


def test_every_last_digit_of_a_huge_count_occurs_equally_often() -> None:
    digits = binomials(10**12, 0.37, 10**6) % 10
    assert fit(np.bincount(digits, minlength=10), np.full(10, 1e5)) > CHANCE


@pytest.mark.parametrize(
    ("n", "p", "count"), [(0, 0.5, 0), (7, 0.0, 0), (7, 1.0, 7), (10**12, 0.0, 0), (10**12, 1.0, 10**12), (1, 1.0, 1)]
)
def test_certain_counts_are_certain(n: int, p: float, count: int) -> None:
    assert set(binomials(n, p, 100)) == {count}


@pytest.mark.parametrize(("n", "p"), [(10, 0.25), (1000, 0.25), (10**12, 0.125)])
def test_failures_mirror_successes(n: int, p: float) -> None:
    assert (binomials(n, p, 1000) + binomials(n, 1 - p, 1000) == n).all()


def test_a_count_depends_on_its_key_alone() -> None:
    draw = compiled(binomial)
    assert [draw(np.uint64(key), 10**6, 0.4) for key in range(50)] == [
        draw(np.uint64(key), 10**6, 0.4) for key in range(50)
    ]


@pytest.mark.parametrize(("n", "p"), [(n, p) for n, p in SETTINGS if n <= 4000])
def test_masses_are_right_to_twelve_digits(n: int, p: float) -> None:
    chance = Fraction(p)
    for k in {k for k in (0, 1, 2, n // 9, n // 3, int(n * p), int(n * p) + 20, n - 1, n) if 0 <= k <= n}:
        exact = float(math.comb(n, k) * chance**k * (1 - chance) ** (n - k))
        if exact > 1e-300:
            assert math.exp(log_mass(n, p, k)) == pytest.approx(exact, rel=1e-12 * max(1, -math.log(exact)))


@pytest.mark.parametrize(("n", "p"), [(10**12, 0.5), (10**12, 0.01), (10**9, 0.3), (1000, 0.5)])
def test_neighbouring_masses_have_the_right_ratio_even_at_the_largest_counts(n: int, p: float) -> None:
    middle, deviation = math.floor(n * p), math.sqrt(n * p * (1 - p))
    for k in (middle + int(step * deviation) for step in (-6, -2, -0.5, 0, 0.1, 1, 4)):
        ratio = math.log(n - k) - math.log(k + 1) + math.log(p) - math.log1p(-p)
        assert log_mass(n, p, k + 1) - log_mass(n, p, k) == pytest.approx(ratio, abs=1e-10)


REJECTED = [(n, p) for n, p in SETTINGS if p <= 0.5 and n * p >= 10] + [(200, 0.5), (10**6, 0.5), (10**12, 0.4)]


@pytest.mark.parametrize(("n", "p"), REJECTED)
def test_a_height_is_compared_rightly_with_any_mass(n: int, p: float) -> None:
    """Whichever of the three ways decides: as a product, by bounds, by masses."""
    variance = n * p * (1 - p)
    mode = math.floor((n + 1) * p)
    for k in {int(mode + z * math.sqrt(variance)) for z in np.linspace(-6, 8, 120)}:
        if 0 <= k <= n:
            ratio = math.exp(log_mass(n, p, k) - log_mass(n, p, mode))
            assert below(ratio * (1 - 1e-8), n, p, variance, k)
            assert not below(ratio * (1 + 1e-8), n, p, variance, k)


@pytest.mark.parametrize(("n", "p"), REJECTED)
def test_the_hat_covers_every_mass_and_what_is_taken_unseen_lies_below(n: int, p: float) -> None:
    """Both are needed for rejection to be exact."""
    a, b, safe, scale = hat(math.sqrt(n * p * (1 - p)), p)
    u = np.linspace(-0.5, 0.5, 20_001)[1:-1]
    edge = 0.5 - np.abs(u)
    k = np.floor((2 * a / edge + b) * u + n * p + 0.5)
    inside = (k >= 0) & (k <= n)
    mode = math.floor((n + 1) * p)
    masses = np.array([math.exp(log_mass(n, p, int(j)) - log_mass(n, p, mode)) for j in k[inside]])
    accepted = masses / (scale / (a / edge[inside] ** 2 + b))
    assert accepted.max() <= 1
    assert inside[edge >= 0.07].all()
    assert accepted[edge[inside] >= 0.07].min() >= safe
