"""The noise of an arm given that of all: ratios of deviations that are log-normal."""

import math
from itertools import pairwise

import numpy as np
import pytest

from afterglow.estimation.noise_ratio import FAR, GRID, NEAR, SPREAD, spread_of, tail


@pytest.mark.parametrize("freedom", [1, 3, 5])
@pytest.mark.parametrize("squares", [0.02, 1.0, 30.0])
def test_student_has_the_tails_of_the_mixture_over_ratios(squares: float, freedom: int) -> None:
    """The mixture by draws from the prior, weighted by the likelihood of the sum of squares."""
    random = np.random.default_rng(1)
    ratios = np.exp(SPREAD * random.normal(size=1_000_000))
    weights = ratios ** -float(freedom) * np.exp(-0.5 * squares / ratios**2)
    value, degrees = spread_of(squares, freedom)
    for share in (NEAR, FAR):
        far = next(one for one in np.linspace(0.5, 60, 4_000).tolist() if tail(one, degrees) <= share)
        reached = far * math.sqrt(value) / ratios
        normal_tails = np.interp(reached, STEPS, TAILS)
        assert float(weights @ normal_tails / weights.sum()) == pytest.approx(share, rel=0.12)


STEPS = np.linspace(0, 12, 2_401)
TAILS = np.array([0.5 * math.erfc(step * math.sqrt(0.5)) for step in STEPS.tolist()])


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5])
def test_noise_grows_with_the_scatter_and_without_it_stays_above_0(freedom: int) -> None:
    values = [spread_of(squares, freedom)[0] for squares in (0.0, 1e-3, 0.1, 1.0, 10.0, 100.0, 1e3)]
    assert all(one < other for one, other in pairwise(values[1:]))
    median = math.exp(-2 * freedom * SPREAD**2)  # of variances, where nothing but the prior keeps them from 0
    assert median < values[0] < median * math.exp(2 * SPREAD**2)  # the mean of variances
    assert all(degrees > 3 for degrees in (spread_of(squares, freedom)[1] for squares in (0.0, 1.0, 1e9)))
    assert max(GRID) * SPREAD > 3
