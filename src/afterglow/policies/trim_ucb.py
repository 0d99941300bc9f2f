r"""Trim-UCB: count only what a run must have paid, or must have earned.

A pull pays within its window of $d$ steps and nothing is negative. Write $w = d - 1$; a *run* is a stretch of
consecutive steps on one arm. Whatever the spread does, adaptive or not,

1. every pull older than $w$ has paid inside its run, so the rewards of all but the last $w$ pulls are at most
   the totals seen: divide *all* that was seen by $n - w$ for an upper bound;
2. what is seen after the first $w$ steps of a run was earned in it: divide *that* by all $n$ pulls for a lower one;
3. an ended run is owed at most $H$, the smaller of $w$ and what is seen in the next run's first $w$ steps: with
   $H$ added no pull need be trimmed;
4. all this is true of the last run alone too, so that old, short, polluted runs stop mattering.

The upper bound $U$ is the least of those four, each with the radius of `trim.bounds`; the estimate $M$ is the mean
of what was seen after heads, moved into $[lo, U]$. Play the arm of largest $U$. Switching is what costs here,
so a run's first hold is as long as all earlier pulls of the arm ($1 + \log_2 T$ runs at most), later ones end at
ages growing by 5 %, and an arm that is about to fall below another's $M$ is played on until it does, up to six
times the age at which it first lost the lead. In the last `endgame` steps the arm of largest $M$ is played.

Why it works: with $Y$ an arm's rewards in pull order, 1 reads $Y_1 + \dots + Y_{N-w} \le$ all that was seen plus
$H$ of the runs before the last, for each $N$ and on every path; chance enters only through sums of $Y$ in order. A
suboptimal run with $n - w \ge \max(4w/\Delta, 9f/\Delta^2)$ loses the lead, which gives regret
$O(K d + \sum_i \log T/\Delta_i)$: neither a power of $T$ nor a logarithm on $d$. Proved in docs/theory/trim-ucb.md with
a horizon, for level `"strict"`, and for `"plain"` with $O(\log^3 T) \sum_i \Delta_i$ more; the constants of the
proof are far above what is measured. Intervals are proved for both. `level` sets the evidence $f$: with `"strict"`,
$\log T + 3 \log\log T$, the chances that some bound ever fails add up to $O(1/T)$ for each arm; `"plain"`, $\log T$,
leaves $O(\log^3 T/T)$; `"plus"`, which asks for less as pulls grow (kl-UCB++ of Ménard & Garivier 2017), has 5 to 15 %
less regret and bounds that need not hold at every time. No guarantee is claimed for `"plus"`, for
`variance="estimated"` and without a horizon. All of it needs totals that rewards in $[0, 1]$ can explain: income that
no arm causes counts as reward of the arm in play, so `reward_max` must include the most of it that one step brings.

Without a horizon, $T$ is a guess, $4K(w + \max(16, d))$ at first and 16 times more whenever it is reached.

`variance` narrows the radii: a number is a known bound on the variance of one pull's reward (guaranteed);
`"estimated"` takes $\hat v$, 1.5 times what batch means of $d$ steps tell, pooled over arms, and the radius
$\sqrt{2 \hat v f/n}$ (not guaranteed); all bounds are renewed at each decision, as $\hat v$ has moved. Its holds are
asked in pieces that end with a batch; a batch begins after the head, goes on over the ends of holds and is dropped
when the run ends. Decisions fall at the same ages with and without pieces.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from afterglow.checks import choice, whole
from afterglow.errors import BadValue, argument
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.trim.bounds import (
    LARGEST,
    UNKNOWN,
    Settings,
    State,
    ceiling,
    lower,
    middle,
    pooled_variance,
    upper,
)
from afterglow.policies.trim.report import recommend

LEVELS = ("plain", "strict", "plus")
PATIENCE = 6  # beta: a fading arm is played on up to this many times the age at which it lost the lead
GUESS = 4  # first guess of the horizon, in first rounds over all arms
STRETCH = 16  # the guess grows by this


def configure(
    arms: int,
    window: int,
    horizon: int | None = None,
    level: str = "plain",
    endgame: int | None = None,
    variance: str = "none",
) -> Settings:
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    steps = 0 if horizon is None else whole("horizon", horizon, 1)
    rank = LEVELS.index(choice("level", level, LEVELS))
    last_steps = min(16 * window, (steps + 1) // 2)
    if endgame is not None:
        last_steps = whole("endgame", endgame, 0, "0 = none")
        if last_steps and not steps:
            raise BadValue(
                f"{argument('endgame')} counts back from the horizon and there is none, got {endgame}; "
                f"give {argument('horizon')} or leave {argument('endgame')} out"
            )
    estimated = variance == "estimated"
    return Settings(
        arms, window, steps, rank, last_steps, known_variance(variance), 0.0 if estimated else 1.0 / 3.0, int(estimated)
    )


def known_variance(given: object) -> float:
    """The variance bound to begin with: the number given, or the largest there is."""
    if given in ("none", "estimated"):
        return LARGEST
    named = argument("variance")
    rule = f"{named} must be none, estimated or a number above 0 and up to 0.25 (the most a reward in [0, 1] can have)"
    try:
        value = float(str(given))
    except ValueError:
        raise BadValue(f"{rule}, got {given!r}") from None
    if not 0.0 < value <= LARGEST:
        raise BadValue(f"{rule}, got {given!r}")
    return value


def start(settings: Settings) -> State:
    K = settings.arms
    none, nil = [0] * K, [0.0] * K
    first = first_hold(settings, 0)
    return State(
        pulls=none[:], closed_sums=nil[:], closed_pulls=none[:], run_sums=nil[:], run_pulls=none[:],
        leaks=[UNKNOWN] * K, kept_sums=nil[:], kept_steps=none[:], highs=[2.0] * K, means=nil[:],
        batch_counts=none[:], batch_steps=none[:], batch_sums=nil[:], batch_squares=nil[:],
        clock=0, reach=settings.horizon or GUESS * K * first, variance=settings.variance,
        arm=0, last=-1, age=0, until=first, faded=0, open_steps=0, open_sum=0.0,
    )  # fmt: skip


def first_hold(settings: Settings, pulls: int) -> int:
    """Steps of the first hold of a run: a head, then as many as the arm was ever played."""
    return settings.window - 1 + max(16, settings.window, pulls)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    split = settings.window - 1 if state.age == 0 else 0
    steps = state.until - state.age
    if settings.batches == 1:
        steps = min(steps, split + settings.window - state.open_steps)
    return state.arm, steps, split


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    if state.age == 0 and state.last >= 0 and split == settings.window - 1:
        state.leaks[state.last] = min(head, settings.window - 1.0)
    credit(settings, state, steps, split, head, body)
    over = state.clock == settings.horizon
    if state.age < state.until and not over:
        return
    refresh(settings, state)
    if not over:
        state.until = max(state.age + 1, (21 * state.age + 19) // 20)
        decide(settings, state)


def credit(settings: Settings, state: State, steps: int, split: int, head: float, body: float) -> None:
    arm = state.arm
    state.clock += steps
    state.age += steps
    state.pulls[arm] += steps
    state.run_pulls[arm] += steps
    state.run_sums[arm] += head + body
    state.kept_steps[arm] += steps - split
    state.kept_sums[arm] += body
    if settings.batches == 1:
        state.open_steps += steps - split
        state.open_sum += body
        if state.open_steps >= settings.window:  # more where a hold was made longer than asked
            state.batch_counts[arm] += 1
            state.batch_steps[arm] += state.open_steps
            state.batch_sums[arm] += state.open_sum
            state.batch_squares[arm] += state.open_sum * state.open_sum / state.open_steps
            state.open_steps = 0
            state.open_sum = 0.0


def refresh(settings: Settings, state: State) -> None:
    """Renew bounds and means: of the arm in play, of the one before once its leak is seen, or of all arms."""
    every = settings.batches == 1
    while settings.horizon == 0 and state.clock >= state.reach:
        state.reach *= STRETCH
        every = True
    if settings.batches == 1:
        state.variance = pooled_variance(state.batch_counts, state.batch_steps, state.batch_sums, state.batch_squares)
    first = state.until == first_hold(settings, state.pulls[state.arm] - state.age)
    for arm in range(settings.arms):
        if state.pulls[arm] > 0 and (every or arm == state.arm or (first and arm == state.last)):
            state.highs[arm] = upper(settings, state, arm, settings.level)
            state.means[arm] = middle(state, arm, lower(settings, state, arm, settings.level), state.highs[arm])


def decide(settings: Settings, state: State) -> None:
    """Stay on the arm in play, or begin a run on another."""
    arm = state.arm
    if 0 < settings.horizon < state.clock + settings.endgame:
        best = arm
        for other in range(settings.arms):
            if state.pulls[other] > 0 and state.means[other] > state.means[best]:
                best = other
        if best != arm:
            begin(settings, state, best)
        return
    rival = 1 if arm == 0 else 0
    for other in range(settings.arms):
        if other != arm and ahead(state, other, rival):
            rival = other
    if not ahead(state, rival, arm):
        return
    if state.faded == 0:
        state.faded = state.age
    if not fading(settings, state):
        begin(settings, state, rival)


def ahead(state: State, one: int, other: int) -> bool:
    """Whether (U, M) of one arm is strictly the larger."""
    if state.highs[one] != state.highs[other]:
        return state.highs[one] > state.highs[other]
    return state.means[one] > state.means[other]


def fading(settings: Settings, state: State) -> bool:
    """Whether the arm in play would fall below another's mean if it were played on as it went so far."""
    arm = state.arm
    bar = -1.0
    for other in range(settings.arms):
        if other != arm and state.pulls[other] > 0:
            bar = max(bar, state.means[other])
    cap = PATIENCE * state.faded
    if not (state.means[arm] < bar <= state.highs[arm] and state.age < cap):
        return False
    total = state.run_sums[arm] + state.means[arm] * (cap - state.age)
    count = cap - settings.window + 1
    alone = ceiling(settings, state, settings.level, total, count)
    both = ceiling(settings, state, settings.level, state.closed_sums[arm] + total, state.closed_pulls[arm] + count)
    return min(alone, both) < bar


def begin(settings: Settings, state: State, arm: int) -> None:
    """Close the arm's last run into the earlier ones and start a new one."""
    if state.run_pulls[arm] > 0:
        leak = state.leaks[arm] if state.leaks[arm] >= 0.0 else settings.window - 1.0
        state.closed_sums[arm] += state.run_sums[arm] + leak
        state.closed_pulls[arm] += state.run_pulls[arm]
    state.run_sums[arm] = 0.0
    state.run_pulls[arm] = 0
    state.leaks[arm] = UNKNOWN
    state.last = state.arm
    state.arm = arm
    state.age = 0
    state.until = first_hold(settings, state.pulls[arm])
    state.faded = 0
    state.open_steps = 0
    state.open_sum = 0.0


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """Upper bounds; in the endgame means."""
    late = 0 < settings.horizon < state.clock + settings.endgame
    values, what = (state.means, "mean") if late else (state.highs, "upper bound")
    return Index([value if state.pulls[arm] else math.inf for arm, value in enumerate(values)], what=what)


def extend(settings: Settings, state: State, horizon: int) -> Settings:
    """The settings for a longer horizon; bounds ask for the evidence of that one from now on."""
    state.reach = horizon
    for arm in range(settings.arms):
        if state.pulls[arm] > 0:
            state.highs[arm] = upper(settings, state, arm, settings.level)
            state.means[arm] = middle(state, arm, lower(settings, state, arm, settings.level), state.highs[arm])
    return replace(settings, horizon=horizon)


policy = Policy(
    "trim-ucb", Settings, State, start, next_hold, learn, configure, recommend,
    summary="upper bounds from what runs must have paid, few switches",
    guarantee="O(sum log T / gap + K d) against every spread, adaptive ones too (proved with a horizon, level strict)",
    source="ours",
    bounded=True,
    index=index,
    extend=extend,
)  # fmt: skip
