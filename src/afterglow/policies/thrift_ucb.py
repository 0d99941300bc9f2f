r"""Thrift-UCB: proof while it is cheap, statistics when it is not; for any horizon, and for none.

Write $w = d - 1$. A *run* is a stretch of steps on one arm, its first $w$ steps are its *head*. Two kinds of evidence
exist:

- *Proved.* What is seen in a run bounds the rewards of its pulls, whatever the spread does (`thrift.bounds`).
- *Ordinary.* If the spread is stationary, the steps after a head, the *washed* ones, have the arm's mean.

Proof costs about $w \mu$ for each arm, however small its gap, and no policy can be safe for less. So it has a budget.
Let $N_i$ be an arm's pulls, $M_i$ its washed mean, but not above what is proved, and $g_i = \max_j M_j - M_i$. Then
$\sum_i N_i g_i$ estimates the regret so far, and $\frac TK \sum_i g_i$ the regret of random play. Their ratio decides
which evidence is used:

1. below 0.2 %, *proved bounds*: the arm of largest $U_i$, the largest $q$ with $c\,\mathrm{kl}(s/c, q) \le \log T$;
2. below 7 %, *bounds with estimated noise*: the same with $U_i = s/c + \sqrt{2 v \log^+(T/(Kc))/c}$;
3. else *ordinary statistics*: the arm of largest washed mean plus $\sqrt{0.6\,v \log^+((T - t)/(K n_i))/n_i}$, where
   $n_i$ counts washed steps, as in `lean-ucb`.

In 1 and 2 runs are those of `trim-ucb`. An arm that is about to fall below another's $M$ is played on until it does, up
to six times the age at which it lost the lead. A new run lasts as long as all pulls of the arm before, and is not begun
if the budget doesn't cover it. In 3 a hold lasts half of the arm's washed steps. A small experiment is in 3 as soon as
it has seen every arm. A long one stays in 1 and 2. No arm is left before it has 7 % of its share of the horizon, less a
window, in washed steps (five windows or 48 steps at most), so that its noise is known and the best can be told from
it; nor after a single batch, unless it trails by more than the prior noise allows.

*Comparing.* A policy that earns leaves a worse arm as soon as going on would cost more than it brings. Then few steps
on it are left to compare, and a difference of a few percent is found but never known. With `aim="knowing"` stage 3
first alternates between the arm of largest washed mean and the one that is hardest to tell from it, until every gap is
at least $\sqrt{10 (1 + 8 d/n_i)}$ standard errors or 30 % of the regret of random play is spent. A verdict needs about
so much, because it knows the noise from $n_i/d$ batches. A run has half the rival's washed steps, in whole windows, two
at least.

*Alarm.* When the young and the old washed steps of an arm differ by more than noise explains, the spread depends on the
age of the run or the window is too short. Then the washout doubles, three times at most. Proved bounds keep the window.

Without a horizon $T = 2t$: as many steps are expected as were played.

*Expected totals.* When demand that was known beforehand is taken out of the totals, they no longer bound what pulls
earned. Then stage 1 and the cap of $M_i$ are left out (`proof="never"`), and the guarantees below don't hold.

With a horizon, regret is $O(\sum_i (d + 1/\Delta_i) \log T + \log^3 T)$ against every spread once $T$ is large, and
$O(\sqrt{KT \log T} + K d \log T)$ for all $T$, with large constants (`docs/theory/thrift-ucb.md`). The idea: what was
spent is $K/T$ times a mean of the $N_i$ with weights $g_i$, so only 1 is in use until an arm has $0.001\,T/K$ pulls,
and an arm with that many is known whatever the spread did. No theorem says that 2 and 3 are good when $T$ is small:
they are chosen by simulation, for stationary spreads. Ours.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from afterglow.checks import between, choice, whole
from afterglow.policies.index import COMPARED, Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import arm_to_keep
from afterglow.policies.thrift.bounds import EXACT, affordable, ceiling, noise, too_few, too_short, upper
from afterglow.policies.thrift.state import (
    UNKNOWN,
    Settings,
    State,
    begin,
    capped_mean,
    credit,
    hold,
    kept_steps,
    kept_sum,
    lengthen,
    start,
    washed_mean,
)

PROOF = 0.002  # what decisions by proved bounds may cost, as a share of random play's regret
PRICE = 0.07  # the same for bounds with estimated noise
WIDTH = 0.6  # of the last stage's bonus: sqrt(0.6 v log+((T - t) / (K n)) / n); UCB's own constant is 2
PATIENCE = 6  # a fading arm is played on up to this many times the age at which it lost the lead
CERTAIN = 10.0  # square of the standard errors at which two arms are told apart, if their noise were known
FEW = 8.0  # by how many windows over an arm's washed steps that grows, because its noise is estimated from batches
KNOWING = 0.3  # what comparisons may cost if the aim is to know, as a share of random play's regret
GROWTH = 32  # a batch is a 32nd of the run's washed steps, so that a long run has few holds
PROVED, ESTIMATED, ORDINARY, COMPARING = 0, 1, 2, 3  # stages
PROOFS = ("cheap", "never")
AIMS = ("earning", "knowing")
EVIDENCE = ("proved bounds", "bounds with estimated noise", "ordinary statistics", "a comparison of arms")


def configure(
    arms: int,
    window: int,
    horizon: int | None = None,
    noise: float = 0.0,
    proof: str = "cheap",
    aim: str = "earning",
) -> Settings:
    """`noise` is the standard deviation of one pull's reward, over `reward_max`, if history tells it, else 0.

    Proved bounds decide while they are `cheap`, or `never`: they need totals that are sums of rewards. The aim is
    `earning` as much as possible on the way, or `knowing` at the end by how much the best arm is better.
    """
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    steps = 0 if horizon is None else whole("horizon", horizon, 1)
    noise = between("noise", noise, 0.0, 0.5, "standard deviation of one pull as a share of reward_max, 0 = unknown")
    half = -(-window // 2)
    proved = int(choice("proof", proof, PROOFS) == "cheap")
    price = KNOWING if choice("aim", aim, AIMS) == "knowing" else 0.0
    return Settings(arms, window, steps, noise, max(half, 8), max(half, min(window, 8)), proved, price)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    """One batch of the hold. After an alarm the head is asked for alone, since it shows what the last run was owed."""
    head = settings.window - 1
    if state.age < head < state.washout:
        return state.arm, head - state.age, head - state.age
    discarded = max(0, state.washout - state.age)
    batch = settings.batch * max(1, (state.age - state.washout) // (GROWTH * settings.batch))
    return state.arm, discarded + max(1, min(batch, state.until - state.age - discarded)), discarded


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    if state.age == 0 and state.last >= 0 and split == settings.window - 1:
        state.owed[state.last] = min(head, settings.window - 1.0)
    credit(settings, state, steps, split, head, body)
    if state.age >= state.until and state.clock != settings.horizon:
        decide(settings, state)


def decide(settings: Settings, state: State) -> None:
    """Use the best evidence that the budget allows; the alarm and enough batches come first."""
    reach = float(settings.horizon) if settings.horizon > 0 else 2.0 * state.clock  # T
    if too_short(settings, state, reach):
        lengthen(settings, state)
    if too_few(settings, state, reach):
        hold(settings, state, settings.batch)
        return
    state.stage = PROVED
    if settings.proof == 0 or not follow_bounds(settings, state, reach, PROOF, EXACT):
        v = noise(settings, state)
        state.stage = ESTIMATED
        if not follow_bounds(settings, state, reach, PRICE, v):
            state.stage = ORDINARY
            if settings.price > 0.0 and follow_doubt(settings, state, reach, v):
                state.stage = COMPARING
            else:
                follow_means(settings, state, reach, v)


def follow_bounds(settings: Settings, state: State, reach: float, share: float, v: float) -> bool:
    """Stay, or begin a run, as U tells; False, and nothing done, if that would cost more than its share."""
    arm = state.arm
    if affordable(settings, state, reach, share, arm) < 0.0:
        return False
    rival = -1
    for other in range(settings.arms):
        state.values[other] = upper(settings, state, other, reach, v)
        if other != arm and (rival < 0 or ahead(settings, state, other, rival)):
            rival = other
    if ahead(settings, state, rival, arm):
        if state.faded == 0:
            state.faded = state.age
        if not fading(settings, state, reach, share, v):
            steps = max(settings.first, state.pulls[rival])
            untried = state.pulls[rival] == 0
            if not untried and state.washout + steps > affordable(settings, state, reach, share, rival):
                return False
            begin(settings, state, rival, steps)
            return True
    hold(settings, state, state.age // 20)
    return True


def follow_means(settings: Settings, state: State, reach: float, v: float) -> None:
    """Hold the arm of largest washed mean and bonus, one without washed steps first; a tie goes to that in play."""
    best = state.arm
    top = -math.inf
    for arm in range(settings.arms):
        value = mean_and_bonus(settings, state, arm, reach, v)
        if value > top or (value == top and arm == state.arm):
            top = value
            best = arm
    n = kept_steps(settings, state, best)
    steps = n // 2 if n > 0 else settings.first
    if best == state.arm:
        hold(settings, state, steps)
    else:
        begin(settings, state, best, steps)


def follow_doubt(settings: Settings, state: State, reach: float, v: float) -> bool:
    """Alternate between the leader and the arm hardest to tell from it; False if all are known or it costs too much."""
    leader = 0
    for arm in range(settings.arms):
        if kept_steps(settings, state, arm) == 0:
            return False
        if washed_mean(settings, state, arm) > washed_mean(settings, state, leader):
            leader = arm
    rival = -1
    least = CERTAIN
    for arm in range(settings.arms):
        n = kept_steps(settings, state, arm)
        gap = washed_mean(settings, state, leader) - washed_mean(settings, state, arm)
        variance = v * (1.0 / kept_steps(settings, state, leader) + 1.0 / n) * (1.0 + FEW * settings.window / n)
        apart = gap * gap / variance
        if arm != leader and apart < least:
            least = apart
            rival = arm
    if rival < 0:
        return False
    steps = settings.window * max(2, -(-kept_steps(settings, state, rival) // (2 * settings.window)))
    left = affordable(settings, state, reach, settings.price, rival) - state.washout
    if left < settings.first:
        return False
    steps = min(steps, int(left))
    begin(settings, state, leader if state.arm != leader else rival, steps)
    return True


def mean_and_bonus(settings: Settings, state: State, arm: int, reach: float, v: float) -> float:
    """Washed mean and bonus; infinite without washed steps."""
    n = kept_steps(settings, state, arm)
    if n == 0:
        return math.inf
    left = (reach - state.clock) / (settings.arms * n)
    return washed_mean(settings, state, arm) + math.sqrt(WIDTH * v * max(0.0, math.log(left)) / n)


def ahead(settings: Settings, state: State, one: int, other: int) -> bool:
    """Whether (U, M) of one arm is strictly the larger."""
    if state.values[one] != state.values[other]:
        return state.values[one] > state.values[other]
    return capped_mean(settings, state, one) > capped_mean(settings, state, other)


def fading(settings: Settings, state: State, reach: float, share: float, v: float) -> bool:
    """Whether U of the arm in play would fall below another's M if it were played on, within patience and budget."""
    arm = state.arm
    bar = UNKNOWN
    for other in range(settings.arms):
        if other != arm:
            bar = max(bar, capped_mean(settings, state, other))
    own = capped_mean(settings, state, arm)
    cap = min(PATIENCE * state.faded, state.age + int(affordable(settings, state, reach, share, arm)))
    if not (own < bar <= state.values[arm] and state.age < cap):
        return False
    total = state.run_sums[arm] + own * (cap - state.age)
    return ceiling(settings, total, cap - settings.window + 1, reach, v) < bar


def evidence(settings: Settings, state: State) -> str:
    """The kind of evidence that the last decision rests on: one of `EVIDENCE`."""
    return EVIDENCE[state.stage]


def recommend(settings: Settings, state: State) -> int:
    """The arm of most washed steps; before 100 windows per arm, that of highest washed mean."""
    arms = range(settings.arms)
    steps = [kept_steps(settings, state, arm) for arm in arms]
    return arm_to_keep(steps, [kept_sum(settings, state, arm) for arm in arms], state.clock, settings.window)


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """Upper bounds at the last decision, or means plus bonuses now, by the evidence that it used."""
    arms = range(settings.arms)
    if state.stage == COMPARING:
        means = [washed_mean(settings, state, arm) for arm in arms]
        return Index(means, how=COMPARED, what="washed means")
    if state.stage != ORDINARY:
        return Index([state.values[arm] if state.pulls[arm] else math.inf for arm in arms], what="upper bound")
    reach, v = float(settings.horizon) if settings.horizon > 0 else 2.0 * state.clock, noise(settings, state)
    return Index([mean_and_bonus(settings, state, arm, reach, v) for arm in arms])


def extend(settings: Settings, state: State, horizon: int) -> Settings:
    """The settings for a longer horizon."""
    return replace(settings, horizon=horizon)


policy = Policy(
    "thrift-ucb", Settings, State, start, next_hold, learn, configure, recommend,
    summary="bounds from what runs must have paid while they are cheap, washed means when they aren't; the default",
    guarantee="O(sum (d + 1/gap) log T + log^3 T) against every spread once T is large; none while it is small",
    source="ours",
    adjustable=True,
    bounded=True,
    evidence=evidence,
    index=index,
    extend=extend,
)  # fmt: skip
