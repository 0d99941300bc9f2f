"""leak-ucb: never credits a run with less than it earned, and stays cheap whatever the spread."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterglow.errors import BadValue
from afterglow.policies import named
from afterglow.policies.leak_ucb import State, index, policy, recommend
from support.worlds.payments import SPREADS, PaymentWorld, play

DUST = 1e-9


def test_it_is_registered_and_needs_the_window_alone() -> None:
    assert named("leak-ucb") is policy
    assert (policy.needs(), policy.options()) == (["window"], ["C"])
    assert policy.settings(2, 5).C == 1.0


def test_the_first_holds_last_two_windows_with_a_head() -> None:
    plan = policy.settings(3, 4)
    state = policy.start(plan)
    for arm in range(3):
        assert policy.next_hold(plan, state, []) == (arm, 8, 3)
        policy.learn(plan, state, arm, 8, 3, 2.0, 4.0 - arm)
    assert state.sums == [6.0, 5.0, 4.0]
    assert state.leaks == [2.0, 2.0, 0.0]  # what arrived in the next head
    assert [index(plan, state, arm) - math.sqrt(math.log(24) / 8) for arm in range(3)] == [
        pytest.approx(8 / 8), pytest.approx(7 / 8), pytest.approx(7 / 8)
    ]  # fmt: skip
    assert policy.next_hold(plan, state, []) == (0, 8, 3)


def test_a_leak_is_never_more_than_the_window_allows() -> None:
    plan = policy.settings(2, 4)
    state = policy.start(plan)
    policy.learn(plan, state, 0, 8, 3, 0.0, 8.0)
    policy.learn(plan, state, 1, 8, 3, 5.5, 1.0)
    assert state.leaks == [3.0, 0.0]


def test_staying_asks_for_no_head_and_doubles_the_pulls() -> None:
    plan = policy.settings(2, 4)
    state = State(pulls=[8, 16], sums=[2.0, 15.0], leaks=[0.0, 0.0], clock=24, last=1)
    assert policy.next_hold(plan, state, []) == (1, 16, 0)
    policy.learn(plan, state, 1, 16, 0, 0.0, 16.0)
    assert (state.pulls, state.leaks) == ([8, 32], [0.0, 0.0])


@settings(max_examples=60)
@given(
    means=st.lists(st.floats(0, 1), min_size=2, max_size=4),
    window=st.integers(1, 9),
    spread=st.sampled_from(sorted(SPREADS)),
    seed=st.integers(0, 2**32),
)
def test_an_arm_is_credited_with_all_it_earned_and_at_most_two_heads_more_a_run(
    means: list[float], window: int, spread: str, seed: int
) -> None:
    plan = policy.settings(len(means), window)
    books = PaymentWorld(means, window, spread, seed)
    horizon = 60 * window * len(means)
    runs = [0] * len(means)
    before = [-1]

    def look(state: State) -> None:
        if len(books.arms) == horizon:  # this hold may have been cut within its head
            return
        runs[state.last] += state.last != before[0]
        before[0] = state.last
        for arm, rewards in enumerate(books.rewards):
            credit = state.sums[arm] + state.leaks[arm] + (window - 1) * (arm == state.last)
            assert credit >= sum(rewards) - DUST
            assert credit <= sum(rewards) + 2 * (window - 1) * runs[arm] + DUST

    play(policy, plan, books, horizon, look)


def test_runs_of_an_arm_are_few() -> None:
    books = PaymentWorld([0.6, 0.5, 0.5], 8, "dice", seed=3)
    play(policy, policy.settings(3, 8), books, 30_000)
    starts = [now for past, now in zip([-1, *books.arms], books.arms, strict=False) if past != now]
    assert all(starts.count(arm) <= 2 + math.log2(30_000 / 16) for arm in range(3))


@pytest.mark.parametrize("spread", ["uniform", "handicap", "chameleon", "spite"])
def test_no_spread_makes_it_lose_much(spread: str) -> None:
    books = PaymentWorld([0.9, 0.5, 0.4], 20, spread, seed=5)
    play(policy, policy.settings(3, 20), books, 30_000)
    assert books.regret() < 2_000  # uniform play loses 9,000


def test_it_recommends_the_best_mean_early_and_the_most_played_later() -> None:
    plan = policy.settings(2, 5)
    early = State(pulls=[300, 100], sums=[150.0, 60.0], leaks=[0.0, 0.0], clock=400, last=0)
    late = State(pulls=[900, 100], sums=[450.0, 60.0], leaks=[0.0, 0.0], clock=1000, last=0)
    assert (recommend(plan, early), recommend(plan, late)) == (1, 0)
    assert recommend(plan, policy.start(plan)) == 0


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"arms": 1}, "arms must be a whole number of at least 2, got 1"),
        ({"window": 0}, "window must be a whole number of at least 1 (1 = paid at once), got 0"),
        ({"C": 0.0}, "C must be a number above 0 (1 is proved, 0.5 is aggressive), got 0.0"),
    ],
)
def test_values_it_cannot_use_are_refused_with_the_rule(wrong: dict[str, float], sentence: str) -> None:
    assert policy.configure is not None
    with pytest.raises(BadValue) as refused:
        policy.configure(**({"arms": 2, "window": 5} | wrong))
    assert str(refused.value) == sentence
