r"""Washout-UCB: after a change of arm, let the old arm's pay run out before counting.

If the spread is *stationary*, so that the law of the component paid at lag $s$ depends on the arm and $s$
alone, then from $d - 1$ steps into a run every total has mean $\sum_s E R^{(s)} = \mu_i$ exactly. So the first
$d - 1$ steps of a run are discarded, the rest are averaged, and no bias is left to allow for:

$$\frac{S_i}{n_i} + \sqrt{\frac{C \log t}{n_i}},$$

with $n_i$ counted steps; each hold counts $\max(d, \lceil n_i/2 \rceil)$ more. The counted sum of a run is made of
the parts of at most $d - 1$ more pulls than it has steps, each part in $[0, 1]$, so Hoeffding's inequality holds
with $n_i + (d-1)\,(\text{runs of } i)$ terms. That is less than $2 n_i$, since a run counts $d$ steps at least,
and it tends to $n_i$, since the counts grow by half: the radius fails with probability $t^{-C}$ at worst and
$t^{-2C}$ in the end. $C = 2$ is therefore safe from the first hold on. The default, $C = 1$, is so once an arm's
counted steps are many windows, and costs one half to two thirds of the regret.

Not safe: a spread that depends on the *age of the run* breaks the premise. Under `chameleon` the best arm's
pay falls into the discarded steps and the others' into the counted ones, in every new run again; the
regret is then linear in the horizon. Use trim-ucb or leak-ucb where the spread is not to be trusted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import number, whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import arm_to_keep, best_mean_plus, mean_plus


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d
    C: float  # the radius is sqrt(C log t / n)


@dataclass
class State:
    counts: list[int]  # n_i, counted steps
    sums: list[float]  # S_i, totals seen in them
    clock: int  # t, steps played, discarded ones too
    last: int  # arm just played, -1 before the first hold


def configure(arms: int, window: int, C: float = 1.0) -> Settings:
    return Settings(
        whole("arms", arms, 2),
        whole("window", window, 1, "1 = paid at once"),
        number("C", C, above=0.0, note="2 is safe from the first hold on"),
    )


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms, 0, -1)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    arm = best_mean_plus(state.sums, state.counts, settings.C * math.log(max(state.clock, 1)))
    washout = 0 if arm == state.last else settings.window - 1
    counted = max(settings.window, (state.counts[arm] + 1) // 2)
    return arm, washout + counted, washout


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.last = arm
    state.counts[arm] += steps - split
    state.sums[arm] += body
    state.clock += steps


def recommend(settings: Settings, state: State) -> int:
    """The arm counted most; while the clock is below 100 K d, the one of highest mean."""
    return arm_to_keep(state.counts, state.sums, state.clock, settings.window)


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    width = settings.C * math.log(max(state.clock, 1))
    return Index([mean_plus(total, n, width) for total, n in zip(state.sums, state.counts, strict=True)])


policy = Policy(
    "washout-ucb", Settings, State, start, next_hold, learn, configure, recommend,
    adjustable=True,
    summary="discards a window after each change of arm, then averages; holds grow by half",
    guarantee="O(sum log T / gap + K d log T) for stationary spreads (sketch); linear if a spread reads the run's age",
    source="ours",
    index=index,
)  # fmt: skip
