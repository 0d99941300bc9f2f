"""The normal equations of `panel-elimination`, solved in flat lists.

The units are eliminated first. Their block is a diagonal less a few ranks, E - sum_p s_p q_p q_p', whose inverse is
found by Woodbury's identity; with a dense part it is factorised. What is left is a small system over the arms.
Products of rows are written with `zip` over slices, which plain Python runs at half the time of indices.
"""

import math
from collections.abc import Sequence

from afterglow.policies.panel.state import Settings, State

TINY = 1e-9  # ridge of arms, whose common level is not determined


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The inner product of two rows."""
    total = 0.0
    for x, y in zip(one, other):  # noqa: B905  compiled code has no strict
        total += x * y
    return total


def factorise(matrix: list[float], size: int) -> None:
    """Cholesky: the lower triangle of a symmetric positive definite matrix becomes L with L L' = matrix."""
    for i in range(size):
        row = i * size
        for j in range(i + 1):
            column = j * size
            rest = matrix[row + j] - dot(matrix[row : row + j], matrix[column : column + j])
            if i == j:
                matrix[row + i] = math.sqrt(max(rest, 1e-300))
            else:
                matrix[row + j] = rest / matrix[column + j]


def forward(lower: list[float], size: int, row: list[float]) -> None:
    """L^-1 row, in place."""
    for i in range(size):
        begin = i * size
        row[i] = (row[i] - dot(lower[begin : begin + i], row[:i])) / lower[begin + i]


def backward(lower: list[float], size: int, row: list[float]) -> None:
    """L'^-1 row, in place."""
    for i in range(size - 1, -1, -1):
        row[i] /= lower[i * size + i]
        for j in range(i):
            row[j] -= lower[i * size + j] * row[i]


def units_block(settings: Settings, state: State, ridge: float) -> list[float]:
    """The lower factor of the units' block, for when it has a dense part."""
    units = settings.units
    block = [0.0] * (units * units)
    for i in range(units):
        for j in range(i + 1):
            block[i * units + j] = -state.dense[i * units + j]
        block[i * units + i] += state.unit_weight[i] + ridge
    for place in range(state.sets):
        begin = place * units
        share = state.set_sums[place]
        for i in range(units):
            part = share * state.set_weights[begin + i]
            if part > 0.0:
                for j in range(i + 1):
                    block[i * units + j] -= part * state.set_weights[begin + j]
    factorise(block, units)
    return block


def sets_block(settings: Settings, state: State, roots: Sequence[float]) -> tuple[list[float], list[float]]:
    """Rows q_p / roots, and the lower factor of Woodbury's small matrix 1/s - q E^-1 q'."""
    units, sets = settings.units, state.sets
    scaled = [0.0]
    scaled.pop()
    for place in range(sets):
        scaled += [x / root for x, root in zip(state.set_weights[place * units : (place + 1) * units], roots)]  # noqa: B905
    small = [0.0] * (sets * sets)
    for i in range(sets):
        row = scaled[i * units : (i + 1) * units]
        for j in range(i + 1):
            small[i * sets + j] = -dot(row, scaled[j * units : (j + 1) * units])
        small[i * sets + i] += 1.0 / state.set_sums[i]
    factorise(small, sets)
    return scaled, small


def row_of(settings: Settings, state: State, rows: int, row: int) -> list[float]:
    """A row of arms over the units; the last is the units' values."""
    if row == rows:
        return [x for x in state.unit_value]  # noqa: C416  a copy in plain and compiled code
    return [x for x in state.arm_unit[row * settings.units : (row + 1) * settings.units]]  # noqa: C416


def whitened(
    settings: Settings, state: State, rows: int, roots: Sequence[float], scaled: list[float], factor: list[float]
) -> list[float]:
    """Rows of arms and of the units' values, such that their inner products are those with A_uu^-1."""
    units, sets = settings.units, state.sets
    wide = [0.0]
    wide.pop()
    for row in range(rows + 1):
        line = row_of(settings, state, rows, row)
        if state.dense_slots > 0:
            forward(factor, units, line)
            wide += line
        else:
            line = [x / root for x, root in zip(line, roots)]  # noqa: B905
            part = [dot(line, scaled[place * units : (place + 1) * units]) for place in range(sets)]
            forward(factor, sets, part)
            wide += line
            wide += part
    return wide


def units_effects(
    settings: Settings,
    state: State,
    roots: Sequence[float],
    scaled: list[float],
    factor: list[float],
    line: list[float],
) -> list[float]:
    """A_uu^-1 times what became `line` when it was whitened."""
    units, sets = settings.units, state.sets
    if state.dense_slots > 0:
        backward(factor, units, line)
        return line
    part = line[units:]
    backward(factor, sets, part)
    effects = line[:units]
    for place in range(sets):
        for unit in range(units):
            effects[unit] += part[place] * scaled[place * units + unit]
    return [x / root for x, root in zip(effects, roots)]  # noqa: B905


def inverse(lower: list[float], size: int, first: int) -> list[float]:
    """The block of (L L')^-1 from row and column `first` on: that of L's own block."""
    block = size - first
    made = [0.0] * (block * block)
    for i in range(block):
        line = [0.0] * block
        line[i] = 1.0
        for j in range(i, block):
            begin = (first + j) * size + first
            line[j] = (line[j] - dot(lower[begin : begin + j], line[:j])) / lower[begin + j]
        for j in range(block - 1, -1, -1):
            begin = (first + j) * size + first
            line[j] /= lower[begin + j]
            part = line[j]
            for k in range(j):
                line[k] -= lower[begin + k] * part
        for j in range(block):
            made[i * block + j] = line[j]
    return made


def solve(settings: Settings, state: State, rows: int, ridge: float) -> tuple[list[float], list[float], float]:
    """Effects of the first `rows` columns of arms, the lower factor of their system, and the residual squares."""
    units, columns = settings.units, 2 * settings.arms
    roots = [0.0]
    scaled = [0.0]
    if state.dense_slots > 0:
        factor = units_block(settings, state, ridge)
        width = units
    else:
        roots = [math.sqrt(state.unit_weight[unit] + ridge) for unit in range(units)]
        scaled, factor = sets_block(settings, state, roots)
        width = units + state.sets
    wide = whitened(settings, state, rows, roots, scaled, factor)
    last = wide[rows * width :]
    least = TINY
    for i in range(rows):
        least = max(least, TINY * state.arm_arm[i * columns + i])
    system = [0.0] * (rows * rows)
    effects = [0.0] * rows
    for i in range(rows):
        line = wide[i * width : (i + 1) * width]
        effects[i] = state.arm_value[i] - dot(line, last)
        for j in range(i + 1):
            system[i * rows + j] = state.arm_arm[i * columns + j] - dot(line, wide[j * width : (j + 1) * width])
        system[i * rows + i] += least
    factorise(system, rows)
    forward(system, rows, effects)
    backward(system, rows, effects)
    squares = state.yy
    for i in range(rows):
        squares -= effects[i] * (state.arm_value[i] + least * effects[i])
        for place in range(width):
            last[place] -= effects[i] * wide[i * width + place]
    levels = units_effects(settings, state, roots, scaled, factor, last)
    for unit in range(units):
        squares -= levels[unit] * (state.unit_value[unit] + ridge * levels[unit])
    return effects, system, max(0.0, squares)
