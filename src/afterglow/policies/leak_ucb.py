r"""Leak-UCB: credit an ended run with everything it could still be owed.

Write $w = d - 1$. Whatever a run of an arm has not paid when it ends arrives in the next $w$ steps, mixed
with the pay of the arm that follows, and it is no more than $w$: so it is at most the smaller of $w$ and
what was seen in those steps. Adding this *leak* to the totals seen in the run gives at least the
run's rewards, whatever the spread, adaptive ones included. The run in play is owed at most $w$. Hence

$$\frac{S_i + \mathrm{leak}_i + w\,[i \text{ was just played}]}{n_i} + \sqrt{\frac{C \log t}{n_i}}$$

is above $\mu_i$ whenever the mean of the $n_i$ rewards drawn is within the radius of it. That fails with
probability $t^{-2C}$ at most (Hoeffding), at no more than $1 + \log_2 t$ values of $n_i$, because a hold lasts
$\max(2d, n_i)$ steps: $C = 1$ leaves room, $C = 1/2$ is tempting and unproved.

The price is what enters a run and what is added for its leak, $2w$ a run at most. Holds that double keep
the runs few: an arm of gap $\Delta$ is played $O(\log T/\Delta^2 + (d/\Delta) \log(1/\Delta))$ times, so the
regret is $O(\sum_i \log T/\Delta_i + K d \log(1/\Delta))$, without a power of $T$ and without knowing $T$. Proved: the
index is above the mean except with the probability stated, whatever the spread (the leak is pathwise, the sum over
$n_i$ is above). Not proved: the regret, whose constants nobody has written out; no theorem is published.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import number, whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import NEVER, arm_to_keep


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d
    C: float  # the radius is sqrt(C log t / n)


@dataclass
class State:
    pulls: list[int]  # n_i
    sums: list[float]  # S_i, totals seen while the arm was played
    leaks: list[float]  # at least what ended runs of the arm still paid later
    clock: int  # t, steps played
    last: int  # arm just played, -1 before the first hold


def configure(arms: int, window: int, C: float = 1.0) -> Settings:
    return Settings(
        whole("arms", arms, 2),
        whole("window", window, 1, "1 = paid at once"),
        number("C", C, above=0.0, note="1 is proved, 0.5 is aggressive"),
    )


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms, [0.0] * settings.arms, 0, -1)


def index(settings: Settings, state: State, arm: int) -> float:
    pulls = state.pulls[arm]
    if pulls == 0:
        return NEVER
    owed = state.leaks[arm]
    if arm == state.last:
        owed += settings.window - 1.0
    return (state.sums[arm] + owed) / pulls + math.sqrt(settings.C * math.log(state.clock) / pulls)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    best = 0
    top = -NEVER
    for arm in range(settings.arms):
        value = index(settings, state, arm)
        if value > top:
            top = value
            best = arm
    split = 0 if best == state.last else settings.window - 1
    return best, max(2 * settings.window, state.pulls[best]), split


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    if arm != state.last and state.last >= 0:
        state.leaks[state.last] += min(settings.window - 1.0, head)
    state.last = arm
    state.pulls[arm] += steps
    state.sums[arm] += head + body
    state.clock += steps


def recommend(settings: Settings, state: State) -> int:
    """The arm played most; while the clock is below 100 K d, the one of highest mean."""
    return arm_to_keep(state.pulls, state.sums, state.clock, settings.window)


def indices(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    return Index([index(settings, state, arm) for arm in range(settings.arms)])


policy = Policy(
    "leak-ucb", Settings, State, start, next_hold, learn, configure, recommend,
    summary="index that credits ended runs with all they may be owed; holds double",
    guarantee="O(sum log T / gap + K d log(1 / gap)) against every spread, adaptive ones included (sketch)",
    source="ours",
    index=indices,
)  # fmt: skip
