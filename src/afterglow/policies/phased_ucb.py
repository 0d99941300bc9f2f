r"""Phased UCB (Garg & Akash 2019, Algorithm 1): hold the arm of largest index for a whole phase.

A pull pays within its window of $d$ steps, its own included, and only the pooled totals are seen. What a
run of one arm gains from earlier pulls and what it loses to later steps are at most $d - 1$ each, whatever
the spread, so a hold of $k$ steps misjudges its mean by $(d - 1)/k$ at most. If $k$ is of order
$d \sqrt{T / \log T}$ that bias stays below a fixed share of the confidence radius, up to the horizon $T$.

Each phase plays, for $k$ steps, the arm of largest $S_i/n_i + \sqrt{w/n_i}$ (infinite for an arm never
played). The share $a$ of the radius guards against chance and $1 - a$ against the bias; the level is
$\delta^{a^2} = T^{-2}$, that is $\log(1/\delta) = 2 \log T / a^2$, and $a = 1/2$ unless set.

- `constants="paper"`, as printed: rewards are taken as 1-sub-Gaussian, $w = 2 \log(1/\delta)$ (a radius of
  $4 \sqrt{\log T / n_i}$ at $a = 1/2$), and the bias as $d/k$: $k = \lceil \frac{a}{1-a} \cdot
  \frac{d}{2} \sqrt{T/\log T} \rceil$.
- `constants="corrected"`: rewards in $[0, 1]$ are ½-sub-Gaussian by Hoeffding's lemma,
  $w = \log(1/\delta)/2$, half the radius, and the bias is $(d - 1)/k$:
  $k = \lceil \frac{a}{1-a} (d-1) \sqrt{T/\log T} \rceil$, at least 1.

With the corrected constants every arm of gap $\Delta$ is played at most
$(2/a - 1 + 1/\sqrt 2)^2 \log T / \Delta^2 + k + 2$ times on average. The theorem printed in the paper is true
too, though one step of its proof is not: docs/theory/phased-ucb.md has both. The arm to keep at the end is
the one played most.

Siddhant Garg, Aditya Kumar Akash: Stochastic Bandits with Delayed Composite Anonymous Feedback (2019),
Algorithm 1 and Theorem 1. Differences: the last phase stops at the horizon, where the paper plays it out.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import choice, number, whole
from afterglow.errors import AfterglowWarning, Sentence, argument
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import best_mean_plus, mean_plus

CONSTANTS = ("paper", "corrected")


@dataclass(frozen=True)
class Settings:
    arms: int
    hold: int  # k, steps per phase
    log_delta: float  # log(1/delta)
    width: float  # w, the squared radius of a single pull


@dataclass
class State:
    pulls: list[int]  # n_i
    sums: list[float]  # S_i, totals seen while the arm was held


def log_level(horizon: int, a: float = 0.5) -> float:
    """log(1/delta), where delta ** (a * a) = horizon ** -2."""
    return 2 * math.log(horizon) / a**2


def hold_length(window: int, horizon: int, constants: str = "paper", a: float = 0.5) -> int:
    """k, the steps of a phase: the bias stays below 1 - a of the radius after any number of pulls."""
    reach = window / 2 if constants == "paper" else window - 1
    return max(1, math.ceil(a / (1 - a) * reach * math.sqrt(horizon / math.log(horizon))))


def largest_window(arms: int, horizon: int, constants: str = "paper", a: float = 0.5) -> int:
    """The largest window whose phases let every arm be tried once; 0 if none does."""
    fits, too_long = 0, 1
    while arms * hold_length(too_long, horizon, constants, a) <= horizon:
        fits, too_long = too_long, 2 * too_long
    while too_long - fits > 1:
        window = (fits + too_long) // 2
        if arms * hold_length(window, horizon, constants, a) <= horizon:
            fits = window
        else:
            too_long = window
    return fits


def configure(
    arms: int, window: int, horizon: int, constants: str = "paper", hold: int | None = None, a: float = 0.5
) -> Settings:
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    horizon = whole("horizon", horizon, 2)
    constants = choice("constants", constants, CONSTANTS)
    a = number("a", a, 0, 1, "the share of the radius against chance")
    steps = hold_length(window, horizon, constants, a) if hold is None else whole("hold", hold, 1)
    if arms * steps > horizon:
        fits = largest_window(arms, horizon, constants, a)
        shorter = f"shorten the window to {fits:,}" if fits else "no window is short enough: lengthen the horizon"
        way_out = shorter if hold is None or horizon < arms else f"give {argument('hold', horizon // arms)} or less"
        warnings.warn(
            Sentence(
                f"phased-ucb needs {arms:,} arms x {steps:,} steps to try every arm once, the horizon is {horizon:,}; "
                f"{way_out} or use trim-ucb"
            ),
            AfterglowWarning,
            stacklevel=3,
        )
    level = log_level(horizon, a)
    return Settings(arms, steps, level, 2 * level if constants == "paper" else level / 2)


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    return best_mean_plus(state.sums, state.pulls, settings.width), settings.hold, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.pulls[arm] += steps
    state.sums[arm] += head + body


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    width = settings.width
    return Index([mean_plus(total, n, width) for total, n in zip(state.sums, state.pulls, strict=True)])


policy = Policy(
    "phased-ucb", Settings, State, start, next_hold, learn, configure,
    summary="index of mean plus radius, each choice held for a phase that dwarfs the window",
    guarantee="O(sum log T / gap + K d sqrt(T / log T)) for any spread",
    source="Garg & Akash 2019, Algorithm 1",
    index=index,
)  # fmt: skip
