"""The bounds of a running experiment hold whatever was voided, pinned or missed."""

import math
from itertools import product
from random import Random

import pytest

from afterglow.estimation.bounds import Bounds
from afterglow.live.domain.bounds import ExperimentBounds
from support.worlds.pooled import SPREADS, PooledWorld

WINDOW = 4


def test_without_losses_the_books_claim_what_the_ledger_claims() -> None:
    books, ledger, random = ExperimentBounds(3, WINDOW, 0.95), Bounds(3, WINDOW, 0.95), Random(5)
    for _ in range(60):
        arm = random.randrange(3)
        for _ in range(random.randrange(1, 9)):
            total = random.random()
            books.record(arm, total)
            ledger.record(arm, total)
        for one in range(3):
            assert books.claims(one) == ledger.claims(one)
            assert books.mean(one) == ledger.mean(one) or math.isnan(ledger.mean(one))


def paths(random: Random, steps: int) -> tuple[list[int], list[float], list[float]]:
    """(arms, rewards, totals) of a path on which rewards arrive when it hurts: anywhere in their windows."""
    arms, rewards, totals, arm = [], [], [0.0] * (steps + WINDOW), 0
    for step in range(steps):
        if random.random() < 0.25:
            arm = random.randrange(2)
        reward = random.choice([0.0, 1.0, random.random()])
        late = random.choice([0, WINDOW - 1, random.randrange(WINDOW)])
        totals[step + late] += reward
        arms.append(arm)
        rewards.append(reward)
    return arms, rewards, totals


class Account:
    """ExperimentBounds on a path, and the rewards that their claims are about."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.books = ExperimentBounds(2, WINDOW, 0.95)
        self.counted: list[list[float]] = [[], []]  # rewards of an arm's pulls that the books know of
        self.run: list[list[float]] = [[], []]  # of its last run
        self.told = dict[int, float]()  # totals of the run in play, by step; wrong ones too
        self.wrong = list[int]()
        self.before = -1

    def step(self, step: int, arm: int, reward: float, total: float) -> None:
        if arm != self.before:
            self.run[arm], self.told = [], {}
        self.before = arm
        self.counted[arm].append(reward)
        self.run[arm].append(reward)
        if self.random.random() < 0.2:
            self.books.lose(arm)
            return
        if self.random.random() < 0.1:
            total = self.random.choice([0.0, 2.0 * total, 3.0])
            self.wrong.append(step)
        self.books.record(arm, total)
        self.told[step] = total

    def take_back(self, now: int) -> None:
        """Void the steps with wrong totals, and now and then a right one."""
        right = [step for step in self.told if step not in self.wrong]
        gone = self.wrong + ([self.random.choice(right)] if right and self.random.random() < 0.3 else [])
        for step in gone:
            self.books.retract(self.told.pop(step), now + 1 - step)
        self.wrong.clear()

    def outside(self) -> None:
        self.books.interrupt()
        self.before, self.told = -1, {}

    def check(self) -> None:
        for arm, known in product(range(2), (self.counted, self.run)):
            pulls, least, settled, most, _ = self.books.claims(arm)[known is self.run]
            if pulls:
                assert pulls == len(known[arm])
                assert sum(known[arm]) >= least - 1e-9
                assert sum(known[arm][: max(0, settled)]) <= most + 1e-9


@pytest.mark.parametrize("seed", range(300))
def test_every_claim_is_true_on_every_path(seed: int) -> None:
    """`least` and `most` bound the rewards of the pulls they speak of, with steps lost, wrong, taken back, outside."""
    random = Random(seed)
    arms, rewards, totals = paths(random, 60)
    account = Account(random)
    for step, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
        if not account.wrong and random.random() < 0.08:
            account.outside()
            continue
        account.step(step, arm, reward, totals[step])
        ends = step + 1 == len(arms) or arms[step + 1] != arm
        if account.wrong and (ends or random.random() < 0.3):
            account.take_back(step)
        if not account.wrong:
            account.check()


@pytest.mark.parametrize("spread", SPREADS)
def test_the_mean_lies_within_the_bounds_though_low_totals_are_voided(spread: str) -> None:
    """Whoever voids what he doesn't like makes the interval wider, not wrong. By chance this fails once in 10^7."""
    world, books, means = PooledWorld([0.7, 0.4], WINDOW, spread, 3), ExperimentBounds(2, WINDOW, 1 - 1e-7), (0.7, 0.4)
    for hold in range(40):
        arm = hold % 2
        for back in range(1, 101):
            total = world.pull(arm)
            books.record(arm, total)
            if back > WINDOW and total < 0.3 and back % 4 == 0:
                books.retract(total, 1)
        books.settle()
        if hold % 7 == 3:
            books.interrupt()
            for _ in range(5):
                world.pull(1 - arm)
        for one, mean in enumerate(means):
            low, high = books.interval(one)
            assert low <= mean <= high


def test_books_go_on_from_what_they_wrote_down() -> None:
    random = Random(2)
    arms, _, totals = paths(random, 200)
    books = ExperimentBounds(2, WINDOW, 0.95)
    for step, arm in enumerate(arms):
        again = ExperimentBounds(2, WINDOW, 0.95)
        again.restore(books.values())
        for one in (books, again):
            if step % 13 == 7:
                one.interrupt()
            elif step % 5 == 3:
                one.lose(arm)
            else:
                one.record(arm, totals[step])
            if step % 10 == 9:
                one.settle()
        assert again.values() == books.values()
        assert [again.interval(one) for one in range(2)] == [books.interval(one) for one in range(2)]
        books = again
