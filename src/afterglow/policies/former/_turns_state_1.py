r"""What `random_turns` remembers, and how a slot becomes a row of its regression.

A season of $P$ steps is cut into $n$ *slots* of about half a window, the same ones in every season. The rows of the
regression are the mean totals of slots. Lags are in two *bins*, the first and the second half of the window, and a slot
on arm $a$ after slots on $b$ and $c$ fills them with shares of these three, as `Settings.reach` says.
"""

from dataclasses import dataclass

BACK = 3  # slots that a window reaches into, the present one included
KINDS = 6  # of noise that are tried:
THETAS = (0.5, 0.95, 0.8, 0.95, 0.95, 0.95)  # how slowly the level moves,
PHIS = (0.0, 0.0, 0.0, 0.0, 0.35, 0.7)  # how much of a surprise is left a slot later,
GAINS = (0.0, 0.0, 0.15, 0.15, 0.15, 0.15)  # and how fast the season itself changes


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    window: int  # d
    horizon: int  # T, 0 if unknown
    season: int  # P, in steps; several seasons if the window is longer than one
    slots: int  # n, of a season
    turn: int  # slots of a turn
    bins: int  # of lags; one is enough for a window of one step
    reach: list[float]  # share of a bin that a slot fills, at place bin * BACK + slots ago


@dataclass
class State:
    clock: int  # t, steps played
    arm: int  # in play
    left: int  # slots to go in its turn
    known: int  # slots in sequence whose arms are known, BACK at most
    last: list[int]  # arms of the latest slots, the present one first
    pulls: list[int]  # steps of each arm
    shares: list[float]  # of turns that each arm is to have from now on
    credit: list[float]  # turns that each arm is behind its share
    rows: int  # of the regression
    due: int  # rows at which arms are estimated anew
    counts: list[int]  # rows of each slot
    row: list[float]  # the latest: initial level, arms by bins, total
    level: list[float]  # of each column under each kind of noise
    surprise: list[float]  # of the latest row
    means: list[float]  # of whitened rows, by kind, slot and column
    squares: list[float]  # products of whitened rows about the means of their slots, by kind, row and column
    work: list[float]  # a copy of one of them, to solve
    effects: list[float]  # estimated mean of each arm, less that of arm 0
    errors: list[float]  # covariances of these, row by row
    freedom: int  # degrees of freedom; 0 before the first estimate
    noise: float  # variance of a whitened row
    kind: int  # of noise, that fits best
    total: float  # of all steps


def columns(settings: Settings) -> int:
    """Of a row: the level at the start, every arm but the first in every bin, the total."""
    return 2 + settings.bins * (settings.arms - 1)


def start(settings: Settings) -> State:
    K, n, m = settings.arms, settings.slots, columns(settings)
    level = [0.0] * KINDS * m
    for kind in range(KINDS):
        level[kind * m] = -1.0
    return State(
        clock=0, arm=0, left=0, known=0, last=[0] * BACK, pulls=[0] * K, shares=[1.0 / K] * K, credit=[0.0] * K, rows=0,
        due=0, counts=[0] * n, row=[0.0] * m, level=level, surprise=[0.0] * KINDS * m, means=[0.0] * KINDS * n * m,
        squares=[0.0] * KINDS * m * m, work=[0.0] * m * m, effects=[0.0] * K, errors=[0.0] * K * K, freedom=0,
        noise=0.0, kind=0, total=0.0,
    )  # fmt: skip


def slot_at(settings: Settings, step: int) -> int:
    """The slot that a step belongs to."""
    return step % settings.season * settings.slots // settings.season


def slot_end(settings: Settings, step: int) -> int:
    """The first step after the slot that a step belongs to."""
    slot = slot_at(settings, step)
    return step - step % settings.season + -(-(slot + 1) * settings.season // settings.slots)


def slot_begin(settings: Settings, step: int) -> int:
    return step - step % settings.season + -(-slot_at(settings, step) * settings.season // settings.slots)


def take_slot(settings: Settings, state: State, arm: int, steps: int, total: float) -> None:
    """Count steps on one arm; they make a row if they are a whole slot and the arms of the slots before are known."""
    begin = state.clock
    state.clock += steps
    state.pulls[arm] += steps
    state.total += total
    if begin != slot_begin(settings, begin) or state.clock != slot_end(settings, begin):
        state.known = 0
        return
    for ago in range(BACK - 1, 0, -1):
        state.last[ago] = state.last[ago - 1]
    state.last[0] = arm
    state.known = min(BACK, state.known + 1)
    if state.known == BACK:
        fill_row(settings, state, total / steps)
        for kind in range(KINDS):
            whiten(settings, state, kind, slot_at(settings, begin))
        state.counts[slot_at(settings, begin)] += 1
        state.rows += 1


def fill_row(settings: Settings, state: State, mean: float) -> None:
    m = columns(settings)
    for column in range(m):
        state.row[column] = 0.0
    for side in range(settings.bins):
        for ago in range(BACK):
            if state.last[ago] > 0:
                place = side * (settings.arms - 1) + state.last[ago]
                state.row[place] += settings.reach[side * BACK + ago]
    state.row[m - 1] = mean


def whiten(settings: Settings, state: State, kind: int, slot: int) -> None:
    """Take out of a row what the level, the surprise before and its slot explain, and add up the squares of the rest.

    With a gain of 0 this is the sum of squares about the means of slots (Welford 1962); with another, slots move, and
    the rest of a row has the variance of the noise times 1/(1 - gain/2) once they have been met often.
    """
    m = columns(settings)
    first = kind * m
    mean = (kind * settings.slots + slot) * m
    square = kind * m * m
    count = state.counts[slot]
    gain = max(GAINS[kind], 1.0 / (count + 1))
    scale = min(count / (count + 1), 1.0 - 0.5 * GAINS[kind])
    for i in range(m):
        surprise = state.row[i] - state.level[first + i]
        state.level[first + i] += (1.0 - THETAS[kind]) * surprise
        state.work[i] = surprise - PHIS[kind] * state.surprise[first + i] - state.means[mean + i]
        state.surprise[first + i] = surprise
        state.means[mean + i] += gain * state.work[i]
    if count > 0:
        for i in range(m):
            for j in range(m):
                state.squares[square + i * m + j] += state.work[i] * state.work[j] * scale
