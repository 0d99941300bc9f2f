r"""Lag ridge UCB: regress each step's total on what was played in the last $d$ steps.

Model: the law of what a pull of arm $a$ pays $s$ steps later depends on $(a, s)$ alone, so the expected total
of step $t$ is $\sum_s \kappa_{a(t-s)}(s)$, linear in the unknown lag kernels $\kappa_a$, and the mean of an arm is
the sum of its kernel. Lags are binned $\{0\}, \{1\}, \{2, 3\}, \{4, \ldots, 7\}, \ldots$, cut at $d$; the feature of
(arm, bin) is the share $f$ of the bin's lags that the arm fills. Ridge regression does the rest:

$$V = I + \sum f f', \quad b = \sum f X_t, \quad \theta = V^{-1} b, \quad \hat\mu_a = \sum_k \theta_{a,k},$$

and with $g$ the indicator of the arm's bins the index is $\hat\mu_a + \sqrt{C \log t \cdot g' V^{-1} g}$,
$C = 1/2$. No step is thrown away after a switch, and the kernels are a by-product (`lag_kernels`).
An arm is kept for a stay of $\max(\lceil d/4 \rceil, \lceil n_a/10 \rceil)$ steps, $n_a$ its pulls before the stay,
until the index is asked again. Every arm has one such stay first, in order: of $\lceil d/4 \rceil$ steps,
since a single step on it would tell nothing of the later lags.

No theorem. The noise of a step is correlated with that of the $d - 1$ before it and a kernel need not be level
within a bin; the index ignores both. A spread that depends on the age of the run breaks the model.
Ours; the index is that of linear UCB (Abbasi-Yadkori, Pál & Szepesvári 2011) without its proved radius.

With $u = V^{-1} f$ and $V$ from before, $m$ steps of the same features and of the sum $S$ take
$u u' m/(1 + m f'u)$ from $V^{-1}$ (Sherman & Morrison 1950) and give $u (S - m f'\theta)/(1 + m f'u)$ to $\theta$:
$(K \cdot \text{bins})^2$ operations and no inversion. Features stay the same once an arm has been played for $d - 1$
steps. Until then holds last one step; the rest of a stay is one hold, which is learned at once.

Version 1 learned every step by itself: the same decisions up to rounding, at ten times the cost. Its errors of kernels
summed over $4 d$ steps; here a hold that is longer is one sum.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import number, whole
from afterglow.errors import BadValue
from afterglow.policies.index import Index
from afterglow.policies.policy import Policy

UNKNOWNS = 1000  # at most; the state holds their square


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    window: int  # d
    C: float
    bins: int
    edges: list[int]  # bin k is the lags from edges[k] to edges[k + 1] - 1
    stay: int  # shortest, in steps
    batch: int  # steps over which forecast errors are summed, at least


@dataclass
class State:
    clock: int  # t, steps played
    age: int  # steps since another arm was played
    arm: int
    left: int  # steps left of the stay
    pulls: list[int]  # n_a
    recent: list[int]  # arm of step t at place t mod d, -1 before the first
    filled: list[int]  # lags of a bin that an arm fills, at place arm * bins + bin
    weights: list[float]  # theta
    inverse: list[float]  # of V, row by row
    gain: list[float]  # inverse of V times the step's features
    batches: int  # of forecast errors, for the errors of `kernels`
    batch_squares: float  # sum over batches of their sum squared, of longer ones in proportion
    open_steps: int
    open_sum: float


def configure(arms: int, window: int, C: float = 0.5) -> Settings:
    arms = whole("arms", arms, 2)
    window = whole("window", window, 1, "1 = paid at once")
    C = number("C", C, above=0.0)
    edges = lag_edges(window)
    bins = len(edges) - 1
    if arms * bins > UNKNOWNS:
        raise BadValue(
            f"lag-ridge-ucb must not have more than {UNKNOWNS:,} unknowns, {arms:,} arms x {bins} lag bins are "
            f"{arms * bins:,}; take at most {UNKNOWNS // bins:,} arms or use washout-ucb",
            field="arms",
        )
    return Settings(arms, window, C, bins, edges, -(-window // 4), 4 * window)


def lag_edges(window: int) -> list[int]:
    """Bins {0}, {1}, {2, 3}, {4 .. 7}, … cut at the window: where they begin, and the window."""
    edges = [0]
    while edges[-1] < window:
        edges.append(min(max(1, 2 * edges[-1]), window))
    return edges


def start(settings: Settings) -> State:
    size = settings.arms * settings.bins
    inverse = [0.0] * size * size
    for i in range(size):
        inverse[i * size + i] = 1.0
    return State(
        0, 0, 0, settings.stay, [0] * settings.arms, [-1] * settings.window,
        [0] * size, [0.0] * size, inverse, [0.0] * size, 0, 0.0, 0, 0.0,
    )  # fmt: skip


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    level = state.arm == last_arm(settings, state) and state.age >= settings.window - 1
    return state.arm, state.left if level else 1, 0


def last_arm(settings: Settings, state: State) -> int:
    """The arm of the last step, -1 before the first."""
    return state.recent[(state.clock - 1) % settings.window]


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    """A hold of several steps has one row of features: nothing else was played for a window."""
    state.age = steps + (state.age if arm == last_arm(settings, state) else 0)
    shift(settings, state, arm)
    regress(settings, state, steps, head + body)
    state.pulls[arm] += steps
    state.clock += steps
    state.left -= steps
    if state.left <= 0:
        state.arm = best_index(settings, state)
        state.left = max(settings.stay, -(-state.pulls[state.arm] // 10))


def shift(settings: Settings, state: State, arm: int) -> None:
    """Move what was played one lag on, and put `arm` at lag 0."""
    now = state.clock % settings.window
    enters = arm
    for k in range(settings.bins):
        place = now - settings.edges[k + 1]
        if place < 0:
            place += settings.window
        leaves = state.recent[place]  # of this bin, for the next
        if leaves >= 0:
            state.filled[leaves * settings.bins + k] -= 1
        if enters >= 0:
            state.filled[enters * settings.bins + k] += 1
        enters = leaves
    state.recent[now] = arm


def regress(settings: Settings, state: State, steps: int, total: float) -> None:
    """Take in steps of the same features, f: how much of each bin an arm fills, and the sum of their totals."""
    gain = state.gain
    inverse = state.inverse
    size = len(gain)
    for i in range(size):
        gain[i] = 0.0
    forecast = 0.0
    k = 0
    for j in range(size):
        if state.filled[j] > 0:
            part = state.filled[j] / (settings.edges[k + 1] - settings.edges[k])
            forecast += part * state.weights[j]
            for i in range(size):
                gain[i] += part * inverse[j * size + i]
        k = k + 1 if k + 1 < settings.bins else 0
    leverage = 0.0
    for j in range(size):
        if state.filled[j] > 0:
            leverage += state.filled[j] / (settings.edges[k + 1] - settings.edges[k]) * gain[j]
        k = k + 1 if k + 1 < settings.bins else 0
    shrink = 1.0 / (1.0 + steps * leverage)
    error = total - steps * forecast
    taken = steps * shrink
    for i in range(size):
        state.weights[i] += gain[i] * error * shrink
    for i in range(size):
        own = gain[i]
        for j in range(size):
            inverse[i * size + j] -= own * gain[j] * taken
    note_error(settings, state, steps, error * math.sqrt(shrink))


def note_error(settings: Settings, state: State, steps: int, error: float) -> None:
    """Add the standardised forecast error of some steps to the open batch."""
    state.open_sum += error
    state.open_steps += steps
    if state.open_steps >= settings.batch:
        state.batches += 1
        state.batch_squares += state.open_sum * state.open_sum * (settings.batch / state.open_steps)
        state.open_steps = 0
        state.open_sum = 0.0


def best_index(settings: Settings, state: State) -> int:
    """The first arm never played, else the arm of largest index; a tie goes to the lowest."""
    best = 0
    top = -math.inf
    for arm in range(settings.arms):
        if state.pulls[arm] == 0:
            return arm
        mean, variance = estimate(settings, state, arm)
        value = mean + math.sqrt(settings.C * math.log(state.clock) * variance)
        if value > top:
            top = value
            best = arm
    return best


def estimate(settings: Settings, state: State, arm: int) -> tuple[float, float]:
    """The arm's estimated mean and g' V^-1 g."""
    size = len(state.weights)
    begin = arm * settings.bins
    mean = 0.0
    variance = 0.0
    for i in range(begin, begin + settings.bins):
        mean += state.weights[i]
        for j in range(begin, begin + settings.bins):
            variance += state.inverse[i * size + j]
    return mean, max(0.0, variance)


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """Estimated means plus radii now; an arm is kept for some steps whatever they are meanwhile."""
    values = [math.inf] * settings.arms
    for arm in range(settings.arms):
        if state.pulls[arm]:
            mean, variance = estimate(settings, state, arm)
            values[arm] = mean + math.sqrt(settings.C * math.log(state.clock) * variance)
    return Index(values)


policy = Policy(
    "lag-ridge-ucb", Settings, State, start, next_hold, learn, configure,
    every_step=True,
    adjustable=True,
    version=2,
    summary="ridge regression on what was played in the last steps; shows each arm's lag kernel",
    guarantee="no theorem; meant for spreads that are stationary",
    source="ours, after linear UCB (Abbasi-Yadkori, Pál & Szepesvári 2011)",
    index=index,
)  # fmt: skip
