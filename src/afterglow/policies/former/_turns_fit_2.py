r"""The regression of `random_turns`: differences between arms and their errors, with the level that fits best.

Every row is taken apart with every kind of level as it comes in (`_turns_rows`), so the normal equations are at hand.
The sweep operator (Beaton 1964) turns them into coefficients, their covariances and what is left of the squares. The
kind under which the rows are most likely is used: all of them predict the next row, so they can be compared.

What is left of neighbouring rows may still be alike. Surprises are added up over as many rows as a turn has; the
variance of such sums, over that of single ones times their number, is by how much the noise of a turn exceeds that of
rows without memory. Where it is above 1, squared errors are multiplied by it.
"""

import math

from afterglow.addition import added
from afterglow.policies.contrasts import Contrasts
from afterglow.policies.former._turns_state_2 import State
from afterglow.policies.turns.state import KINDS, Settings, columns

SINGULAR = 1e-9  # share of a column's squares below which nothing of it is left that other columns don't explain
TINY = 1e-300
WIDER = 1.15  # of reported errors: turns depend on what was seen, which least squares doesn't know
UNEVEN = 0.1  # share of a difference by which effects that are not alike in busy and quiet hours put it wrong
RUNS = 5.0  # that count for a start,
LASTING = 1.5  # with this excess of the noise of a turn
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
    m = columns(settings)
    state.freedom = degrees(settings, state)
    if state.freedom < FEWEST:
        state.freedom = 0
        return
    best = 0
    least = math.inf
    squares = 0.0
    for kind in range(KINDS):
        left = solve(settings, state, kind)
        for column in range(m - 1):
            state.slopes[kind * m + column] = state.work[column * m + m - 1]
        unlikely = state.repeats * math.log(max(left, TINY)) + state.logs[kind]
        if unlikely < least:
            least = unlikely
            best = kind
            squares = left
    state.kind = best
    solve(settings, state, best)
    state.noise = squares / state.freedom * excess(settings, state, best)
    read(settings, state)


def excess(settings: Settings, state: State, kind: int) -> float:
    """By how much the noise of a turn exceeds that of rows without memory, 1 at least."""
    rows = RUNS * settings.turn
    return max(1.0, (state.run_squares[kind] + rows * LASTING) / (state.row_squares[kind] + rows))


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
    """The standard error of the difference of two arms, as the regression has it."""
    K = settings.arms
    both = state.errors[arm * K + arm] + state.errors[other * K + other]
    return math.sqrt(max(0.0, both - state.errors[arm * K + other] - state.errors[other * K + arm]))


def contrasts(settings: Settings, state: State) -> Contrasts | None:
    """What the regression says of all arms, with errors as they are reported; None before the first estimate."""
    if state.freedom == 0 or state.weight[state.kind] <= 0.0:
        return None
    pairs = list(zip(state.pulls, state.effects, strict=True))
    level = (state.total - added(pulls * effect for pulls, effect in pairs)) / state.clock
    slot = settings.season / settings.slots
    products = [UNEVEN * UNEVEN * one * other for one in state.effects for other in state.effects]
    return Contrasts(
        tuple(level + effect for effect in state.effects),
        tuple(WIDER * WIDER * value + more for value, more in zip(state.errors, products, strict=True)),
        state.freedom, WIDER * WIDER * state.noise * state.repeats / state.weight[state.kind],
        settings.horizon / slot / settings.turn,
        slot,
        played=tuple(state.pulls),
    )  # fmt: skip
