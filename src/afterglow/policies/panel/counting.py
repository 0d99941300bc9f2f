"""How a slot enters the sums of `panel-elimination`."""

from collections.abc import Sequence

from afterglow.policies.panel.sets import note_like, note_set
from afterglow.policies.panel.state import FEW, LEAST_LEVEL, Settings, State, Sums, Watched


def count_slot(settings: Settings, state: State, known: Sequence[int], bodies: Sequence[float]) -> None:
    """Add a whole slot: of the units whose totals are known and whose arm has lasted longer than the washout."""
    weights = [0.0] * settings.units  # 0: not counted
    values = [0.0] * settings.units
    total = weigh(settings, state, known, bodies, weights, values)
    if total > 0.0:
        if settings.units <= FEW:
            note_set(settings, state, weights, total)
        else:
            note_like(settings, state, weights, total)
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
    return total


def add_columns(
    settings: Settings, state: Watched, weights: Sequence[float], values: Sequence[float], total: float
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
    settings: Settings, state: Watched, unit: int, weight: float, value: float, sums: list[float]
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
