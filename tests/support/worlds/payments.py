"""A world that knows how much of each pull's reward is unpaid; any rule may decide when it pays, within the window.

A spread is asked at every step, for every pull that has not paid in full, what share of the rest to pay now; it
sees all past and present pulls and rewards. At the end of its window a pull pays whatever is left.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from afterglow.policies import Policy


@dataclass
class Pull:
    arm: int
    age: int  # of the run, 0 for its first pull
    step: int
    left: float  # not yet paid


class PaymentWorld:
    """`best` is arm 0."""

    def __init__(self, means: Sequence[float], window: int, spread: str, seed: int, noise: float = -1.0) -> None:
        self.means, self.window, self.share, self.noise = means, window, SPREADS[spread], noise
        self.random = Random(seed)
        self.owing: list[Pull] = []
        self.arms: list[int] = []
        self.rewards: list[list[float]] = [[] for _ in means]  # of each arm, in the order of pulls
        self.age = 0

    def reward(self, mean: float) -> float:
        if self.noise >= 0:
            return min(max(self.random.gauss(mean, self.noise), 0.0), 1.0)
        return float(self.random.random() < mean)

    def step(self, arm: int) -> float:
        """Pull an arm; everything that is paid in this step."""
        step = len(self.arms)
        self.age = self.age + 1 if self.arms and self.arms[-1] == arm else 0
        reward = self.reward(self.means[arm])
        self.arms.append(arm)
        self.rewards[arm].append(reward)
        self.owing.append(Pull(arm, self.age, step, reward))
        total = 0.0
        for pull in self.owing:
            due = step == pull.step + self.window - 1
            part = pull.left if due else pull.left * self.share(self, pull)
            pull.left -= part
            total += part
        self.owing = [pull for pull in self.owing if pull.left > 0]
        return total

    def regret(self) -> float:
        return sum(max(self.means) - self.means[arm] for arm in self.arms)


def at_once(books: PaymentWorld, pull: Pull) -> float:
    return 1.0


def at_the_deadline(books: PaymentWorld, pull: Pull) -> float:
    return 0.0


def evenly(books: PaymentWorld, pull: Pull) -> float:
    return 1.0 / (pull.step + books.window - (len(books.arms) - 1))


def dice(books: PaymentWorld, pull: Pull) -> float:
    return books.random.choice((0.0, 0.0, 1.0, books.random.random()))


def hoard(books: PaymentWorld, pull: Pull) -> float:
    return float(books.arms[-1] != pull.arm)


def handicap(books: PaymentWorld, pull: Pull) -> float:
    return float(pull.arm != 0)


def chameleon(books: PaymentWorld, pull: Pull) -> float:
    return float((pull.age < books.window - 1) == (pull.arm == 0))


def spite(books: PaymentWorld, pull: Pull) -> float:
    """Whatever is pending is paid while a bad arm is played, nothing while the best is."""
    return float(books.arms[-1] != 0)


def gossip(books: PaymentWorld, pull: Pull) -> float:
    """Hangs on what was drawn lately, by all arms."""
    return (sum(len(rewards) * rewards[-1] for rewards in books.rewards if rewards) % 4) / 4


SPREADS: dict[str, Callable[[PaymentWorld, Pull], float]] = {
    "immediate": at_once,
    "last": at_the_deadline,
    "uniform": evenly,
    "dice": dice,
    "hoard": hoard,
    "handicap": handicap,
    "chameleon": chameleon,
    "spite": spite,
    "gossip": gossip,
}


def play(
    policy: Policy[Any, Any],
    settings: Any,
    books: PaymentWorld,
    horizon: int,
    look: Callable[[Any], None] = lambda state: None,
    stored: bool = False,
) -> tuple[Any, list[tuple[int, int, int]]]:
    """The final state and the holds; `look` sees the state after each, `stored` sends it through JSON before each."""
    state, holds = policy.start(settings), []
    while len(books.arms) < horizon:
        if stored:
            state = policy.State(**json.loads(json.dumps(asdict(state))))
        arm, steps, split = policy.next_hold(settings, state, [])
        steps = min(steps, horizon - len(books.arms))
        split = min(split, steps)
        totals = [books.step(arm) for _ in range(steps)]
        policy.learn(settings, state, arm, steps, split, sum(totals[:split]), sum(totals[split:]))
        holds.append((arm, steps, split))
        look(state)
    return state, holds
