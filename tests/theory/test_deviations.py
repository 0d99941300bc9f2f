"""Deviation bounds hold for every count at once; probabilities here are computed, not sampled."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterglow.policies.terms import kl
from afterglow.theory import hoeffding, log_mixture, mixture_level, peeling

COUNT = 250
LAWS = {  # probabilities of 0, 1/2, 1
    "bernoulli 0.1": (0.9, 0.0, 0.1),
    "bernoulli 0.5": (0.5, 0.0, 0.5),
    "halves": (0.2, 0.6, 0.2),
    "halves, high": (0.05, 0.3, 0.65),
}


def crossing(law: tuple[float, float, float], level: list[float], side: int = 0) -> float:
    """P(n * kl(mean_n, mu) >= level[n] for some n), on one side (-1 below, 1 above) or both (0), by recursion."""
    mean = law[1] / 2 + law[2]
    alive = {0: 1.0}  # twice the sum -> probability of being there without having crossed
    crossed = 0.0
    for n in range(1, len(level)):
        after: dict[int, float] = {}
        for doubled, chance in alive.items():
            for gain, weight in enumerate(law):
                after[doubled + gain] = after.get(doubled + gain, 0.0) + chance * weight
        alive = {}
        for doubled, chance in after.items():
            average = doubled / (2 * n)
            if n * kl(average, mean) >= level[n] and (average - mean) * side >= 0:
                crossed += chance
            else:
                alive[doubled] = chance
    return crossed


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_the_mixture_level_is_crossed_with_probability_delta_at_most(
    law: tuple[float, float, float], delta: float
) -> None:
    level = [math.inf, *(mixture_level(n, delta) for n in range(1, COUNT))]
    assert 0 < crossing(law, level) <= delta


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("level", [4.0, 8.0])
def test_the_peeling_bound_holds_on_each_side(law: tuple[float, float, float], side: int, level: float) -> None:
    chance = crossing(law, [math.inf] + [level] * (COUNT - 1), side)
    assert 0 < chance <= peeling(level, COUNT - 1)


def test_asking_for_evidence_at_one_count_is_not_enough_for_all() -> None:
    assert crossing(LAWS["bernoulli 0.5"], [math.inf] + [4.0] * (COUNT - 1), 1) > 2 * math.exp(-4)


@given(st.floats(0, 1), st.integers(1, 10**6), st.floats(0.001, 0.999))
def test_the_mixture_exceeds_its_peak_over_n_plus_one_for_any_sum(share: float, count: int, mean: float) -> None:
    total = share * count
    assert log_mixture(total, count, mean) >= count * kl(share, mean) - math.log(count + 1) - 1e-6


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("count", [1, 7, 400])
def test_with_equality_when_all_rewards_are_0_or_all_are_1(share: int, count: int) -> None:
    assert log_mixture(share * count, count, 0.3) == pytest.approx(count * kl(share, 0.3) - math.log(count + 1))


@pytest.mark.parametrize("count", [1, 2, 30])
def test_the_mixture_is_a_martingale_for_bernoulli_rewards_and_shrinks_for_others(count: int) -> None:
    def expected(law: tuple[float, float, float]) -> float:
        chances = {0: 1.0}
        for _ in range(count):
            after: dict[int, float] = {}
            for doubled, chance in chances.items():
                for gain, weight in enumerate(law):
                    after[doubled + gain] = after.get(doubled + gain, 0.0) + chance * weight
            chances = after
        mean = law[1] / 2 + law[2]
        return math.fsum(chance * math.exp(log_mixture(d / 2, count, mean)) for d, chance in chances.items())

    assert expected(LAWS["bernoulli 0.1"]) == pytest.approx(1)
    assert expected(LAWS["halves"]) < 1


def test_hoeffding_and_peeling_are_the_stated_formulas() -> None:
    assert hoeffding(50, 0.2) == pytest.approx(math.exp(-4))
    assert peeling(10.0, 1000) == pytest.approx(70 * math.exp(-9))
    assert peeling(1.0, 1000) == peeling(0.5, 10) == 1.0
