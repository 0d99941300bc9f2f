r"""Thompson sampling (Thompson 1933) with Gaussian posteriors, on washed holds.

Model: the spread is *stationary*, so that from $d - 1$ steps into a run every total has the mean $\mu_i$ of the arm
played (see `washout_ucb`). An arm with $n_i$ counted steps that add up to $S_i$ then has, under a flat prior and noise
of variance $v_i$, the posterior $N(S_i/n_i,\, v_i/n_i)$. Before each hold one number is drawn from every posterior,

$$\theta_i = \frac{S_i}{n_i} + \sqrt{v_i/n_i}\; z_i, \quad z_i = \sqrt{-2 \log(1 - u_{2i})}\,\cos(2 \pi u_{2i+1}),$$

and the arm of the largest is held; arms that were never counted come first. The uniforms $u$ are the policy's
`draws`, two for each arm.

*Holds.* A hold counts $d$ steps, after $d - 1$ that are discarded if the arm changes. Holds don't grow with $n_i$, as
those of washout-ucb do: an arm that looks bad by chance returns with a fixed small probability at each draw, and if
draws became rare in proportion to the clock, some runs would never return to it.

*Noise from batches.* Steps of a hold share pulls and are correlated, sums of whole holds hardly are. With $m_h$ counted
steps and the mean $y_h$ of hold $h$, $m_h (y_h - S_i/n_i)^2$ estimates the variance of one pull's reward, so

$$v_i = \frac{2 g + \sum_h m_h (y_h - S_i/n_i)^2}{2 + (\text{holds of } i - 1)},$$

where $g$ is the squared `noise` of one pull if it is known, else $1/4$, the most that rewards in $[0, 1]$ allow. Each
arm has its own: were it shared, an arm of little noise that is played most would make the others look certain.

No theorem for this setting. For $d = 1$ and $v = 1$ Agrawal & Goyal (Further optimal regret bounds for Thompson
sampling, AISTATS 2013) prove $O(\sqrt{K T \log K})$. A spread that depends on the age of the run (`chameleon`) misleads
it, and its regret is then linear in the horizon. William R. Thompson: On the likelihood that one unknown probability
exceeds another in view of the evidence of two samples, Biometrika 25 (1933).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import between, whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import NEVER, arm_to_keep

PRIOR = 2.0  # batches that the assumed noise counts as
WORST = 0.25  # largest variance of a reward in [0, 1]


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d
    variance: float  # g, of one pull's reward


@dataclass
class State:
    counts: list[int]  # n_i, counted steps
    sums: list[float]  # S_i, totals seen in them
    holds: list[int]  # holds of the arm with a counted step
    scatter: list[float]  # sum over them of steps * (mean - arm's mean)**2
    clock: int  # steps played, discarded ones too
    last: int  # arm just played, -1 before the first hold


def configure(arms: int, window: int, noise: float = 0.0) -> Settings:
    """`noise` is the standard deviation of one pull's reward, over `reward_max`, if it is known, else 0."""
    noise = between("noise", noise, 0.0, 1.0)
    return Settings(
        whole("arms", arms, 2), whole("window", window, 1, "1 = paid at once"), noise * noise if noise > 0 else WORST
    )


def start(settings: Settings) -> State:
    arms = settings.arms
    return State([0] * arms, [0.0] * arms, [0] * arms, [0.0] * arms, 0, -1)


def two_for_each(arms: int) -> int:
    """How many uniforms a decision reads."""
    return 2 * arms


def variance(settings: Settings, state: State, arm: int) -> float:
    """v_i: the noise of one step, from how an arm's holds differ."""
    return (PRIOR * settings.variance + state.scatter[arm]) / (PRIOR + max(state.holds[arm] - 1, 0))


def sampled(settings: Settings, state: State, arm: int, first: float, second: float) -> float:
    """A draw from the posterior of an arm's mean; infinite if nothing was counted."""
    count = state.counts[arm]
    if count == 0:
        return NEVER
    normal = math.sqrt(-2.0 * math.log1p(-first)) * math.cos(2.0 * math.pi * second)
    return state.sums[arm] / count + math.sqrt(variance(settings, state, arm) / count) * normal


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    best = 0
    top = -NEVER
    for arm in range(settings.arms):
        value = sampled(settings, state, arm, draws[2 * arm], draws[2 * arm + 1])
        if value > top:
            top = value
            best = arm
    washout = 0 if best == state.last else settings.window - 1
    return best, washout + settings.window, washout


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.last = arm
    state.clock += steps
    more = steps - split
    if more == 0:
        return
    before = state.counts[arm]
    if before > 0:
        apart = body / more - state.sums[arm] / before
        state.scatter[arm] += apart * apart * before * more / (before + more)
    state.counts[arm] += more
    state.sums[arm] += body
    state.holds[arm] += 1


def recommend(settings: Settings, state: State) -> int:
    """The arm counted most; while the clock is below 100 K d, the one of highest mean."""
    return arm_to_keep(state.counts, state.sums, state.clock, settings.window)


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """What was drawn from each posterior."""
    arms = range(settings.arms)
    values = [sampled(settings, state, arm, draws[2 * arm], draws[2 * arm + 1]) for arm in arms]
    return Index(values, what="draw")


policy = Policy(
    "thompson", Settings, State, start, next_hold, learn, configure, recommend,
    draws=two_for_each,
    adjustable=True,
    summary="a draw from each arm's Gaussian posterior decides; washed holds of a window, noise from batches",
    guarantee="no theorem; meant for stationary spreads, linear if a spread reads the run's age",
    source="Thompson 1933; washed holds are ours",
    index=index,
)  # fmt: skip
