r"""Elimination in phases: what phased-elimination, improved-ucb and the odaaf family share.

In phase $m$ every active arm is held, in index order, until it has $n_m$ pulls in all: a hold of
$n_m - n_{m-1}$ steps. Then an arm is dropped when the best active mean exceeds its own by more than the
margin of the phase (strictly). The schedule $n_1 < n_2 < \dots$ is what tells the algorithms apart: it
makes the margin twice the error of a mean, chance and leakage included, so that the best arm stays.

With a *bridge*, the best arm left is held for $n_m - n_{m-1}$ more steps after each phase and nothing is
learned from them: what the dropped arms still owe arrives there, and not in the next phase.

When one arm is left, or the schedule ends because $T \tilde\Delta^2 < e$, the best active arm is held to the
horizon. A hold cut by the horizon drops no arm.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.policies.index import IN_PLAY, Index


@dataclass(frozen=True)
class Settings:
    arms: int
    horizon: int  # T
    bridge: int  # 1 if a bridge follows each phase, else 0
    schedule: list[int]  # n_m, pulls of an active arm after phase m
    margins: list[float]  # what an arm must lose by to be dropped after phase m


@dataclass
class State:
    pulls: list[int]  # n_i, those that were learned from
    sums: list[float]  # S_i
    active: list[int]  # 1 until the arm is dropped
    phase: int  # phases completed
    turn: int  # the arm whose hold comes next; the number of arms stands for the bridge
    clock: int  # t, steps played


def gaps(horizon: int, first: float) -> list[float]:
    """first, first/2, first/4 ... while horizon * gap**2 >= e: the gap each phase resolves."""
    found = []
    gap = first
    while horizon * gap * gap >= math.e:
        found.append(gap)
        gap /= 2
    return found


def start(settings: Settings) -> State:
    arms = settings.arms
    return State([0] * arms, [0.0] * arms, [1] * arms, 0, 0, 0)


def next_hold(settings: Settings, state: State, draws: Sequence[float]) -> tuple[int, int, int]:
    if settled(settings, state):
        return best_active(state), max(1, settings.horizon - state.clock), 0
    arm = best_active(state) if state.turn == settings.arms else state.turn
    return arm, asked(settings, state), 0


def learn(settings: Settings, state: State, arm: int, steps: int, split: int, head: float, body: float) -> None:
    state.clock += steps
    if settled(settings, state):
        return
    whole = steps >= asked(settings, state)  # else the horizon cut it
    if state.turn < settings.arms:
        state.pulls[arm] += steps
        state.sums[arm] += head + body
        if not whole:
            return
        state.turn = next_active(state, arm + 1)
        if state.turn == settings.arms:
            drop(state, settings.margins[state.phase])
            if settings.bridge == 0:
                begin_phase(state)
    elif whole:
        begin_phase(state)


def recommend(settings: Settings, state: State) -> int:
    return best_active(state)


def settled(settings: Settings, state: State) -> bool:
    """Whether one arm is to be held to the end."""
    left = 0
    for arm in range(settings.arms):
        left += state.active[arm]
    return left == 1 or state.phase == len(settings.schedule)


def asked(settings: Settings, state: State) -> int:
    """Steps of a hold in this phase: n_m - n_{m-1}."""
    before = settings.schedule[state.phase - 1] if state.phase > 0 else 0
    return settings.schedule[state.phase] - before


def next_active(state: State, first: int) -> int:
    """The lowest active arm from `first` on; the number of arms if there is none."""
    arm = first
    while arm < len(state.active) and state.active[arm] == 0:
        arm += 1
    return arm


def begin_phase(state: State) -> None:
    state.phase += 1
    state.turn = next_active(state, 0)


def best_active(state: State) -> int:
    """The active arm of largest mean; untried arms come last and a tie goes to the lowest."""
    best = -1
    top = -math.inf
    for arm in range(len(state.active)):
        if state.active[arm] == 1:
            mean = state.sums[arm] / state.pulls[arm] if state.pulls[arm] > 0 else -math.inf
            if best < 0 or mean > top:
                best = arm
                top = mean
    return best


def drop(state: State, margin: float) -> None:
    """Drop every active arm whose mean plus `margin` is below the best mean."""
    best = best_active(state)
    top = state.sums[best] / state.pulls[best]
    for arm in range(len(state.active)):
        if state.active[arm] == 1 and state.sums[arm] / state.pulls[arm] + margin < top:
            state.active[arm] = 0


def index(settings: Settings, state: State, draws: Sequence[float]) -> Index:
    """Means of the arms that are left."""
    values = [math.nan] * settings.arms
    for arm in range(settings.arms):
        if state.active[arm] == 1:
            values[arm] = state.sums[arm] / state.pulls[arm] if state.pulls[arm] > 0 else math.inf
    return Index(values, IN_PLAY, "mean")
