r"""Rotation, the fixed schedule used for comparison: every arm in turn, for the same time.

It is the usual switchback experiment: hold each arm for the same number of steps, leave out the first $d - 1$ of each
turn, compare the means. From step `commit` on the arm of largest mean is played; with `commit` at the horizon, arms are
rotated to the end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import whole
from afterglow.policies.policy import Policy


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d
    hold: int  # counted steps of a turn
    commit: int  # step from which on the best arm is kept


@dataclass
class State:
    counts: list[int]  # counted steps
    sums: list[float]  # totals seen in them
    clock: int  # steps played
    turn: int  # arm whose turn is next
    last: int  # arm just played, -1 before the first hold


def configure(arms: int, window: int, horizon: int, hold: int | None = None, commit: int | None = None) -> Settings:
    """`hold` is a window unless set, `commit` half the horizon."""
    window = whole("window", window, 1, "1 = paid at once")
    steps = window if hold is None else whole("hold", hold, 1)
    half = whole("horizon", horizon, 1) // 2
    return Settings(whole("arms", arms, 2), window, steps, half if commit is None else whole("commit", commit, 0))


def start(settings: Settings) -> State:
    return State([0] * settings.arms, [0.0] * settings.arms, 0, 0, -1)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    arm = state.turn
    if state.clock >= settings.commit:
        arm = best(settings, state)
    washout = 0 if arm == state.last else settings.window - 1
    return arm, washout + settings.hold, washout


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.counts[arm] += steps - split
    state.sums[arm] += body
    state.clock += steps
    state.last = arm
    if state.clock < settings.commit:
        state.turn = (arm + 1) % settings.arms


def best(settings: Settings, state: State) -> int:
    """The arm of largest mean; untried arms come last and a tie goes to the lowest."""
    chosen = 0
    top = -math.inf
    for arm in range(settings.arms):
        if state.counts[arm] > 0 and state.sums[arm] / state.counts[arm] > top:
            top = state.sums[arm] / state.counts[arm]
            chosen = arm
    return chosen


rotation = Policy(
    "rotation", Settings, State, start, next_hold, learn, configure, best,
    summary="every arm in turn for the same time, then the best to the end",
    guarantee="none: the schedule is fixed before the start",
    source="switchback experiments",
)  # fmt: skip
