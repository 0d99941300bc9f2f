"""The state of version 1 of `panel-elimination`, and how a slot enters its sums.

As now (`panel/counting.py`), but the table of sets has a dense matrix beside it for any number of units, and the
columns of the window alarm are those of arms in their first counted slot after a change, whichever arm was before.
"""

from collections.abc import Sequence

from afterglow.policies.panel.counting import weigh
from afterglow.policies.panel.sets import note_set
from afterglow.policies.panel.state import SETS, Settings, Sums


def start(settings: Settings) -> Sums:
    arms, units = settings.arms, settings.units
    first = [0] * units
    runs = [0] * arms
    for place in range(units):
        arm = settings.labels[place % arms]
        first[settings.order[place]] = arm
        runs[arm] += 1
    columns = 2 * arms
    return Sums(
        first, list(settings.labels), arms, 0, settings.washout + 1, 0, [0] * units, list(settings.levels), 0, 0, 0,
        [0] * arms, runs, 0.0, [0.0] * (columns * columns), [0.0] * (columns * units), [0.0] * columns,
        [0.0] * units, [0.0] * units, 0, [0.0] * (SETS * units), [0.0] * SETS, [0.0] * (units * units), 0,
    )  # fmt: skip


def count_slot(settings: Settings, state: Sums, known: Sequence[int], bodies: Sequence[float]) -> None:
    """Add a whole slot: of the units whose totals are known and whose arm has lasted longer than the washout."""
    weights = [0.0] * settings.units  # 0: not counted
    values = [0.0] * settings.units
    total = weigh(settings, state, known, bodies, weights, values)
    if total > 0.0:
        note_set(settings, state, weights, total)
        add_columns(settings, state, weights, values, total)


def add_columns(
    settings: Settings, state: Sums, weights: Sequence[float], values: Sequence[float], total: float
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
            if state.age[unit] == settings.washout:
                sums[arms + arm] += weights[unit]
                firsts += 1
    if kinds == 1 and firsts == 0:
        return
    for unit in range(units):
        if weights[unit] > 0.0:
            arm = state.arms[unit]
            state.arm_unit[arm * units + unit] += weights[unit]
            state.arm_value[arm] += values[unit]
            if state.age[unit] == settings.washout:
                state.arm_unit[(arms + arm) * units + unit] += weights[unit]
                state.arm_value[arms + arm] += values[unit]
    for row in range(columns):
        if sums[row] > 0.0:
            state.arm_arm[row * columns + row] += sums[row]
            if row >= arms:
                state.arm_arm[row * columns + row - arms] += sums[row]
                state.arm_arm[(row - arms) * columns + row] += sums[row]
            share = sums[row] / total
            for column in range(columns):
                if sums[column] > 0.0:
                    state.arm_arm[row * columns + column] -= share * sums[column]
            begin = row * units
            for unit in range(units):
                if weights[unit] > 0.0:
                    state.arm_unit[begin + unit] -= share * weights[unit]
