r"""Lean UCB: for small experiments, a few hundred to a few thousand steps, with a spread that is stationary.

Model: the law of what a pull of arm $i$ pays $s$ steps later depends on $(i, s)$ alone, and nothing comes
after the window of $d$ steps. So after a washout of $w = d - 1$ steps a run pays its own mean $\mu_i$ in
every step, and the spread puts no bias on the washed mean $S_i/n_i$, however short the run. Four economies follow:

1. *Noise from batches.* The steps of a run are correlated, so the noise is read from means of $b$ kept
   steps that never span two runs: $v = (2 g_0 + SS_B)/(2 + df_B)$ within $[10^{-6}, q(1-q)]$. Here
   $SS_B = b \sum (\text{batch} - \text{arm's mean of batches})^2$, $df_B = \sum (\text{batches} - 1)$, $q$ is
   the mean of all kept steps, and the prior $g_0$ is the squared noise of one pull if it is known from
   history, else $(q/4)^2$.
2. *A bonus tied to what is left.* With $H$ steps to go, hold the arm of largest
   $S_i/n_i + \sqrt{0.6\, v \log^+(H/(K n_i))/n_i}$: learning pays only while there is time to use it.
3. *Few switches*, for each costs a washout: every arm first for $m_1$ kept steps, about 7 % of its share of
   the horizon, then holds of 40 % of the arm's kept steps. Ties go to the arm in play.
4. *A free alarm.* Were the window too short, the first $d$ kept steps of a run (young) would differ from
   the later ones (old). When in some arm they do by more than $4 (1 + 6/df_O) \sqrt{v_O (1/n_y + 1/n_o)}$,
   with $v_O = SS_O/df_O$ from batches of old steps, only the old steps stay and $w$ becomes $2w + 1$. It warns
   more than it cures: told an eighth of the true window it may sound once and still be far too short.

With a `season` of $P$ steps, holds and batches last whole seasons, so no arm is judged by its weekdays. (Young
steps are $d$ all the same: a strong season made the alarm sound falsely in up to 5 % of runs, else 1.5 %.)

*Not for long horizons.* The first 7 % are spent on every arm alike, so regret grows in proportion to $T$: arms .9, .8,
.7, .6, .5 and $d = 10$ cost it 280 at $T = 20\,000$, 1,400 at $10^5$ and 14,000 at $10^6$ (200 runs each), `thrift-ucb`
91, 110 and 191. Above $10^5$ it warns, and batches are longer, so that there are as many as at $10^5$.

No theorem: 0.6, 7 %, 40 % and the alarm's 4 were chosen by simulation, and a spread that depends on the age
of the run misleads it (`trim-ucb` is the safe choice). Ours. `report` gives its intervals.

A hold is asked for in pieces, each ending at the nearest of: the end of an open batch, of the young steps,
of the hold. What is discarded is the head of a piece.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace

from afterglow.checks import between, whole
from afterglow.errors import TOO_SHORT, AfterglowWarning, BadValue, Sentence, argument
from afterglow.policies.index import Index
from afterglow.policies.lean.report import report
from afterglow.policies.lean.state import (
    BLOCK,
    KEPT,
    OLD,
    Settings,
    State,
    degrees,
    drop_open,
    keep,
    lengthen,
    room,
    scatter,
    start,
)
from afterglow.policies.policy import Policy

__all__ = ["Settings", "State", "configure", "learn", "next_hold", "policy", "recommend", "report", "start"]

LONG = 100_000  # steps above which it warns
ROUNDING = 1e-12  # least variance of old steps, so that means which differ by rounding raise no alarm


def configure(arms: int, window: int, horizon: int, season: int = 1, noise: float = 0.0) -> Settings:
    """`noise` is the standard deviation of one pull's reward, over `reward_max`, if history tells it, else 0."""
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    horizon = whole("horizon", horizon, 1)
    season = whole("season", season, 1, "1 = none")
    noise = between("noise", noise, 0.0, 0.5, "standard deviation of one pull as a share of reward_max, 0 = unknown")
    need = 2 * arms * window
    if horizon < need:
        fits = horizon // (2 * arms)
        shorter = f" or shorten the window to {fits:,}" if fits else " or take fewer arms" if arms > 2 else ""
        raise BadValue(
            f"lean-ucb needs 2 x {arms:,} arms x {window:,} steps = {need:,}, the horizon is {horizon:,}; "
            f"lengthen it{shorter}",
            kind=TOO_SHORT,
            field="horizon",
        )
    if horizon > LONG:
        warnings.warn(
            Sentence(
                f"lean-ucb is for short experiments: it spends 7 % of the horizon on trying every arm, so its regret "
                f"grows in proportion to a horizon of {horizon:,}; use thrift-ucb above {LONG:,}"
            ),
            AfterglowWarning,
            stacklevel=3,
        )
    half = -(-window // 2)
    least = whole_seasons(half, season)
    first = max(1, min(max(least, -(-7 * horizon // (100 * arms)) - window + 1), horizon // arms - window + 1))
    first = season * max(1, (2 * first + season) // (2 * season))
    need = arms * (first + window - 1)
    if horizon < need:
        raise BadValue(
            f"{argument('season')} must be short enough to try {arms:,} arms for {first:,} steps after {window - 1:,} "
            f"discarded ones within the horizon of {horizon:,}, got {season:,}; lengthen the horizon to {need:,} or "
            f"set {argument('season')} to 1",
            kind=TOO_SHORT,
        )
    batch = whole_seasons(max(half, min(window, 8)), season)
    many = -(-horizon // LONG)  # beyond it, longer batches, and as many of them
    sizes = [many * batch, many * batch, many * whole_seasons(window, season)]
    return Settings(arms, horizon, window, season, noise, least, first, sizes)


def whole_seasons(steps: int, season: int) -> int:
    """`steps` rounded up to whole seasons."""
    return season * -(-steps // season)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    discarded = max(0, state.washout - state.age)
    steps = min(state.left - discarded, room(settings, state, KEPT), room(settings, state, BLOCK))
    before = state.age + discarded - state.washout  # kept steps of the run so far
    if before <= state.washout:
        steps = min(steps, state.washout + 1 - before)
    else:
        steps = min(steps, room(settings, state, OLD))
    return state.arm, discarded + steps, discarded


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    if steps > split:
        keep(settings, state, arm, steps - split, body, state.age + split - state.washout)
    state.age += steps
    state.clock += steps
    state.left -= steps
    if state.left <= 0 and state.clock < settings.horizon:
        decide(settings, state)


def decide(settings: Settings, state: State) -> None:
    """Choose the next hold; the alarm comes first."""
    if too_short(settings, state):
        lengthen(settings, state)
    arm = first_untried(settings, state)
    steps = settings.first
    if arm < 0:
        arm = best_index(settings, state)
        steps = max(settings.least, settings.season * -(-2 * state.kept[arm] // (5 * settings.season)))
    if arm != state.arm:
        state.arm = arm
        state.age = 0
        drop_open(state)
    state.left = steps + max(0, state.washout - state.age)


def too_short(settings: Settings, state: State) -> bool:
    """Whether an arm's young and old steps differ by more than noise explains."""
    freedom = degrees(settings, state, OLD)
    if state.washout == 0 or freedom < 4 or 8 * settings.arms * state.washout > settings.horizon:
        return False
    noise = max(ROUNDING, scatter(settings, state, OLD) / freedom)
    half = (settings.window + 1) // 2
    for arm in range(settings.arms):
        young = state.young[arm]
        old = state.old[arm]
        if young >= half and old >= half:
            difference = abs(state.young_sums[arm] / young - state.old_sums[arm] / old)
            if difference > 4.0 * (1.0 + 6.0 / freedom) * math.sqrt(noise * (1.0 / young + 1.0 / old)):
                return True
    return False


def first_untried(settings: Settings, state: State) -> int:
    """The first arm with no kept step, -1 if there is none."""
    for arm in range(settings.arms):
        if state.kept[arm] == 0:
            return arm
    return -1


def best_index(settings: Settings, state: State) -> int:
    """The arm of largest mean plus bonus; a tie goes to the arm in play, then to the lowest."""
    width = 0.6 * variance(settings, state)
    best = state.arm
    top = index(settings, state, best, width)
    for arm in range(settings.arms):
        value = index(settings, state, arm, width)
        if value > top:
            top = value
            best = arm
    return best


def index(settings: Settings, state: State, arm: int, width: float) -> float:
    kept = state.kept[arm]
    left = (settings.horizon - state.clock) / (settings.arms * kept)  # H / (K n)
    return state.sums[arm] / kept + math.sqrt(width * max(0.0, math.log(left)) / kept)


def variance(settings: Settings, state: State) -> float:
    """v: what one kept step adds to the variance of a long sum."""
    total = 0.0
    kept = 0
    for arm in range(settings.arms):
        total += state.sums[arm]
        kept += state.kept[arm]
    mean = total / kept  # q
    prior = settings.noise if settings.noise > 0.0 else mean / 4.0
    pooled = (2.0 * prior * prior + scatter(settings, state, KEPT)) / (2 + degrees(settings, state, KEPT))
    return max(1e-6, min(pooled, mean * (1.0 - mean)))


def recommend(settings: Settings, state: State) -> int:
    """The arm of largest washed mean; a tie goes to the lowest."""
    means = [total / kept if kept else -math.inf for total, kept in zip(state.sums, state.kept, strict=True)]
    return means.index(max(means))


def indices(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """Means plus bonuses now; a hold is kept to its end whatever they are meanwhile."""
    arms = range(settings.arms)
    width = 0.6 * variance(settings, state) if sum(state.kept) else 0.0
    return Index([index(settings, state, arm, width) if state.kept[arm] else math.inf for arm in arms])


def extend(settings: Settings, state: State, horizon: int) -> Settings:
    """The settings for a longer horizon."""
    return replace(settings, horizon=horizon)


policy = Policy(
    "lean-ucb", Settings, State, start, next_hold, learn, configure, recommend,
    adjustable=True,
    summary="washed means, noise from batches and few switches, for small experiments; notices a window too short",
    guarantee="no theorem; about half the regret of uniform play over a few hundred to a few thousand steps",
    source="ours",
    index=indices,
    extend=extend,
)  # fmt: skip
