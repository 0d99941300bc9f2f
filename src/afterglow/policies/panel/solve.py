"""The normal equations of `panel-elimination`, solved in flat lists.

The units are eliminated first. Their block is a diagonal less a few ranks, E - sum_p s_p q_p q_p', whose inverse is
found by Woodbury's identity; with a dense part it is factorised. What is left is a small system over the arms.
"""

import math
from collections.abc import Sequence

from afterglow.policies.panel.rows import Eight, dot, dot_eights, eights, flat, products
from afterglow.policies.panel.state import Settings, Sums

TINY = 1e-9  # ridge of arms, whose common level is not determined


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


def units_block(settings: Settings, state: Sums, ridge: float) -> list[float]:
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


def sets_block(settings: Settings, state: Sums, roots: Sequence[float]) -> tuple[list[Eight], list[float]]:
    """Rows q_p / roots, and the lower factor of Woodbury's small matrix 1/s - q E^-1 q'."""
    units, sets = settings.units, state.sets
    scaled = eights([0.0])[:0]
    small = [0.0] * (sets * sets)
    for i in range(sets):
        weights = state.set_weights[i * units : (i + 1) * units]
        row = eights([x / root for x, root in zip(weights, roots)])  # noqa: B905
        scaled += row
        found = products(row, scaled, i + 1)
        for j in range(i + 1):
            small[i * sets + j] = -found[j]
        small[i * sets + i] += 1.0 / state.set_sums[i]
    factorise(small, sets)
    return scaled, small


def row_of(settings: Settings, state: Sums, rows: int, row: int) -> list[float]:
    """A row of arms over the units; the last is the units' values."""
    if row == rows:
        return [x for x in state.unit_value]  # noqa: C416  a copy in plain and compiled code
    return [x for x in state.arm_unit[row * settings.units : (row + 1) * settings.units]]  # noqa: C416


def whiten(
    settings: Settings, state: Sums, line: list[float], roots: Sequence[float], scaled: list[Eight],
    factor: list[float],
) -> list[Eight]:  # fmt: skip
    """A row over the units, such that inner products of such rows are those with A_uu^-1: units, then sets."""
    if state.dense_slots > 0:
        forward(factor, settings.units, line)
        return eights(line)
    row = eights([x / root for x, root in zip(line, roots)])  # noqa: B905
    more = products(row, scaled, state.sets)
    forward(factor, state.sets, more)
    return row + eights(more)


def units_effects(
    settings: Settings, state: Sums, roots: Sequence[float], scaled: list[Eight], factor: list[float],
    line: list[float],
) -> list[float]:  # fmt: skip
    """A_uu^-1 times what became `line` when it was whitened."""
    units, sets = settings.units, state.sets
    effects = line[:units]
    if state.dense_slots > 0:
        backward(factor, units, effects)
        return effects
    begin = units + -units % 8
    part = line[begin : begin + sets]
    backward(factor, sets, part)
    parts = begin // 8
    for place in range(sets):
        times = part[place]
        row = flat(scaled[place * parts : (place + 1) * parts])
        effects = [x + times * y for x, y in zip(effects, row)]  # noqa: B905
    return [x / root for x, root in zip(effects, roots)]  # noqa: B905


def inverse(lower: list[float], size: int, first: int) -> list[float]:
    """The block of (L L')^-1 from row and column `first` on: that of L's own block."""
    return inverse_rows(lower, size, first, [row for row in range(size - first)])  # noqa: C416  as compiled code needs


def inverse_rows(lower: list[float], size: int, first: int, wanted: Sequence[int]) -> list[float]:
    """The same, but rows that are not wanted are left 0."""
    block = size - first
    made = [0.0] * (block * block)
    for i in wanted:
        line = [0.0] * block
        line[i] = 1.0
        for j in range(i, block):
            begin = (first + j) * size + first
            line[j] = (line[j] - dot(lower[begin + i : begin + j], line[i:j])) / lower[begin + j]
        for j in range(block - 1, -1, -1):
            begin = (first + j) * size + first
            line[j] /= lower[begin + j]
            part = line[j]
            for k in range(j):
                line[k] -= lower[begin + k] * part
        for j in range(block):
            made[i * block + j] = line[j]
    return made


def solve(settings: Settings, state: Sums, rows: int, ridge: float) -> tuple[list[float], list[float], float]:
    """Effects of the first `rows` columns of arms, the lower factor of their system, and the residual squares."""
    effects, system, squares, _, _, _, _, _ = solve_wholly(settings, state, rows, ridge)
    return effects, system, squares


Solved = tuple[list[float], list[float], float, list[float], list[Eight], list[float], list[Eight], list[float]]


def solve_wholly(settings: Settings, state: Sums, rows: int, ridge: float) -> Solved:
    """The answer of `solve`, then effects of units, whitened rows of arms, and what whitens a row."""
    units, columns = settings.units, 2 * settings.arms
    roots = [0.0]
    scaled = eights([0.0])[:0]
    if state.dense_slots > 0:
        factor = units_block(settings, state, ridge)
    else:
        roots = [math.sqrt(state.unit_weight[unit] + ridge) for unit in range(units)]
        scaled, factor = sets_block(settings, state, roots)
    right = whiten(settings, state, row_of(settings, state, rows, rows), roots, scaled, factor)
    parts = len(right)
    wide = right[:0]
    system = [0.0] * (rows * rows)
    effects = [0.0] * rows
    least = TINY
    for i in range(rows):
        least = max(least, TINY * state.arm_arm[i * columns + i])
    for i in range(rows):
        line = whiten(settings, state, row_of(settings, state, rows, i), roots, scaled, factor)
        wide += line
        effects[i] = state.arm_value[i] - dot_eights(line, right)
        found = products(line, wide, i + 1)
        for j in range(i + 1):
            system[i * rows + j] = state.arm_arm[i * columns + j] - found[j]
        system[i * rows + i] += least
    factorise(system, rows)
    forward(system, rows, effects)
    backward(system, rows, effects)
    squares = state.yy
    last = flat(right)
    for i in range(rows):
        times = effects[i]
        squares -= times * (state.arm_value[i] + least * times)
        last = [x - times * y for x, y in zip(last, flat(wide[i * parts : (i + 1) * parts]))]  # noqa: B905
    levels = units_effects(settings, state, roots, scaled, factor, last)
    for unit in range(units):
        squares -= levels[unit] * (state.unit_value[unit] + ridge * levels[unit])
    return effects, system, max(0.0, squares), levels, wide, roots, scaled, factor
