"""Settings and state of `panel-elimination`, and how a slot enters its sums.

The regression has a column for each arm and one for each unit. For the window alarm there is one more for each arm, its
remains: in the first counted slot after a change it is 1 for the arm that a unit has left and -1 for the one that it is
on. A slot's own effect is taken out of everything: values and columns are centred at their
weighted mean over the units that are counted in it. So the normal matrix is, with weights w and the sum over slots,

    S = sum_slots (Z' W Z - g g' / Q),   g = Z' w,   Q = sum of the counted weights.

Its rows of arms are kept as they are (`arm_arm`, `arm_unit`). Its block of units is a diagonal (`unit_weight`) less
one rank for each set of units that were counted together: q q' times the sum of 1/Q, with q the weights of the set.
Such sets are few unless many totals are missing, so they are kept in a table; when it is full, later sets are added
to a dense matrix (`dense`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

SETS = 24  # sets of units in the table
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
    set_weights: list[float]  # SETS x M, q
    set_sums: list[float]  # SETS, sums of 1/Q
    dense: list[float]  # M x M, of the sets that the table had no room for
    dense_slots: int


@dataclass
class State(Sums):
    before: list[int]  # the arm that each unit has left; -1 if it had none


def start(settings: Settings) -> State:
    arms, units = settings.arms, settings.units
    first = [0] * units
    runs = [0] * arms
    for place in range(units):
        arm = settings.labels[place % arms]
        first[settings.order[place]] = arm
        runs[arm] += 1
    columns = 2 * arms
    return State(
        first, list(settings.labels), arms, 0, settings.washout + 1, 0, [0] * units, list(settings.levels), 0, 0, 0,
        [0] * arms, runs, 0.0, [0.0] * (columns * columns), [0.0] * (columns * units), [0.0] * columns,
        [0.0] * units, [0.0] * units, 0, [0.0] * (SETS * units), [0.0] * SETS, [0.0] * (units * units), 0,
        [-1] * units,
    )  # fmt: skip


def count_slot(settings: Settings, state: State, known: Sequence[int], bodies: Sequence[float]) -> None:
    """Add a whole slot: of the units whose totals are known and whose arm has lasted longer than the washout."""
    weights = [0.0] * settings.units  # 0: not counted
    values = [0.0] * settings.units
    total = weigh(settings, state, known, bodies, weights, values)
    if total > 0.0:
        add_columns(settings, state, weights, values, total)


def weigh(
    settings: Settings, state: Sums, known: Sequence[int], bodies: Sequence[float], weights: list[float],
    values: list[float],
) -> float:  # fmt: skip
    """Fill in weights and centred values times weights, and add what belongs to units; the sum of weights, or 0."""
    units = settings.units
    count = 0
    total = 0.0
    middle = 0.0
    for unit in range(units):
        if known[unit] == settings.slot and state.age[unit] >= settings.washout:
            if state.levels[unit] == 0.0 and abs(bodies[unit]) > LEAST_LEVEL * settings.slot:
                state.levels[unit] = abs(bodies[unit]) / settings.slot
            if state.levels[unit] > 0.0:
                weight = settings.weights[unit]
                value = bodies[unit] / (settings.slot * state.levels[unit])
                weights[unit] = weight
                values[unit] = value
                count += 1
                total += weight
                middle += weight * value
    if count < 2:
        return 0.0
    middle /= total
    state.cells += count
    state.slots += 1
    for unit in range(units):
        weight = weights[unit]
        if weight > 0.0:
            away = values[unit] - middle
            state.yy += weight * away * away
            state.unit_value[unit] += weight * away
            state.unit_weight[unit] += weight
            values[unit] = weight * away
    note_set(settings, state, weights, total)
    return total


def add_columns(
    settings: Settings, state: State, weights: Sequence[float], values: Sequence[float], total: float
) -> None:
    """Add the columns of arms; a slot in which all units are on one arm, none of them for the first time, adds none."""
    arms, units = settings.arms, settings.units
    columns = 2 * arms
    sums = [0.0] * columns
    kinds = 0
    firsts = 0
    for unit in range(units):
        if weights[unit] > 0.0:
            arm = state.arms[unit]
            state.arm_cells[arm] += 1
            kinds += sums[arm] == 0.0
            sums[arm] += weights[unit]
            firsts += state.age[unit] == settings.washout
    if kinds == 1 and firsts == 0:
        return
    for unit in range(units):
        if weights[unit] > 0.0:
            arm = state.arms[unit]
            state.arm_unit[arm * units + unit] += weights[unit]
            state.arm_value[arm] += values[unit]
            if state.age[unit] == settings.washout and state.before[unit] >= 0:
                add_remains(settings, state, unit, weights[unit], values[unit], sums)
    for row in range(columns):
        if sums[row] != 0.0:
            if row < arms:
                state.arm_arm[row * columns + row] += sums[row]
            share = sums[row] / total
            for column in range(columns):
                if sums[column] != 0.0:
                    state.arm_arm[row * columns + column] -= share * sums[column]
            begin = row * units
            for unit in range(units):
                if weights[unit] > 0.0:
                    state.arm_unit[begin + unit] -= share * weights[unit]


def add_remains(
    settings: Settings, state: State, unit: int, weight: float, value: float, sums: list[float]
) -> None:  # fmt: skip
    """Add the remains of a unit's first counted slot after a change; `value` has its weight in it."""
    arms, units = settings.arms, settings.units
    columns = 2 * arms
    arm = state.arms[unit]
    left, here = arms + state.before[unit], arms + arm
    sums[left] += weight
    sums[here] -= weight
    state.arm_value[left] += value
    state.arm_value[here] -= value
    state.arm_unit[left * units + unit] += weight
    state.arm_unit[here * units + unit] -= weight
    state.arm_arm[left * columns + arm] += weight
    state.arm_arm[arm * columns + left] += weight
    state.arm_arm[here * columns + arm] -= weight
    state.arm_arm[arm * columns + here] -= weight
    state.arm_arm[left * columns + left] += weight
    state.arm_arm[here * columns + here] += weight
    state.arm_arm[left * columns + here] -= weight
    state.arm_arm[here * columns + left] -= weight


def note_set(settings: Settings, state: Sums, weights: Sequence[float], total: float) -> None:
    """Note which units were counted together."""
    units = settings.units
    for place in range(state.sets):
        begin = place * units
        same = True
        for unit in range(units):
            if state.set_weights[begin + unit] != weights[unit]:
                same = False
                break
        if same:
            state.set_sums[place] += 1.0 / total
            return
    if state.sets < SETS:
        begin = state.sets * units
        for unit in range(units):
            state.set_weights[begin + unit] = weights[unit]
        state.set_sums[state.sets] = 1.0 / total
        state.sets += 1
        return
    state.dense_slots += 1
    for row in range(units):
        if weights[row] > 0.0:
            share = weights[row] / total
            begin = row * units
            for unit in range(units):
                state.dense[begin + unit] += share * weights[unit]
