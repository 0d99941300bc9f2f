r"""The regression of `random_turns`: differences between arms and their errors, under the kind of noise that fits best.

All rows are whitened for every kind of noise and centred by slot as they come in (`_turns_state`), so the normal
equations are at hand. The sweep operator (Beaton 1964) turns them into coefficients, their covariances and what is left
of the squares. The kind that leaves least is used: all of them predict the next row, so their squares can be compared.
"""

import math

from afterglow.addition import added
from afterglow.policies.contrasts import Contrasts
from afterglow.policies.former._turns_state_1 import KINDS, Settings, State, columns

SINGULAR = 1e-9  # share of a column's squares below which nothing of it is left that other columns don't explain
WIDER = 1.15  # of reported errors: shares of turns depend on what was seen, which least squares doesn't know
FEWEST = 12  # degrees of freedom from which on there is an estimate


def degrees(settings: Settings, state: State) -> int:
    """Rows less slots seen, the initial level, and what arms explain."""
    seen = 0
    for slot in range(settings.slots):
        if state.counts[slot] > 0:
            seen += 1
    return state.rows - seen - 1 - settings.bins * (settings.arms - 1)


def estimate(settings: Settings, state: State) -> None:
    """Estimate the arms anew, if there are rows enough."""
    state.freedom = degrees(settings, state)
    if state.freedom < FEWEST:
        state.freedom = 0
        return
    best = -1
    least = math.inf
    for kind in range(KINDS):
        left = solve(settings, state, kind)
        if left < least:
            least = left
            best = kind
    state.kind = best
    solve(settings, state, best)
    state.noise = least / state.freedom
    read(settings, state)


def solve(settings: Settings, state: State, kind: int) -> float:
    """Sweep all columns but the total's; the squares that are left."""
    m = columns(settings)
    work = state.work
    for i in range(m * m):
        work[i] = state.squares[kind * m * m + i]
    for k in range(m - 1):
        pivot = work[k * m + k]
        if pivot > SINGULAR * state.squares[kind * m * m + k * m + k] and pivot > 0.0:
            for i in range(m):
                if i != k:
                    factor = work[i * m + k] / pivot
                    for j in range(m):
                        if j != k:
                            work[i * m + j] -= factor * work[k * m + j]
            for i in range(m):
                if i != k:
                    work[i * m + k] = work[i * m + k] / pivot
                    work[k * m + i] = work[k * m + i] / pivot
            work[k * m + k] = -1.0 / pivot
        else:
            for i in range(m):
                work[i * m + k] = 0.0
                work[k * m + i] = 0.0
    return max(0.0, work[m * m - 1])


def read(settings: Settings, state: State) -> None:
    """Add up an arm's bins, once for the effects and once for their covariances."""
    m, K = columns(settings), settings.arms
    for arm in range(1, K):
        state.effects[arm] = 0.0
        for side in range(settings.bins):
            state.effects[arm] += state.work[(side * (K - 1) + arm) * m + m - 1]
        for other in range(1, K):
            total = 0.0
            for side in range(settings.bins):
                for far in range(settings.bins):
                    total -= state.work[(side * (K - 1) + arm) * m + far * (K - 1) + other]
            state.errors[arm * K + other] = state.noise * total


def error(settings: Settings, state: State, arm: int, other: int) -> float:
    """The standard error of the difference of two arms."""
    K = settings.arms
    both = state.errors[arm * K + arm] + state.errors[other * K + other]
    return math.sqrt(max(0.0, both - state.errors[arm * K + other] - state.errors[other * K + arm]))


def contrasts(settings: Settings, state: State) -> Contrasts | None:
    """What the regression says of all arms; None before the first estimate."""
    if state.freedom == 0:
        return None
    pairs = list(zip(state.pulls, state.effects, strict=True))
    level = (state.total - added(pulls * effect for pulls, effect in pairs)) / state.clock
    slot = settings.season / settings.slots
    rows = max(settings.horizon / slot, 160.0 * settings.arms)  # intervals are sharpest around 4 rows at least
    return Contrasts(
        tuple(level + effect for effect in state.effects), tuple(WIDER * WIDER * value for value in state.errors),
        state.freedom, WIDER * WIDER * state.noise, rows,
        slot,
        played=tuple(state.pulls),
    )  # fmt: skip
