"""Settings and state of `panel-elimination`.

The regression has a column for each arm and one for each unit. For the window alarm there is one more for each arm, its
remains: in the first counted slot after a change it is 1 for the arm that a unit has left and -1 for the one that it is
on. A slot's own effect is taken out of everything: values and columns are centred at their
weighted mean over the units that are counted in it. So the normal matrix is, with weights w and the sum over slots,

    S = sum_slots (Z' W Z - g g' / Q),   g = Z' w,   Q = sum of the counted weights.

Its rows of arms are kept as they are (`arm_arm`, `arm_unit`). Its block of units is a diagonal (`unit_weight`) less
one rank for each set of units that were counted together: q q' times the sum of 1/Q, with q the weights of the set.
Such sets are few unless many totals are missing, so they are kept in a table. `sets.py` says what becomes of a set that
the table has no room for.
"""

from dataclasses import dataclass

SETS = 24  # sets of units in the table of a few units
FEW = 40  # units: up to here the units' block is small enough to be factorised at the end of a stage
COLUMNS = 24  # of more units: arms and sets in all
LEAST_LEVEL = 1e-30  # of a unit: below it totals are taken as 0


@dataclass(frozen=True)
class Settings:
    arms: int  # K
    units: int  # M
    window: int  # d
    horizon: int  # T
    slot: int  # b, steps
    washout: int  # W, slots
    commit: int  # steps after which the best arm is kept; 0: arms are dropped one by one
    told: int  # 1 if levels are told
    levels: list[float]  # mean totals of a step before the start, 0 if they are not told
    weights: list[float]
    order: list[int]  # the units by place
    labels: list[int]  # the arms in the order in which they are dealt


@dataclass
class Sums:
    """What the regression and the plan need, without the window alarm's own."""

    arms: list[int]  # of each unit
    alive: list[int]  # the arms in play, in the order of labels; the first `arms_left` of it count
    arms_left: int
    stage: int
    slots_left: int  # of the stage
    clock: int  # steps
    age: list[int]  # whole slots that each unit has been on its arm
    levels: list[float]  # 0 until one is known
    cells: int  # counted unit-slots
    slots: int  # counted slots
    alarms: int  # 1 once the window was found too short
    arm_cells: list[int]  # counted unit-slots of each arm
    arm_runs: list[int]  # times that a unit was put on each arm
    yy: float
    arm_arm: list[float]  # 2K x 2K: arms, then their remains
    arm_unit: list[float]  # 2K x M
    arm_value: list[float]  # 2K, columns times values
    unit_weight: list[float]  # M, the diagonal of the units' block
    unit_value: list[float]  # M
    sets: int  # sets in the table
    set_weights: list[float]  # room x M, q; of more than FEW units sums of q
    set_sums: list[float]  # room, sums of 1/Q; of more than FEW units 1 over sums of Q
    dense: list[float]  # M x M, of the sets that the table had no room for; of more than FEW units nothing
    dense_slots: int


@dataclass
class Watched(Sums):
    """With what the window alarm needs."""

    before: list[int]  # the arm that each unit has left; -1 if it had none


@dataclass
class State(Watched):
    variance: float  # of more than FEW units: as fitted before the last slot of a stage


def starting_variance(settings: Settings) -> float:
    """v0: a quarter of the level, in every step anew."""
    return 0.0625 / settings.slot


def room(settings: Settings) -> int:
    """Sets of units that the table has room for: with many units so few that a fit takes no longer than it may."""
    return SETS if settings.units <= FEW else COLUMNS - settings.arms


def start(settings: Settings) -> State:
    arms, units = settings.arms, settings.units
    first = [0] * units
    runs = [0] * arms
    for place in range(units):
        arm = settings.labels[place % arms]
        first[settings.order[place]] = arm
        runs[arm] += 1
    columns, sets, square = 2 * arms, room(settings), units * units if units <= FEW else 0
    return State(
        first, list(settings.labels), arms, 0, settings.washout + 1, 0, [0] * units, list(settings.levels), 0, 0, 0,
        [0] * arms, runs, 0.0, [0.0] * (columns * columns), [0.0] * (columns * units), [0.0] * columns,
        [0.0] * units, [0.0] * units, 0, [0.0] * (sets * units), [0.0] * sets, [0.0] * square, 0,
        [-1] * units, starting_variance(settings),
    )  # fmt: skip
