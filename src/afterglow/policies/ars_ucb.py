r"""ARS-UCB (Wang, Wang & Huang 2021): holds that grow, so the window need not be known.

A pull pays within an unknown window and only pooled totals are seen. Each time an arm is chosen it is held
longer than the time before: the $j$-th hold of an arm lasts $j^2$ steps (`growth="square"`) or $2^{j-1}$
(`growth="double"`). An arm with $n$ pulls then has had about $(3n)^{1/3}$ or $\log_2 n$ holds, and since each
gains or loses less than the window at its edges, the bias of its mean decays faster than the radius shrinks.

The arm held is that of largest $S_i/n_i + \sqrt{\alpha \log t / n_i}$, infinite for an arm never played;
everything seen in a hold is credited to its arm.

The price of not knowing $d$ is a first stretch of holds much shorter than it, whose means say nothing: regret
adds a term that grows fast with $d$, and at a given horizon that stretch may never be over. The published bound
is for spreads of a fixed law. The arm to keep at the end is the one played most.

Siwei Wang, Haoyun Wang, Longbo Huang: Adaptive Algorithms for Multi-armed Bandit with Composite and Anonymous
Feedback, AAAI 2021, the stochastic algorithm. Differences: the last hold stops at the horizon. The
constants ($\alpha = 2$ unless set, and the growth of holds) are not checked against the paper's text.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import choice, number, whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import best_mean_plus, mean_plus

GROWTHS = ("square", "double")
LONGEST = 62  # 2**62 is the last power of two in a signed 64-bit word


@dataclass(frozen=True)
class Settings:
    arms: int
    alpha: float
    double: int  # 1 if holds double, 0 if they grow as squares


@dataclass
class State:
    pulls: list[int]  # n_i
    sums: list[float]  # S_i, totals seen while the arm was held
    holds: list[int]  # holds of the arm so far
    clock: int  # t, steps played


def configure(arms: int, alpha: float = 2.0, growth: str = "square") -> Settings:
    arms = whole("arms", arms, 2)
    alpha = number("alpha", alpha, 0)
    return Settings(arms, alpha, GROWTHS.index(choice("growth", growth, GROWTHS)))


def start(settings: Settings) -> State:
    arms = settings.arms
    return State([0] * arms, [0.0] * arms, [0] * arms, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    arm = best_mean_plus(state.sums, state.pulls, settings.alpha * math.log(max(state.clock, 1)))
    before = state.holds[arm]
    steps = 1 << min(before, LONGEST) if settings.double == 1 else (before + 1) * (before + 1)
    return arm, steps, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.pulls[arm] += steps
    state.sums[arm] += head + body
    state.holds[arm] += 1
    state.clock += steps


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    width = settings.alpha * math.log(max(state.clock, 1))
    return Index([mean_plus(total, n, width) for total, n in zip(state.sums, state.pulls, strict=True)])


policy = Policy(
    "ars-ucb", Settings, State, start, next_hold, learn, configure,
    summary="index of mean plus radius, an arm's holds ever longer; the window need not be known",
    guarantee="O(sum log T / gap) plus a term without T that grows fast with d, for spreads of a fixed law",
    source="Wang, Wang & Huang 2021",
    index=index,
)  # fmt: skip
