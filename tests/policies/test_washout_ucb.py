"""washout-ucb: unbiased and cheap where the spread is stationary, linear regret where it is not."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.policies import named
from afterglow.policies.washout_ucb import State, policy, recommend
from support.worlds.payments import SPREADS, PaymentWorld, play

DUST = 1e-9


def test_it_is_registered_and_needs_the_window_alone() -> None:
    assert named("washout-ucb") is policy
    assert (policy.needs(), policy.options()) == (["window"], ["C"])
    assert policy.settings(2, 5).C == 1.0


def test_every_new_run_washes_out_a_window_and_counts_half_as_many_steps_again() -> None:
    plan = policy.settings(2, 4)
    state = policy.start(plan)
    assert policy.next_hold(plan, state, []) == (0, 3 + 4, 3)
    policy.learn(plan, state, 0, 7, 3, 2.5, 1.0)
    assert policy.next_hold(plan, state, []) == (1, 3 + 4, 3)
    policy.learn(plan, state, 1, 7, 3, 0.5, 4.0)
    assert (state.counts, state.sums, state.clock) == ([4, 4], [1.0, 4.0], 14)  # heads are not counted
    assert policy.next_hold(plan, state, []) == (1, 4, 0)  # it stays: no washout
    for counted, more in ((8, 4), (9, 5), (10, 5), (11, 6)):
        grown = State(counts=[400, counted], sums=[0.0, counted], clock=400 + counted, last=1)
        assert policy.next_hold(plan, grown, []) == (1, more, 0)


@settings(max_examples=40)
@given(
    means=st.lists(st.floats(0, 1), min_size=2, max_size=4),
    window=st.integers(1, 9),
    spread=st.sampled_from(sorted(SPREADS)),
    seed=st.integers(0, 2**32),
)
def test_it_counts_nothing_that_another_arm_earned(means: list[float], window: int, spread: str, seed: int) -> None:
    books = PaymentWorld(means, window, spread, seed)

    def look(state: State) -> None:
        for arm, rewards in enumerate(books.rewards):
            assert state.sums[arm] <= sum(rewards) + DUST

    play(policy, policy.settings(len(means), window), books, 2_000, look)


@pytest.mark.parametrize("spread", ["immediate", "last", "uniform", "dice"])
def test_the_first_count_of_an_arm_is_unbiased_under_a_stationary_spread(spread: str) -> None:
    """400 worlds: the mean of d counted steps of the second arm, after the first one's pay has washed out."""
    window, worlds, mean = 6, 400, 0.3
    counted = 0.0
    for seed in range(worlds):
        state, _ = play(policy, policy.settings(2, window), PaymentWorld([0.9, mean], window, spread, seed), 22)
        assert state.counts == [window, window]
        counted += state.sums[1]
    deviation = math.sqrt(mean * (1 - mean) * (2 * window - 1) * worlds)  # no more pulls than these take part
    assert abs(counted - worlds * window * mean) < 5 * deviation


def test_a_stationary_spread_costs_it_little_more_than_none() -> None:
    regrets = []
    for spread in ("immediate", "uniform", "last", "handicap"):
        books = PaymentWorld([0.9, 0.5, 0.4], 20, spread, seed=5)
        play(policy, policy.settings(3, 20), books, 30_000)
        regrets.append(books.regret())
    assert max(regrets) < 400  # uniform play loses 9,000


@pytest.mark.parametrize("name", ["washout-ucb", "leak-ucb", "trim-ucb"])
def test_a_spread_that_reads_the_age_of_the_run_ruins_it_and_not_the_safe_ones(name: str) -> None:
    """chameleon: the best arm pays into the washout, the others into what is counted."""
    judged = named(name)
    regrets = []
    for horizon in (10_000, 20_000):
        books = PaymentWorld([0.9, 0.5, 0.4], 60, "chameleon", seed=5)
        play(judged, judged.settings(3, 60, horizon), books, horizon)
        regrets.append(books.regret())
    if name == "washout-ucb":
        assert regrets[1] > 1.9 * regrets[0] > 0.35 * 1.9 * 10_000  # linear: the second arm, always
    else:
        assert regrets[1] < 1_500


def test_it_recommends_the_best_mean_early_and_the_most_counted_later() -> None:
    plan = policy.settings(2, 5)
    assert recommend(plan, State(counts=[300, 100], sums=[150.0, 60.0], clock=450, last=0)) == 1
    assert recommend(plan, State(counts=[900, 100], sums=[450.0, 60.0], clock=1050, last=0)) == 0
    assert recommend(plan, policy.start(plan)) == 0


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"arms": 1}, "arms must be a whole number of at least 2, got 1"),
        ({"window": 2.5}, "window must be a whole number of at least 1 (1 = paid at once), got 2.5"),
        ({"C": -1.0}, "C must be a number above 0 (2 is safe from the first hold on), got -1.0"),
    ],
)
def test_values_it_cannot_use_are_refused_with_the_rule(wrong: dict[str, float], sentence: str) -> None:
    assert policy.configure is not None
    with pytest.raises(BadValue) as refused:
        policy.configure(**({"arms": 2, "window": 5} | wrong))
    assert str(refused.value) == sentence
