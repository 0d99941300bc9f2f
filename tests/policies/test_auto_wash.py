"""auto-wash: the window is read from the runs themselves."""

import math
from random import Random

import pytest

from afterglow import World, simulate
from afterglow.errors import BadValue
from afterglow.policies.auto_wash import Settings, policy
from support.worlds.payments import PaymentWorld, play


def test_the_first_run_is_played_in_pieces_that_end_where_a_sum_is_needed() -> None:
    plan = policy.settings(2, 1, 200)
    state, ages, age = policy.start(plan), list[int](), 0
    assert plan.least == 20  # 2 sqrt(200 / 2)
    while age < 20:
        arm, steps, split = policy.next_hold(plan, state, [])
        assert (arm, split) == (0, 0)
        policy.learn(plan, state, arm, steps, 0, 0.0, 0.5 * steps)
        age += steps
        ages.append(age)
    assert ages == [1, 3, 5, 7, 10, 15, 20]  # 2**k - 1, a quarter, a half, the end
    assert (state.arm, state.age, state.target) == (1, 0, 20)  # settled; the other arm is next


class Book:
    """The algorithm as it is written down: every total and a list of runs."""

    def __init__(self, plan: Settings) -> None:
        self.plan, self.sums, self.runs, self.window = plan, [0.0], list[tuple[int, int, int]](), 1

    def mean(self, first: int, last: int) -> float:
        return (self.sums[last] - self.sums[first]) / (last - first)

    def apart(self, early: float, late: float, limit: float, *counts: int) -> bool:
        variance = 0.25 if late >= 1 else max(late * (1 - late), 0.05)
        return abs(early - late) > limit * math.sqrt(variance * sum(1 / n for n in counts))

    def kept(self, arm: int) -> tuple[int, float]:
        runs = [(begun, steps) for one, begun, steps in self.runs if one == arm and steps >= 2 * self.window]
        skip = self.window - 1
        total = sum(self.sums[begun + steps] - self.sums[begun + skip] for begun, steps in runs)
        return sum(steps - skip for _, steps in runs), total

    def moves(self) -> bool:
        _, begun, steps = self.runs[-1]
        quarter, half = begun + steps // 4, begun + steps // 2
        early, late = self.mean(quarter, half), self.mean(half, begun + steps)
        return late <= 0 or self.apart(early, late, 1.5, half - quarter, steps - steps // 2)

    def test(self) -> None:
        _, begun, steps = self.runs[-1]
        w, found = self.window, self.window
        while 3 * w <= steps:
            early, late = self.mean(begun + w - 1, begun + 2 * w - 1), self.mean(begun + 2 * w - 1, begun + steps)
            if self.apart(early, late, math.sqrt(2 * math.log(self.plan.horizon)), w, steps - 2 * w + 1):
                found = 2 * w
            w *= 2
        self.window = found

    def best(self) -> int:
        def index(arm: int) -> float:
            count, total = self.kept(arm)
            if count == 0:
                return math.inf
            return total / count + math.sqrt(self.plan.C * math.log(len(self.sums) - 1) / count)

        return max(range(self.plan.arms), key=index)


def paid(total: float, age: int) -> float:
    """What is seen: nothing in the first sixty steps of a run."""
    return 0.0 if age < 60 else total


def as_written(plan: Settings, totals: list[list[float]]) -> tuple[list[int], int]:
    """The arms of a whole experiment in which `totals[arm][step]` is seen, and the window found."""
    book, played, arm, least = Book(plan), list[int](), 0, plan.least

    def go(steps: int) -> None:
        one, begun, before = book.runs[-1]
        for step in range(len(played), len(played) + steps):
            book.sums.append(book.sums[-1] + paid(totals[one][step], step - begun))
            played.append(one)
        book.runs[-1] = (one, begun, before + steps)

    while len(played) < plan.horizon:
        half, window = (book.kept(arm)[0] + 1) // 2, book.window
        if book.runs and book.runs[-1][0] == arm:
            go(max(least, window, half))
        else:
            first = not book.runs
            book.runs.append((arm, len(played), 0))
            length = max(least, 2 * window, window - 1 + half)
            cap = max(4 * least, plan.horizon // (4 * plan.arms)) if first else max(4 * least, 8 * window)
            go(length)
            while 2 * book.runs[-1][2] <= cap and book.moves():
                go(book.runs[-1][2])
        book.test()
        arm = book.best()
    return played, book.window


@pytest.mark.parametrize("seed", range(6))
def test_sums_for_each_level_lead_to_the_decisions_of_the_whole_list_of_runs(seed: int) -> None:
    random, horizon, means = Random(seed), 6_000, (0.5, 0.625, 0.375)
    # multiples of 1/128, so that sums are exact in whatever order they are added
    totals = [[mean + random.randrange(-32, 33) / 128 for _ in range(horizon + 4_000)] for mean in means]
    plan = policy.settings(3, 1, horizon)
    state, played, age = policy.start(plan), list[int](), 0
    while len(played) < horizon:
        arm, steps, _ = policy.next_hold(plan, state, [])
        age = age if played and played[-1] == arm else 0
        now = len(played)
        body = sum(paid(totals[arm][now + j], age + j) for j in range(steps))
        policy.learn(plan, state, arm, steps, 0, 0.0, body)
        played += [arm] * steps
        age += steps
    expected, window = as_written(plan, totals)
    assert played[:horizon] == expected[:horizon]
    assert 1 << state.level == window
    assert window == 64  # the transient is seen


def test_the_window_it_finds_is_near_the_true_one_where_rewards_come_late() -> None:
    books = PaymentWorld([0.9, 0.5, 0.4], 50, "last", seed=5)
    state, _ = play(policy, policy.settings(3, 1, 20_000), books, 20_000)
    assert 1 << state.level in (32, 64, 128)


@pytest.mark.parametrize("spread", ["uniform", "last", "handicap", "chameleon"])
def test_its_regret_without_the_window_is_that_of_the_check_figures(spread: str) -> None:
    """Five arms, T = 1e5: 415 to 652 on average, 1,035 at worst, over 50 other runs."""
    outcome = simulate(policy, World.of([0.7, 0.9, 0.5, 0.8, 0.6], 50, spread), 1e5, 50, seed=21)
    assert 250 < outcome.regret.mean < 800
    assert outcome.regrets.max() < 2_000  # linear runs lose 10,000


def test_a_bound_on_the_window_lengthens_runs_and_limits_the_window() -> None:
    free, bounded = policy.settings(5, 1, 10**5), policy.settings(5, 1, 10**5, {"longest": 5_000})
    assert (free.least, bounded.least) == (283, 625)
    assert 1 << bounded.top == 8_192
    assert policy.settings(5, 1, 10**5, {"longest": 1}).top == 0
    with pytest.raises(
        BadValue, match=r"^longest must be a whole number of at least 0 \(0 = no bound is known\), got -1"
    ):
        policy.settings(5, 1, 10**5, {"longest": -1})
