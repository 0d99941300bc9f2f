r"""KL-UCB (Garivier & Cappé 2011), which ignores delay: the reference without delay that is best for Bernoulli rewards.

Play the arm of the largest

$$\max\{q : n_i\,\mathrm{kl}(S_i/n_i, q) \le \log t + c \log \log t\},$$

with $\mathrm{kl}$ the divergence of Bernoulli laws, each arm once first, one step at a time, and credit whatever
arrives in a step to the arm played in it. For $d = 1$ and rewards in $[0, 1]$ the pulls of a worse arm are at most
$\log T / \mathrm{kl}(\mu_i, \mu^*)$ to first order, which for Bernoulli rewards is the lower bound of Lai & Robbins.
The theorem has $c = 3$; the authors advise $c = 0$ in practice, the default here. With delay nothing is proved: the
credit goes to the wrong arm, as with ucb1. A mean above 1, which pooled totals can have for a while, counts as 1.

An arm whose divergence from the largest index so far exceeds the level can't have a larger index, so its own is not
computed: the decision is the same.

Aurélien Garivier, Olivier Cappé: The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond, COLT 2011,
Algorithm 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import between, whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import kl, klup


@dataclass(frozen=True)
class Settings:
    arms: int
    c: float


@dataclass
class State:
    pulls: list[int]  # n_i
    sums: list[float]  # S_i, totals seen while the arm was played
    clock: int  # t, steps played


def configure(arms: int, c: float = 0.0) -> Settings:
    return Settings(whole("arms", arms, 2), between("c", c, 0.0, note="3 in the theorem"))


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    for arm in range(settings.arms):
        if state.pulls[arm] == 0:
            return arm, 1, 0
    width = level(settings.c, state.clock)
    best = 0
    top = -1.0
    for arm in range(settings.arms):
        if excels(state.sums[arm], state.pulls[arm], width, top):
            value = klup(state.sums[arm], state.pulls[arm], width)
            if value > top:
                top = value
                best = arm
    return best, 1, 0


def level(c: float, clock: int) -> float:
    """log t + c log log t, without the second term while log t is below 1."""
    log = math.log(max(clock, 1))
    return log + c * math.log(max(log, 1.0))


def excels(total: float, pulls: int, width: float, top: float) -> bool:
    """Whether an arm's index may be above `top`."""
    mean = min(max(total, 0.0) / pulls, 1.0)
    return top < 0.0 or mean >= top or pulls * kl(mean, top) <= width


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.pulls[arm] += steps
    state.sums[arm] += head + body
    state.clock += steps


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    width, tried = level(settings.c, state.clock), zip(state.sums, state.pulls, strict=True)
    return Index([klup(total, pulls, width) if pulls else math.inf for total, pulls in tried])


policy = Policy(
    "kl-ucb", Settings, State, start, next_hold, learn, configure,
    every_step=True,
    bounded=True,
    summary="index from the Bernoulli divergence, one step at a time, blind to delay",
    guarantee="(gap / kl) log T for each worse arm, for window 1, optimal for Bernoulli rewards; none with delay",
    source="Garivier & Cappé 2011",
    index=index,
)  # fmt: skip
