r"""UCB1 (Auer, Cesa-Bianchi & Fischer 2002), which ignores delay: the classical baseline.

Play the arm of largest $S_i/n_i + \sqrt{2 \log t / n_i}$, each arm once first, one step at a time, and
credit whatever arrives in a step to the arm played in it. Its logarithmic regret holds for $d = 1$ only:
with lingering rewards the credit goes to the wrong arm, and a spread such as `handicap` makes its regret
linear in the horizon.

Peter Auer, Nicolò Cesa-Bianchi, Paul Fischer: Finite-time Analysis of the Multiarmed Bandit Problem,
Machine Learning 47 (2002), figure 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import best_mean_plus, mean_plus


@dataclass(frozen=True)
class Settings:
    arms: int


@dataclass
class State:
    pulls: list[int]  # n_i
    sums: list[float]  # S_i, totals seen while the arm was played
    clock: int  # t, steps played


def configure(arms: int) -> Settings:
    return Settings(whole("arms", arms, 2))


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    return best_mean_plus(state.sums, state.pulls, 2 * math.log(max(state.clock, 1))), 1, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.pulls[arm] += steps
    state.sums[arm] += head + body
    state.clock += steps


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    width = 2 * math.log(max(state.clock, 1))
    return Index([mean_plus(total, n, width) for total, n in zip(state.sums, state.pulls, strict=True)])


policy = Policy(
    "ucb1", Settings, State, start, next_hold, learn, configure,
    every_step=True,
    summary="index of mean plus radius, one step at a time, blind to delay",
    guarantee="O(sum log T / gap) for window 1; none with delay",
    source="Auer, Cesa-Bianchi & Fischer 2002",
    index=index,
)  # fmt: skip
