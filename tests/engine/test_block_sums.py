import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from afterglow.engine.random import child
from afterglow.engine.rewards import (
    BASE,
    FEW,
    FOURTH,
    KINDS,
    LEVELS,
    MASS,
    THIRD,
    VARIANCE,
    WIDTH,
    groups_of,
    law_of,
    nearly_normal,
    parts_of,
    table_of,
)
from afterglow.worlds.rewards import Bernoulli, Beta, Discrete, Empirical, Reward, TruncatedNormal, Uniform
from support.worlds.draws import CHANCE, Numbers, agreement, blocks, compiled, fit, rewards, totals

BENT = tuple(float(x) for x in np.linspace(0, 1, 400) ** 2)
LAWS: list[Reward] = [
    Bernoulli(0.7), Bernoulli(0.004), Uniform(), Uniform(0.5, 0.5005), Beta(2, 3), Beta(0.5, 0.5), Beta(40, 0.6),
    Beta(0.02, 3), TruncatedNormal(0.6, 0.1), TruncatedNormal(-0.3, 0.2), TruncatedNormal(0.5, 0.4, 0.25, 0.5),
    Discrete([0, 0.5, 1], [0.5, 0.3, 0.2]), Discrete([0.1, 0.9], [1e-3, 0.999]), Empirical([0.2, 0.2, 0.25, 0.9]),
    Empirical(BENT),
]  # fmt: skip
ALL = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.text[:40])


def many_nearly_normal(key: Any, variance: float, third: float, fourth: float, out: Any) -> None:
    for i in range(out.size):
        out[i] = nearly_normal(child(key, i), variance, third, fourth)


@ALL
@pytest.mark.parametrize("n", [1, 2, 40, 500, 1600, 6000])
def test_a_sum_drawn_at_once_has_the_law_of_one_added_up(law: Reward, n: int) -> None:
    count = min(40_000, 30_000_000 // n)
    once, added = np.round(blocks(law, n, count), 9), np.round(totals(law, n, count), 9)
    assert stats.ks_2samp(once, added, method="asymp").pvalue > CHANCE


@ALL
@pytest.mark.parametrize("n", [100, 3000, 10**6, 10**12])
def test_a_sum_drawn_at_once_has_the_right_mean_and_variance(law: Reward, n: int) -> None:
    """The spread of a sample's variance follows from the law's fourth moment."""
    cells = law.cells()
    z = (blocks(law, n, 10_000) - n * law.mean) / math.sqrt(n * cells.variance)
    away = (cells.low + cells.width / 2 - cells.mean) / math.sqrt(cells.variance)
    half = cells.width / 2 / math.sqrt(cells.variance)
    fourth = float(cells.probability @ (away**4 + 2 * away**2 * half**2 + half**4 / 5))
    assert abs(z.mean()) < 5.6 * math.sqrt(1 / z.size)
    assert abs(z.var() - 1) < 5.6 * math.sqrt((2 + (fourth - 3) / n) / z.size) + 30 * fourth / n / z.size
    if n >= 10**9:
        assert agreement(z, stats.norm.cdf) > CHANCE


def test_sums_of_values_on_a_grid_stay_on_it() -> None:
    for n in (10, 1000, 10**9):
        sums = 4 * blocks(Discrete([0, 0.25, 1], [0.2, 0.5, 0.3]), n, 1000)
        assert (sums == np.round(sums)).all()


def test_sums_of_discrete_rewards_follow_the_exact_law() -> None:
    mass = np.array([0.2, 0.5, 0.0, 0.0, 0.3])  # of 0, 1/4, …, 1
    exact = np.ones(1)
    for _ in range(60):
        exact = np.convolve(exact, mass)
    sums = 4 * blocks(Discrete([0, 0.25, 1], [0.2, 0.5, 0.3]), 60, 10**6)
    assert fit(np.bincount(sums.astype(int), minlength=exact.size), 1e6 * exact) > CHANCE


def test_sums_of_uniform_rewards_follow_the_irwin_hall_law() -> None:
    """At 200 pulls, where halving takes over, the law of their sum is known by its first Edgeworth terms to 1e-7."""
    z = (blocks(Uniform(), 200, 10**6) - 100) / math.sqrt(200 / 12)
    excess = -1.2 / 200

    def cdf(x: Numbers) -> Numbers:
        return np.asarray(stats.norm.cdf(x) - stats.norm.pdf(x) * excess / 24 * (x**3 - 3 * x))

    assert agreement(z, cdf) > CHANCE


@ALL
def test_the_parts_of_a_law_have_its_cumulants(law: Reward) -> None:
    """What halving adds and what is left below add up to the law's own first four central moments."""
    cells = law.cells()
    parts = parts_of(cells)
    scale = 4.0 ** -parts[:, LEVELS]
    second = parts[:, VARIANCE] + parts[:, WIDTH] ** 2 / 12 * (1 - scale)
    fourth = parts[:, FOURTH] - parts[:, WIDTH] ** 4 / 120 * (1 - scale**2) + 3 * second**2
    middle = parts[:, BASE] + parts[:, WIDTH] / 2 * (1 - np.sqrt(scale))
    away, mass = middle - law.mean, parts[:, MASS]
    assert mass @ middle == pytest.approx(law.mean, rel=1e-12)
    far, half = cells.low + cells.width / 2 - law.mean, cells.width / 2
    p = cells.probability
    assert mass @ (away**2 + second) == pytest.approx(p @ (far**2 + half**2 / 3), rel=1e-9)
    skew = mass @ (away**3 + 3 * away * second + parts[:, THIRD])
    assert skew == pytest.approx(p @ (far**3 + far * half**2), rel=1e-9, abs=1e-12)
    tail = mass @ (away**4 + 6 * away**2 * second + 4 * away * parts[:, THIRD] + fourth)
    assert tail == pytest.approx(p @ (far**4 + 2 * far**2 * half**2 + half**4 / 5), rel=1e-9)


@ALL
def test_the_fifth_cumulants_that_a_sum_leaves_out_are_too_small_to_be_seen(law: Reward) -> None:
    """They move the distribution function of the whole by kappa5 / (120 sigma^5 n^1.5) times at most 1.2."""
    cells, group = law.cells(), groups_of(law.cells())
    n = law_of(cells)[FEW]  # fewer are drawn one by one
    missing = 0.0
    for part in range(group.max() + 1):
        p, half = cells.probability[group == part], cells.width[group == part] / 2
        middle = cells.low[group == part] + half
        away, share = middle - p @ middle / p.sum(), p / p.sum()
        second, third = share @ (away**2 + half**2 / 3), share @ (away**3 + away * half**2)
        fifth = share @ (away**5 + 10 / 3 * away**3 * half**2 + away * half**4)
        missing += p.sum() * abs(fifth - 10 * second * third)
    assert 1.2 * missing <= 1e-11 * 120 * cells.variance**2.5 * n**1.5


def test_what_is_left_is_drawn_with_its_variance_third_and_fourth_cumulant() -> None:
    out = np.empty(10**6)
    compiled(many_nearly_normal)(np.uint64(4), 4.0, 0.8, -1.6, out)
    assert abs(out.mean()) < 5.4 * 2 / 1e3
    assert out.var() == pytest.approx(4.0, abs=5.4 * math.sqrt(2 * 16) / 1e3)
    assert (out**3).mean() == pytest.approx(0.8, abs=5.4 * math.sqrt(15 * 64) / 1e3)
    assert (out**4).mean() - 3 * out.var() ** 2 == pytest.approx(-1.6, abs=5.4 * math.sqrt(24 * 256) / 1e3)


@ALL
def test_a_sum_lies_between_nothing_and_one_reward_for_each_pull(law: Reward) -> None:
    for n in (1, 50, 2000, 10**12):
        sums = blocks(law, n, 500)
        assert sums.min() >= 0
        assert sums.max() <= n * (1 + 1e-12)


@ALL
def test_a_total_is_what_filling_gives_added_from_left_to_right(law: Reward) -> None:
    kind, table = table_of([law])
    filled = rewards([law], 0, 3000, t0=17, seed=8)
    whole = 0.0
    for reward in filled:
        whole += reward
    assert compiled(KINDS[kind][1])(table, 0, np.uint64(8), 17, 3000) == whole


@ALL
def test_rewards_do_not_depend_on_how_steps_are_cut_into_chunks(law: Reward) -> None:
    whole = rewards([law], 0, 100)
    pieces = [rewards([law], 0, n, t0) for t0, n in ((0, 1), (1, 40), (41, 59))]
    assert (np.concatenate(pieces) == whole).all()


@ALL
def test_rewards_follow_their_law(law: Reward) -> None:
    drawn, cells = rewards([law], 0, 10**5), law.cells()
    assert drawn.min() >= cells.low[0]
    assert drawn.max() <= (cells.low + cells.width)[-1]
    if cells.width.any():
        assert agreement(drawn, cells.cdf) > CHANCE
    else:
        seen = np.searchsorted(cells.low, drawn)
        assert (cells.low[seen] == drawn).all()
        assert fit(np.bincount(seen, minlength=cells.low.size), drawn.size * cells.probability) > CHANCE


def test_all_arms_rise_with_the_same_uniform() -> None:
    """Common random numbers: sorting the steps by one arm's reward sorts them by every arm's."""
    steps = np.argsort(rewards([Uniform(), *LAWS], 0, 5000), kind="stable")
    for arm in range(1, len(LAWS) + 1):
        assert (np.diff(rewards([Uniform(), *LAWS], arm, 5000)[steps]) >= 0).all()


def test_a_bernoulli_arm_has_the_same_rewards_alone_and_among_other_laws() -> None:
    for p in (0.0, 1e-3, 0.3, 0.5, 0.9, 1.0):
        assert (rewards([Bernoulli(p)], 0, 5000) == rewards([Beta(2, 2), Bernoulli(p)], 1, 5000)).all()


def test_certain_rewards_are_certain() -> None:
    for law, value in ((Bernoulli(0.0), 0.0), (Bernoulli(1.0), 1.0), (Discrete([0.3], [1.0]), 0.3)):
        laws: list[Reward] = [law, Uniform()]
        assert set(rewards(laws, 0, 100)) == {value}
        assert blocks(law, 10**6, 10) == pytest.approx(value * 1e6)
