"""Quantiles of Student's t against SciPy."""

import pytest
from scipy import stats

from afterglow.errors import BadValue
from afterglow.student_t import student_quantile


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999])
def test_quantiles_agree_with_scipy(level: float) -> None:
    for freedom in [*range(1, 60), 99, 100, 150, 198, 199, 200, 201, 250, 500, 1000, 12345, 10**6]:
        expected = stats.t.isf(0.5 * (1 - level), freedom)
        assert student_quantile(level, freedom) == pytest.approx(expected, rel=1e-9)


def test_levels_and_degrees_out_of_range_are_refused() -> None:
    with pytest.raises(BadValue, match="level must be a number above 0 and below 1, got 1"):
        student_quantile(1, 10)
    with pytest.raises(BadValue, match="freedom must be a whole number of at least 1, got 0"):
        student_quantile(0.95, 0)
