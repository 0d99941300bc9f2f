"""Formulas that several policies share."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from afterglow.policies.terms import best_mean_plus, mean_plus

COUNTS = st.one_of(st.integers(0, 4), st.integers(1, 10**12))
MEANS = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(-2.0, 1e6, allow_subnormal=False))
WIDTHS = st.one_of(st.just(0.0), st.floats(1e-6, 200.0))


@given(st.lists(st.tuples(COUNTS, MEANS), min_size=2, max_size=8), WIDTHS)
@example([(10, 0.5), (10, 0.5), (10, 0.5)], 1.0)  # a tie goes to the lowest,
@example([(4, 0.5), (9, 0.5), (4, 0.5)], 2.0)  # whichever was played most
@example([(10**12, 1e6), (10**12 - 1, 1e6), (10**12, math.nextafter(1e6, 2e6))], 40.0)  # to the last bit
def test_the_best_arm_is_that_of_the_largest_index_to_the_last_bit(arms: list[tuple[int, float]], width: float) -> None:
    pulls = [count for count, _ in arms]
    sums = [count * mean for count, mean in arms]
    values = [mean_plus(total, count, width) for total, count in zip(sums, pulls, strict=True)]
    assert best_mean_plus(sums, pulls, width) == values.index(max(values))


@given(st.integers(2, 10**12), st.floats(0.0, 1e6), st.floats(1e-6, 200.0), st.integers(-3, 3), st.booleans())
def test_indices_that_nearly_agree_are_told_apart(n: int, mean: float, width: float, ulps: int, swapped: bool) -> None:
    """Two arms of different counts whose indices differ by a few units in the last place."""
    fewer = max(1, n // 3)
    target = mean * n / n + math.sqrt(width / n)
    total = fewer * (target - math.sqrt(width / fewer))
    for _ in range(abs(ulps)):
        total = math.nextafter(total, math.inf if ulps > 0 else -math.inf)
    sums, pulls = [mean * n, total], [n, fewer]
    if swapped:
        sums, pulls = sums[::-1], pulls[::-1]
    values = [mean_plus(s, count, width) for s, count in zip(sums, pulls, strict=True)]
    assert best_mean_plus(sums, pulls, width) == values.index(max(values))
