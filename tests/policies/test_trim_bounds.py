"""The bounds of trim-ucb: its sums bound the rewards on every path, its intervals cover, its radii are sharp."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.policies.terms import kl, kldown, klup
from afterglow.policies.trim.bounds import State, evidence, highest, lowest, pooled_variance
from afterglow.policies.trim.report import intervals
from afterglow.policies.trim_ucb import policy
from support.worlds.payments import SPREADS, PaymentWorld, play

DUST = 1e-9
searching = settings(max_examples=50)


# ---- what the sums say, on every path


@searching
@given(
    means=st.lists(st.floats(0, 1), min_size=2, max_size=4),
    window=st.integers(1, 9),
    spread=st.sampled_from(sorted(SPREADS)),
    seed=st.integers(0, 2**32),
    variance=st.sampled_from(["none", "0.01", "estimated"]),
)
def test_its_sums_bound_the_rewards_whatever_the_spread_does(
    means: list[float], window: int, spread: str, seed: int, variance: str
) -> None:
    """With Y an arm's rewards in the order of pulls: the four sums above them and the one below."""
    books = PaymentWorld(means, window, spread, seed)

    def look(state: State) -> None:
        for arm, rewards in enumerate(books.rewards):
            run = rewards[len(rewards) - state.run_pulls[arm] :]
            paid = max(len(run) - (window - 1), 0)  # the last w pulls of a run may still owe
            closed = rewards[: len(rewards) - len(run)]
            everything = state.closed_sums[arm] + state.run_sums[arm]
            assert sum(closed) + sum(run[:paid]) <= everything + DUST
            assert sum(run[:paid]) <= state.run_sums[arm] + DUST
            if state.leaks[arm] >= 0:
                assert sum(rewards) <= everything + state.leaks[arm] + DUST
                assert sum(run) <= state.run_sums[arm] + state.leaks[arm] + DUST
            assert state.kept_sums[arm] <= sum(rewards) + DUST
            assert state.pulls[arm] == len(rewards) == state.closed_pulls[arm] + state.run_pulls[arm]

    play(policy, policy.settings(len(means), window, 1_500, {"variance": variance}), books, 1_500, look)


def test_a_head_cut_short_by_the_horizon_is_not_taken_for_a_leak() -> None:
    plan = policy.settings(2, 10, 30, {"endgame": 0})
    state, holds = play(policy, plan, PaymentWorld([1.0, 0.0], 10, "last", seed=1), 30)
    assert holds == [(0, 25, 9), (1, 5, 5)]
    assert state.leaks == [-1.0, -1.0]
    assert intervals(plan, state)[2][0] == 1.0


@pytest.mark.parametrize("spread", sorted(SPREADS))
@pytest.mark.parametrize(("variance", "noise"), [("none", -1.0), ("0.01", 0.1)])
def test_its_intervals_cover_the_means_after_every_hold(spread: str, variance: str, noise: float) -> None:
    """Evidence for a horizon of 10^9 over 5,000 steps: f = 29.8, so a sum fails with e * 254 * e^-29.8 < 10^-10."""
    plan = policy.settings(3, 6, 10**9, {"level": "strict", "variance": variance})
    means = [0.7, 0.45, 0.3]

    def look(state: State) -> None:
        for low, middle, high, mean in zip(*intervals(plan, state), means, strict=True):
            assert low <= mean <= high
            assert low <= middle <= high

    play(policy, plan, PaymentWorld(means, 6, spread, 1, noise), 5_000, look)


def test_plain_intervals_cover_at_the_end_of_nearly_all_experiments() -> None:
    """150 intervals at f = log 1000; the time-uniform bound allows a good many misses, none is seen."""
    means = [0.7, 0.5, 0.4]
    plan = policy.settings(3, 5, 1_000)
    missed = 0
    for seed in range(50):
        lows, _, highs = intervals(plan, play(policy, plan, PaymentWorld(means, 5, "dice", seed), 1_000)[0])
        missed += sum(not low <= mean <= high for low, mean, high in zip(lows, means, highs, strict=True))
    assert missed == 0


def test_a_window_set_too_short_can_show_as_a_lower_bound_above_the_upper_one() -> None:
    """A run that saw a reward in each of 100 steps, then one that saw none: not the same arm's pay."""
    plan = policy.settings(2, 2, 4_000)
    state = policy.start(plan)
    state.pulls, state.kept_steps, state.kept_sums = [200, 0], [198, 0], [99.0, 0.0]
    state.closed_pulls, state.closed_sums, state.run_pulls = [100, 0], [100.0, 0.0], [100, 0]
    lows, _, highs = intervals(plan, state)
    assert lows[0] == pytest.approx(kldown(99, 200, math.log(4_000)))
    assert highs[0] == pytest.approx(1 - 4_000 ** (-1 / 99))
    assert lows[0] > highs[0]


def test_an_arm_never_played_may_have_any_mean() -> None:
    plan = policy.settings(2, 5)
    assert intervals(plan, policy.start(plan)) == ([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])


# ---- radii


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


@searching
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
    steps = [4 * count for count in counts]
    sums = [4 * sum(batch) for batch in means]
    squares = [4 * sum(mean * mean for mean in batch) for batch in means]
    assert pooled_variance(counts, steps, sums, squares) == pytest.approx(1.5 * 4 * (0.02 + 0.02) / 8)
    assert pooled_variance(counts[:2], steps[:2], sums[:2], squares[:2]) == 0.25
    assert pooled_variance(counts, steps, sums, [100 * square for square in squares]) == 0.25
    assert pooled_variance([9], [36], [18.0], [9.0]) == 1e-6
