"""State of `lean_ucb`: washed sums of every arm, young and old, and batch means for the noise.

Three kinds of batch are kept, of `sizes[kind]` steps each: kept steps, old steps, and blocks of kept steps for
the report. The finished batches of a kind are three numbers per arm (count, sum and sum of squares of their
means) at place `kind * arms + arm`; the open batch of the current run is at place `kind`.
"""

from dataclasses import dataclass

KEPT, OLD, BLOCK = 0, 1, 2  # kinds of batch: B, O, R
KINDS = 3


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    horizon: int  # T
    window: int  # d, as it was given
    season: int  # P
    noise: float  # standard deviation of one pull's reward, 0 if unknown
    least: int  # h, kept steps of a hold at least
    first: int  # m1, kept steps of an arm's first hold
    sizes: list[int]  # steps of a batch of each kind: b, b, and d in whole seasons


@dataclass
class State:
    clock: int  # t, steps played
    arm: int
    age: int  # steps played in the current run
    left: int  # steps left in the current hold
    washout: int  # w, grows by the alarm
    alarms: int
    kept: list[int]  # n_i
    sums: list[float]  # S_i
    young: list[int]  # kept steps of age w + 1 to 2 w + 1
    young_sums: list[float]
    old: list[int]  # kept steps of a greater age
    old_sums: list[float]
    batches: list[int]
    batch_sums: list[float]
    batch_squares: list[float]
    open_steps: list[int]
    open_sums: list[float]


def start(settings: Settings) -> State:
    arms, washout = settings.arms, settings.window - 1
    counts = [[0] * arms for _ in range(3)]
    sums = [[0.0] * arms for _ in range(3)]
    return State(
        0, 0, 0, settings.first + washout, washout, 0,
        counts[0], sums[0], counts[1], sums[1], counts[2], sums[2],
        [0] * KINDS * arms, [0.0] * KINDS * arms, [0.0] * KINDS * arms, [0] * KINDS, [0.0] * KINDS,
    )  # fmt: skip


def keep(settings: Settings, state: State, arm: int, steps: int, total: float, before: int) -> None:
    """Credit kept steps, all young or all old, the first of which has `before` kept ones before it in its run."""
    state.kept[arm] += steps
    state.sums[arm] += total
    extend(settings, state, KEPT, arm, steps, total)
    extend(settings, state, BLOCK, arm, steps, total)
    if before <= state.washout:
        state.young[arm] += steps
        state.young_sums[arm] += total
    else:
        state.old[arm] += steps
        state.old_sums[arm] += total
        extend(settings, state, OLD, arm, steps, total)


def extend(settings: Settings, state: State, kind: int, arm: int, steps: int, total: float) -> None:
    """Lengthen the open batch of a kind, and close it when it is full."""
    state.open_steps[kind] += steps
    state.open_sums[kind] += total
    if state.open_steps[kind] == settings.sizes[kind]:
        mean = state.open_sums[kind] / settings.sizes[kind]
        place = kind * settings.arms + arm
        state.batches[place] += 1
        state.batch_sums[place] += mean
        state.batch_squares[place] += mean * mean
        state.open_steps[kind] = 0
        state.open_sums[kind] = 0.0


def room(settings: Settings, state: State, kind: int) -> int:
    """Steps until the open batch of a kind is full."""
    return settings.sizes[kind] - state.open_steps[kind]


def drop_open(state: State) -> None:
    """Forget the open batches: none spans two runs."""
    for kind in range(KINDS):
        state.open_steps[kind] = 0
        state.open_sums[kind] = 0.0


def degrees(settings: Settings, state: State, kind: int) -> int:
    """df: finished batches beyond the first of each arm."""
    value = 0
    for arm in range(settings.arms):
        value += max(0, state.batches[kind * settings.arms + arm] - 1)
    return value


def scatter(settings: Settings, state: State, kind: int) -> float:
    """SS: steps of a batch times the sum over arms and batches of (batch mean - arm's mean of batches)^2."""
    value = 0.0
    for arm in range(settings.arms):
        place = kind * settings.arms + arm
        if state.batches[place] > 1:
            mean_square = state.batch_sums[place] * state.batch_sums[place] / state.batches[place]
            value += max(0.0, state.batch_squares[place] - mean_square)
    return settings.sizes[kind] * value


def lengthen(settings: Settings, state: State) -> None:
    """w = 2 w + 1: the steps that were old are the kept ones, and none is known to be young or old."""
    state.alarms += 1
    state.washout = 2 * state.washout + 1
    for arm in range(settings.arms):
        state.kept[arm] = state.old[arm]
        state.sums[arm] = state.old_sums[arm]
        state.young[arm] = 0
        state.young_sums[arm] = 0.0
        state.old[arm] = 0
        state.old_sums[arm] = 0.0
        move_batches(state, OLD * settings.arms + arm, KEPT * settings.arms + arm)
        move_batches(state, BLOCK * settings.arms + arm, BLOCK * settings.arms + arm)
    drop_open(state)


def move_batches(state: State, source: int, target: int) -> None:
    """Put the batches of one place at another and clear the first; both the same: clear it."""
    state.batches[target] = state.batches[source]
    state.batch_sums[target] = state.batch_sums[source]
    state.batch_squares[target] = state.batch_squares[source]
    state.batches[source] = 0
    state.batch_sums[source] = 0.0
    state.batch_squares[source] = 0.0
