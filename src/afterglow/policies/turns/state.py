r"""What `random_turns` remembers, and the slots that it cuts a season into.

A season of $P$ steps is cut into $n$ *slots* of about a sixth of a window, the same ones in every season. The rows of
the regression are the mean totals of slots (`turns.rows`).
"""

from dataclasses import dataclass

KINDS = 3  # of moving levels that are tried:
MEMORY = (0.7, 0.85, 0.97)  # how much of the level is kept from slot to slot


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    window: int  # d
    horizon: int  # T, 0 if unknown
    season: int  # P, in steps; several seasons if a slot is longer than one
    slots: int  # n, of a season
    turn: int  # slots of a turn
    bins: int  # of lags; one is enough for a window of one step
    back: int  # slots that a window reaches into, the present one included
    reach: list[float]  # share of a bin that a slot fills, at place bin * back + slots ago


@dataclass
class State:
    clock: int  # t, steps played
    arm: int  # in play
    left: int  # slots to go in its turn
    known: int  # slots in sequence whose arms are known, `back` at most
    last: list[int]  # arms of the latest slots, the present one first
    demand: list[float]  # of these slots, relative to the mean
    pulls: list[int]  # steps of each arm
    shares: list[float]  # of turns that each arm is to have from now on
    credit: list[float]  # turns that each arm is behind its share
    rows: int  # of the regression
    repeats: int  # rows whose slot was met before
    due: int  # rows at which arms are estimated anew
    counts: list[int]  # rows of each slot
    usual: list[float]  # mean total of each slot
    row: list[float]  # the latest: initial level, arms by bins, total
    level: list[float]  # of each column under each kind of level
    means: list[float]  # of surprises, by kind, slot and column
    own: list[float]  # variance of what is left, by kind and slot
    common: list[float]  # the same of all slots, by kind
    logs: list[float]  # sums of the logarithms of the variances that rows were weighted by, by kind
    weight: list[float]  # of all rows, by kind
    run: list[float]  # sum of the surprises of as many rows as a turn has, each over its deviation, by kind
    run_squares: list[float]  # of these sums
    row_squares: list[float]  # of the single surprises
    squares: list[float]  # weighted products of surprises about the means of their slots, by kind, row and column
    slopes: list[float]  # estimated last for each column but the total's, by kind
    work: list[float]  # a copy of the squares of one kind, to solve
    effects: list[float]  # estimated mean of each arm, less that of arm 0
    errors: list[float]  # covariances of these, row by row
    turns: int  # with rows, since the first estimate
    scores: list[float]  # sums of weighted surprises times columns over the turn in play, by kind
    products: list[float]  # of these sums at the ends of turns, by kind, row and column
    robust: list[float]  # covariances of the effects by the scatter of turns, row by row
    freedom: int  # degrees of freedom; 0 before the first estimate
    noise: float  # variance of a row of weight 1
    kind: int  # of level, that fits best
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
        clock=0, arm=0, left=0, known=0, last=[0] * settings.back, demand=[1.0] * settings.back, pulls=[0] * K,
        shares=[1.0 / K] * K, credit=[0.0] * K, rows=0, repeats=0, due=0, counts=[0] * n, usual=[0.0] * n,
        row=[0.0] * m, level=level, means=[0.0] * KINDS * n * m, own=[0.0] * KINDS * n, common=[0.0] * KINDS,
        logs=[0.0] * KINDS, weight=[0.0] * KINDS, run=[0.0] * KINDS, run_squares=[0.0] * KINDS,
        row_squares=[0.0] * KINDS, squares=[0.0] * KINDS * m * m, slopes=[0.0] * KINDS * m, work=[0.0] * m * m,
        effects=[0.0] * K, errors=[0.0] * K * K, turns=0, scores=[0.0] * KINDS * m, products=[0.0] * KINDS * m * m,
        robust=[0.0] * K * K, freedom=0, noise=0.0, kind=0, total=0.0,
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
