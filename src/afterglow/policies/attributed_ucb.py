r"""UCB1 with attributed, delayed rewards: the privileged reference that measures the cost of anonymity.

It sees each pull's whole reward *and* which pull it belongs to as soon as the window of that pull has
closed, $d - 1$ steps later; in the real setting neither is ever known. So it is delayed, but neither composite
nor anonymous, and the gap between it and a policy that sees totals only is the cost of pooling.

Play each arm once, then the arm of largest $S_i/n_i + \sqrt{2 \log t / n_i}$, where $n_i$ counts the pulls of arm
$i$ whose window has closed and $S_i$ adds up their rewards; the index is infinite while none has closed. For
$d = 1$ this is UCB1, decision by decision.

At step $t$ the simulation hands it, in place of the pooled total, the reward of the pull made at step
$t - (d - 1)$, and 0 before there is one; the last $d$ arms are kept in a ring to know whose it is. It can't run
live.

Index: Auer, Cesa-Bianchi & Fischer (2002). Delayed feedback with known arms adds at most the pulls in flight
to the regret: Joulani, György & Szepesvári: Online Learning under Delayed Feedback, ICML 2013.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import whole
from afterglow.policies.policy import Policy
from afterglow.policies.terms import best_mean_plus


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d


@dataclass
class State:
    closed: list[int]  # n_i, pulls whose window has closed
    sums: list[float]  # S_i, their rewards
    ring: list[int]  # the arm played at step s stands at s mod d
    clock: int  # t, steps played


def configure(arms: int, window: int) -> Settings:
    return Settings(whole("arms", arms, 2), whole("window", window, 1, "1 = paid at once"))


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms, [0] * settings.window, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    if state.clock < settings.arms:
        return state.clock, 1, 0
    return best_mean_plus(state.sums, state.closed, 2 * math.log(state.clock)), 1, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.ring[state.clock % settings.window] = arm
    state.clock += 1
    if state.clock >= settings.window:
        origin = state.ring[state.clock % settings.window]  # the arm played d - 1 steps ago
        state.closed[origin] += 1
        state.sums[origin] += head + body


policy = Policy(
    "attributed-ucb", Settings, State, start, next_hold, learn, configure,
    every_step=True,
    privileged=True,
    summary="UCB1 with each pull's reward and arm once its window has closed; for comparison only",
    guarantee="O(sum log T / gap + K d), with knowledge that the setting denies",
    source="Auer, Cesa-Bianchi & Fischer 2002; Joulani, György & Szepesvári 2013",
)  # fmt: skip
