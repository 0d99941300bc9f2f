r"""Auto-wash: washed means for a window that is not known.

Model: the spread is *stationary*, so a run that begins after another arm's shows a transient, then pays its own mean
$\mu_i$ in every step. How long the transient lasts is seen in the runs themselves: $W = 2^k$ is the window assumed so
far, and of a run the steps from the $W$-th on are kept, if it has at least $2W$.

*Index.* With $n_i$ kept steps that add up to $S_i$, the arm of the largest $S_i/n_i + \sqrt{C \log t / n_i}$ is
played; one without kept steps comes first. A new run lasts $L = \max(L_0,\, 2W,\, W - 1 + \lceil n_i/2 \rceil)$
steps, a run that goes on $\max(L_0,\, W,\, \lceil n_i/2 \rceil)$ more, with $L_0 = \lceil 2\sqrt{T/K} \rceil$.

*Settling.* A new run whose level still moves is not left: let $m_1$ and $m_2$ be the means over its second quarter
and its second half. While $m_2 \le 0$ or $|m_1 - m_2| > 1.5\sqrt{v\,(4/\ell + 2/\ell)}$, its length $\ell$ is
doubled, up to $\max(4 L_0, 8W)$, for the very first run to $\max(4L, T/(4K))$. Here $v = \max(m_2 (1 - m_2), 1/20)$,
$1/4$ if $m_2 \ge 1$.

*Test of the window.* After each play, for $w = W, 2W, 4W, \dots$ with $3w \le \ell$: let $m_1$ be the mean over the
$w$ steps from the $w$-th on, $m_2$ the mean over the rest of the run. If they differ by more than
$\sqrt{2 \log T}\,\sqrt{v\,(1/w + 1/(\ell - 2w))}$, then $W$ becomes $2w$, for the largest such $w$. Kept steps of
earlier runs are then counted anew with the new $W$: an arm whose runs were all too short is unexplored again.

*Memory.* For each arm and each $k$ the number and the sum of the steps kept if $W$ were $2^k$: they add up over runs,
so no run is stored. Of the run in progress the sums of its first $2^k - 1$ steps are known, since holds end there.

The price of ignorance is $K L_0$, of order $\sqrt{KT}$. No theorem. Measured: reliable for windows up to about
$0.7 L_0$; beyond it a run may be linear without a sign. Reliable is not always: with five arms, $T = 10^5$ and windows
of 10, 50 and 200, 5 of 40,000 runs on stationary spreads, `hoard` and `chameleon` up to 50 had a regret above 3,000
(their mean was 350 to 1,220), because a false alarm of the test made $W$ too large.

If a bound $D$ on the window is known, give it as `longest`: $L_0$ is then at least $D/8$ and $W$ at most $D$, rounded
up to a power of two. Nobody adapts to an unknown window for free where the spread is adversarial (theory, lower
bounds): there the price is that of the $D$ admitted. Ours.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import number, whole
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy
from afterglow.policies.terms import mean_plus

SETTLED = 1.5  # standard errors between the second quarter and the second half of a run that has settled
LEAST = 0.05  # least variance of a step that tests assume


@dataclass(frozen=True)
class Settings:
    arms: int
    horizon: int
    C: float  # the radius is sqrt(C log t / n)
    least: int  # L_0
    levels: int  # k is below this
    top: int  # largest k that the window may have


@dataclass
class State:
    counts: list[int]  # arm * levels + k: steps of ended runs that are kept if W = 2**k
    sums: list[float]  # totals seen in them
    marks: list[int]  # k: where the first 2**k - 1 steps of the run ended
    heads: list[float]  # k: totals seen before
    level: int  # log2 of W
    arm: int  # of the run in progress
    age: int  # its steps so far
    total: float  # totals seen in them
    target: int  # the age at which it is judged
    moving: int  # 1 until it has settled
    cap: int  # largest age to which it is lengthened for that
    places: list[int]  # where its first quarter and its first half end
    parts: list[float]  # totals seen before
    clock: int


def configure(arms: int, horizon: int, C: float = 0.5, longest: int = 0) -> Settings:
    """`longest` is a bound on the window, if one is known, else 0."""
    arms, horizon = whole("arms", arms, 2), whole("horizon", horizon, 1)
    longest = whole("longest", longest, 0, "0 = no bound is known")
    least = max(math.ceil(2 * math.sqrt(horizon / arms)), -(-longest // 8))
    levels = horizon.bit_length() + 1
    top = min((longest - 1).bit_length(), levels - 2) if longest else levels - 2
    return Settings(arms, horizon, number("C", C, above=0.0), least, levels, max(top, 0))


def start(settings: Settings) -> State:
    cells, levels, least = settings.arms * settings.levels, settings.levels, max(settings.least, 2)
    cap = max(4 * least, settings.horizon // (4 * settings.arms))
    return State(
        [0] * cells, [0.0] * cells, [0] * levels, [0.0] * levels, 0, 0, 0, 0.0, least, 1, cap,
        [least // 4, least // 2], [0.0, 0.0], 0,
    )  # fmt: skip


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    """The run, up to the next place at which a sum is needed."""
    end = state.target
    for k in range(state.level, settings.levels):
        place = (1 << k) - 1
        if place > state.age:
            end = min(end, place)
            break
    for j in range(2):
        if state.places[j] > state.age:
            end = min(end, state.places[j])
    return state.arm, end - state.age, 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    before = state.age
    state.age += steps
    state.total += head + body
    state.clock += steps
    for k in range(settings.levels):
        if before < (1 << k) - 1 <= state.age:
            state.marks[k] = state.age
            state.heads[k] = state.total
    for j in range(2):
        if before < state.places[j] <= state.age:
            state.places[j] = state.age
            state.parts[j] = state.total
    if state.age >= state.target:
        judge(settings, state)


def judge(settings: Settings, state: State) -> None:
    """At the end of a play: lengthen the run, or test the window and choose what to play next."""
    if state.moving == 1 and 2 * state.age <= state.cap and not settled(state):
        state.target = 2 * state.age
        state.places[0] = state.places[1]
        state.parts[0] = state.parts[1]
        state.places[1] = state.age
        state.parts[1] = state.total
        return
    state.moving = 0
    state.level = min(max(state.level, tested(settings, state)), settings.top)
    best = 0
    top = -math.inf
    width = settings.C * math.log(max(state.clock, 1))
    for arm in range(settings.arms):
        value = mean_plus(kept_sum(settings, state, arm), kept(settings, state, arm), width)
        if value > top:
            top = value
            best = arm
    half = (kept(settings, state, best) + 1) // 2
    window = 1 << state.level
    if best == state.arm:
        state.target = state.age + max(settings.least, window, half)
    else:
        file_run(settings, state)
        begin(settings, state, best, max(settings.least, 2 * window, window - 1 + half))


def variance(mean: float) -> float:
    """What tests assume of one step."""
    return 0.25 if mean >= 1.0 else max(mean * (1.0 - mean), LEAST)


def settled(state: State) -> bool:
    """Whether the second quarter of a run and its second half agree."""
    first, later = state.places[1] - state.places[0], state.age - state.places[1]
    if first <= 0 or later <= 0:
        return True
    early = (state.parts[1] - state.parts[0]) / first
    late = (state.total - state.parts[1]) / later
    return late > 0.0 and abs(early - late) <= SETTLED * math.sqrt(variance(late) * (1.0 / first + 1.0 / later))


def tested(settings: Settings, state: State) -> int:
    """The level that the run asks for: one above the largest at which its level still moved; 0 if none."""
    found = 0
    strict = math.sqrt(2.0 * math.log(max(settings.horizon, 2)))
    for k in range(state.level, settings.levels - 1):
        if 3 * (1 << k) > state.age:
            break
        first, later = state.marks[k + 1] - state.marks[k], state.age - state.marks[k + 1]
        if first > 0 and later > 0:
            early = (state.heads[k + 1] - state.heads[k]) / first
            late = (state.total - state.heads[k + 1]) / later
            if abs(early - late) > strict * math.sqrt(variance(late) * (1.0 / first + 1.0 / later)):
                found = k + 1
    return found


def kept(settings: Settings, state: State, arm: int) -> int:
    """n_i: steps kept of ended runs and of the run in progress."""
    count = state.counts[arm * settings.levels + state.level]
    if arm == state.arm and state.age >= 2 << state.level:
        count += state.age - state.marks[state.level]
    return count


def kept_sum(settings: Settings, state: State, arm: int) -> float:
    """S_i, what was seen in them."""
    seen = state.sums[arm * settings.levels + state.level]
    if arm == state.arm and state.age >= 2 << state.level:
        seen += state.total - state.heads[state.level]
    return seen


def file_run(settings: Settings, state: State) -> None:
    """Add the run to what is kept of its arm, for every window that it is long enough for."""
    for k in range(state.level, settings.levels):
        if state.age >= 2 << k:
            cell = state.arm * settings.levels + k
            state.counts[cell] += state.age - state.marks[k]
            state.sums[cell] += state.total - state.heads[k]


def begin(settings: Settings, state: State, arm: int, steps: int) -> None:
    """A new run."""
    for k in range(settings.levels):
        state.marks[k] = 0
        state.heads[k] = 0.0
    state.arm = arm
    state.age = 0
    state.total = 0.0
    state.target = steps
    state.moving = 1
    state.cap = max(4 * settings.least, 8 << state.level)
    state.places[0] = steps // 4
    state.places[1] = steps // 2
    state.parts[0] = 0.0
    state.parts[1] = 0.0


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """Means plus radii now; a run is kept to its end whatever they are meanwhile."""
    width, arms = settings.C * math.log(max(state.clock, 1)), range(settings.arms)
    return Index([mean_plus(kept_sum(settings, state, arm), kept(settings, state, arm), width) for arm in arms])


policy = Policy(
    "auto-wash", Settings, State, start, next_hold, learn, configure,
    bounded=True,
    summary="washed means; the window need not be known: runs show how long an arm's predecessor lingers",
    guarantee="no theorem; measured for stationary spreads with a window up to 0.7 L0, L0 = 2 sqrt(T / K)",
    source="ours",
    index=index,
)  # fmt: skip
