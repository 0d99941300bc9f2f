r"""Improved UCB (Auer & Ortner 2010), which ignores delay: the elimination algorithm that the others refine.

Round $m = 0, 1, \dots, \lfloor \frac12 \log_2(T/e) \rfloor$ resolves gaps of $\tilde\Delta = 2^{-m}$: every
active arm is played until it has $n_m = \lceil 2 \log(T \tilde\Delta^2) / \tilde\Delta^2 \rceil$ pulls in all,
and an arm is dropped when $\bar X_i + w < \max_j (\bar X_j - w)$, $w = \sqrt{\log(T \tilde\Delta^2) / (2 n_m)}$.
By Hoeffding's inequality the best arm is dropped with probability of order $1/(T \tilde\Delta^2)$ at most, and an
arm of gap $\Delta$ survives the round with $\tilde\Delta < \Delta/2$ as rarely.

That is for $d = 1$. With lingering rewards each hold also collects what earlier arms still owed and leaves its
own last pulls to the next: the early rounds are short, so a long window makes the means worthless.

Peter Auer, Ronald Ortner: UCB Revisited: Improved Regret Bounds for the Stochastic Multi-Armed Bandit Problem,
Periodica Mathematica Hungarica 61 (2010), figure 1. Differences: after the last round the best active arm is
held to the horizon, where the paper may play any.
"""

import math

from afterglow.checks import whole
from afterglow.policies._elimination import Settings, State, gaps, index, learn, next_hold, recommend, start
from afterglow.policies.policy import Policy


def schedule(horizon: int) -> list[int]:
    """n_0, n_1, ... up to the last round."""
    return [math.ceil(2 * math.log(horizon * gap * gap) / (gap * gap)) for gap in gaps(horizon, 1.0)]


def margins(horizon: int) -> list[float]:
    """2w for each round: an arm is dropped when it loses by more."""
    rounds = zip(gaps(horizon, 1.0), schedule(horizon), strict=True)
    return [2 * math.sqrt(math.log(horizon * gap * gap) / (2 * pulls)) for gap, pulls in rounds]


def configure(arms: int, horizon: int) -> Settings:
    arms = whole("arms", arms, 2)
    horizon = whole("horizon", horizon, 1)
    return Settings(arms, horizon, 0, schedule(horizon), margins(horizon))


policy = Policy(
    "improved-ucb", Settings, State, start, next_hold, learn, configure, recommend,
    summary="drop arms in rounds that halve the gap, blind to delay",
    guarantee="O(sum log(T gap^2) / gap) for window 1; none with delay",
    source="Auer & Ortner 2010",
    index=index,
)  # fmt: skip
