"""What version 2 of `random_turns` remembers; settings and slots are those of version 4."""

from dataclasses import dataclass

from afterglow.policies.turns.state import KINDS, Settings, columns


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
    freedom: int  # degrees of freedom; 0 before the first estimate
    noise: float  # variance of a row of weight 1
    kind: int  # of level, that fits best
    total: float  # of all steps


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
        effects=[0.0] * K, errors=[0.0] * K * K, freedom=0, noise=0.0, kind=0, total=0.0,
    )  # fmt: skip
