r"""Generalised least squares for the model of `lingering`: likelihood, means and covariances for each kind of noise.

A block's $L$ depends on its neighbours alone, so the inverse of its covariance has three diagonals, and the normal
equations take time in proportion to the number of cells (`take_out`).
"""

import math
from collections.abc import Sequence


def fit_all(
    blocks: Sequence[int], arms: Sequence[int], steps: Sequence[float], means: Sequence[float], rates: Sequence[float],
    scales: Sequence[float], variances: Sequence[float], correlations: Sequence[float],
) -> list[float]:  # fmt: skip
    """Log likelihood, means of the arms, and their covariances row by row, for each kind of noise in turn.

    Kinds that follow each other share what depends on the scale alone, and on the correlation alone.
    """
    count = len(rates)
    place = rows_of(blocks)
    found, sums, sides, precisions, fades = [0.0], [0.0], [0.0], [0.0], [0.0]
    logs, scale, correlation = 0.0, -1.0, -1.0
    for kind in range(len(scales)):
        if scales[kind] != scale:
            scale = scales[kind]
            sums, logs = normal_equations(arms, steps, means, rates, scale)
            precisions, sides = by_rows(place, arms, steps, means, rates, scale)
        if variances[kind] == 0.0:
            found.extend(unrelated(sums, count, logs))
            continue
        if correlations[kind] != correlation:
            correlation = correlations[kind]
            fades = fading(place, blocks, correlation)
        less = sums[:]
        more = take_out(less, place, precisions, sides, fades, count + 1, variances[kind])
        found.extend(solved(less, count, logs + more))
    return found[1:]


def normal_equations(
    arms: Sequence[int], steps: Sequence[float], means: Sequence[float], rates: Sequence[float], scale: float
) -> tuple[list[float], float]:
    """The lower half of the normal equations, indicators of the arms and then the totals, and the log determinant."""
    count = len(rates)
    wide = count + 1
    sums = [0.0] * (wide * wide)
    logs = 0.0
    for i in range(len(arms)):
        arm = arms[i]
        spread = scale * rates[arm] / steps[i]
        logs += math.log(spread)
        sums[arm * wide + arm] += 1.0 / spread
        sums[count * wide + arm] += means[i] / spread
        sums[count * wide + count] += means[i] * means[i] / spread
    return sums, logs


def rows_of(blocks: Sequence[int]) -> list[int]:
    """The number of each cell's block among those that have cells."""
    place = [0] * len(blocks)
    for i in range(1, len(blocks)):
        place[i] = place[i - 1] + (1 if blocks[i] != blocks[i - 1] else 0)
    return place


def by_rows(
    place: Sequence[int], arms: Sequence[int], steps: Sequence[float], means: Sequence[float], rates: Sequence[float],
    scale: float,
) -> tuple[list[float], list[float]]:  # fmt: skip
    """The precisions of cells, 1/D, and Z' 1/D times the indicators and the totals."""
    count = len(rates)
    wide = count + 1
    precisions = [0.0] * len(place)
    sides = [0.0] * ((place[-1] + 1) * wide)
    for i in range(len(place)):
        precision = steps[i] / (scale * rates[arms[i]])
        precisions[i] = precision
        sides[place[i] * wide + arms[i]] += precision
        sides[place[i] * wide + count] += precision * means[i]
    return precisions, sides


def fading(place: Sequence[int], blocks: Sequence[int], correlation: float) -> list[float]:
    """For each cell that begins a row, what is left of the lingering part of the row before."""
    fades = [0.0] * len(place)
    for i in range(1, len(place)):
        if place[i] != place[i - 1]:
            fades[i] = correlation ** (blocks[i] - blocks[i - 1])
    return fades


def unrelated(sums: list[float], count: int, logs: float) -> list[float]:
    """What `solved` gives where no arm tells of another."""
    wide = count + 1
    found = [0.0] * (1 + count + count * count)
    rest = sums[count * wide + count]
    for arm in range(count):
        precision = sums[arm * wide + arm]
        total = sums[count * wide + arm]
        logs += math.log(precision)
        rest -= total * total / precision
        found[1 + arm] = total / precision
        found[1 + count + arm * count + arm] = 1.0 / precision
    found[0] = -0.5 * (logs + max(rest, 0.0))
    return found


def take_out(
    sums: list[float], place: Sequence[int], precisions: Sequence[float], sides: list[float], fades: Sequence[float],
    wide: int, variance: float,
) -> float:  # fmt: skip
    """Take the lingering part out of the normal equations; what it adds to the log of the determinant.

    With D the variances of cells, Z their blocks and S the covariance of the lingering part, the inverse of
    D + Z S Z' is 1/D - 1/D Z (1/S + Z' 1/D Z)^-1 Z' 1/D, and the matrix in the middle has three diagonals.
    """
    rows = place[-1] + 1
    middle = [0.0] * rows
    beside = [0.0] * rows  # with the row before
    middle[0] = 1.0 / variance
    logs = rows * math.log(variance)
    for i in range(len(place)):
        row = place[i]
        if i > 0 and row != place[i - 1]:
            fade = fades[i]
            fresh = 1.0 - fade * fade
            logs += math.log(fresh)
            beside[row] = -fade / (fresh * variance)
            middle[row] += 1.0 / (fresh * variance)
            middle[row - 1] += fade * fade / (fresh * variance)
        middle[row] += precisions[i]
    found = sides[:]
    for row in range(1, rows):  # elimination, then substitution backwards
        factor = beside[row] / middle[row - 1]
        middle[row] -= factor * beside[row]
        for c in range(wide):
            found[row * wide + c] -= factor * found[(row - 1) * wide + c]
    for row in range(rows - 1, -1, -1):
        logs += math.log(middle[row])
        for c in range(wide):
            value = found[row * wide + c]
            if row < rows - 1:
                value -= beside[row + 1] * found[(row + 1) * wide + c]
            found[row * wide + c] = value / middle[row]
    for row in range(rows):
        for c in range(wide):
            side = sides[row * wide + c]
            if side != 0.0:
                for other in range(c + 1):
                    sums[c * wide + other] -= side * found[row * wide + other]
    return logs


def solved(sums: list[float], count: int, logs: float) -> list[float]:
    """Solve the normal equations by Cholesky's factors: log likelihood, means, covariances."""
    wide = count + 1
    root = [0.0] * (wide * wide)
    for row in range(wide):
        for column in range(row + 1):
            value = sums[row * wide + column]
            for k in range(column):
                value -= root[row * wide + k] * root[column * wide + k]
            if row == column:
                root[row * wide + row] = math.sqrt(max(value, 1e-300))
            else:
                root[row * wide + column] = value / root[column * wide + column]
    inverse = [0.0] * (count * count)  # of the factor of the arms' part
    for column in range(count):
        inverse[column * count + column] = 1.0 / root[column * wide + column]
        for row in range(column + 1, count):
            value = 0.0
            for k in range(column, row):
                value -= root[row * wide + k] * inverse[k * count + column]
            inverse[row * count + column] = value / root[row * wide + row]
    rest = root[count * wide + count]
    found = [-0.5 * (logs + rest * rest)]
    for row in range(count):
        found[0] -= math.log(root[row * wide + row])
        mean = 0.0
        for k in range(row, count):
            mean += inverse[k * count + row] * root[count * wide + k]
        found.append(mean)
    for row in range(count):
        for column in range(count):
            value = 0.0
            for k in range(max(row, column), count):
                value += inverse[k * count + row] * inverse[k * count + column]
            found.append(value)
    return found
