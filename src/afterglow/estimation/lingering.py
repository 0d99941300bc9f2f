r"""Means of arms under noise that may linger, by generalised least squares over what kinds of noise there may be.

The cells of the timeline are modelled as $y_{k,a} = \mu_a + L_k + e_{k,a}$: in block $k$ an arm had $n_{k,a}$ washed
steps of mean $y_{k,a}$; $e_{k,a}$ has variance $(1 + \lambda) v_a / n_{k,a}$, and $L_k$ is common to all arms, with
variance $\sigma^2$ and a correlation of $e^{-|k - l|/\theta}$ between blocks. Two families of noise are weighed:

- *gone within a block*, $L = 0$: $\lambda$ tells what neighbouring batches share, below 0 what was allowed for effects
  at their edges and isn't there;
  If neighbouring cells differ by less than that, one more member has their scatter as its likelihood, and
  $\lambda = 0$ as its width: totals that hardly vary are no sign of slow noise;
- *slow*, $\lambda = 0$: $\theta$ from 1.5 blocks to the whole record, $\sigma$ from half to 32 times the noise of one
  block.

Each member has a likelihood (restricted, for free means) and a prior; the posterior of $\mu$ is a mixture of normal
ones. If arms take turns often, $L$ cancels out and the differences stay sharp; if each arm was played once, the width
that a slow $L$ adds stays in the interval until the record shows that there is none. `Mixture.slow` is the weight of
the slow family.

A block's $L$ depends on its neighbours alone, so the inverse of its covariance has three diagonals, and the normal
equations take time in proportion to the number of cells (`take_out`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

FAST = ((-0.4, 8), (-0.2, 14), (0, 20), (0.3, 14), (0.7, 8), (1.5, 5), (3, 3), (6, 3), (12, 2), (24, 1.5), (48, 1.5))
SLOW = 0.2  # prior of the slow family; that of each lambda in the other one is in proportion to the second number above
FAST_SHARES = tuple((scale, (1 - SLOW) * part / sum(each for _, each in FAST)) for scale, part in FAST)
CALM = 0.2  # the same of the member for totals that vary less than the rates say
SPANS = (1.5, 6.0, 24.0)  # theta, in blocks
SIZES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # sigma, in terms of the noise of one block
PRIOR_PAIRS = 3.0  # that vary as all batches do
LEAST = 0.01
KEPT = 8  # mixtures
NEGLIGIBLE = 1e-6  # weight below which a member is left out


@dataclass(frozen=True, slots=True)
class Member:
    """One kind of noise: its weight, and means and covariances of the arms under it."""

    weight: float
    means: tuple[float, ...]
    covariances: tuple[float, ...]  # row by row
    theta: float  # in blocks, 0 if gone within one


@dataclass(frozen=True, slots=True)
class Mixture:
    """All kinds of noise, with weights that add up to 1; arms are those that have washed steps."""

    members: tuple[Member, ...]
    slow: float

    def lasting(self) -> float:
        """Blocks over which slow noise lingers, on average (geometric)."""
        slow = [(member.weight, math.log(member.theta)) for member in self.members if member.theta]
        total = sum(weight for weight, _ in slow)
        return math.exp(sum(weight * theta for weight, theta in slow) / total) if total else 0.0


def weigh(
    blocks: Sequence[int], arms: Sequence[int], steps: Sequence[float], means: Sequence[float], rates: Sequence[float],
    span: float,
) -> Mixture:  # fmt: skip
    """The mixture for these cells; `rates` are the variances per step of arms 0, 1, ..., all of which have cells.

    The last ones are kept: a page, its differences and a webhook ask for the same.
    """
    return weighed(tuple(blocks), tuple(arms), tuple(steps), tuple(means), tuple(rates), span)


@lru_cache(KEPT)
def weighed(
    blocks: Sequence[int], arms: Sequence[int], steps: Sequence[float], means: Sequence[float], rates: Sequence[float],
    span: float,
) -> Mixture:  # fmt: skip
    """What `weigh` gives."""
    count = len(rates)
    level = sum(n * y for n, y in zip(steps, means, strict=True)) / sum(steps)
    centred = [y - level for y in means]
    unit = sum(rates) / count / span  # variance of one block
    near = local(blocks, arms, steps, centred, rates)
    kinds = [(1 + scale, 0.0, 0.0, prior) for scale, prior in FAST_SHARES]
    share = SLOW / (len(SPANS) * len(SIZES))
    kinds += [(near, size * size * near * unit, theta, share) for theta in SPANS for size in SIZES]
    if near < kinds[0][0]:
        kinds.append((near, 0.0, 0.0, CALM))
    found = fit_all(
        blocks, arms, steps, centred, rates,
        [kind[0] for kind in kinds], [kind[1] for kind in kinds],
        [math.exp(-1 / kind[2]) if kind[2] else 0.0 for kind in kinds],
    )  # fmt: skip
    wide = 1 + count + count * count
    fits = [found[place : place + wide] for place in range(0, len(found), wide)]
    logs = [one[0] + math.log(kind[3]) for one, kind in zip(fits, kinds, strict=True)]
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    total = sum(weights)
    width = [1 / near if kind[0] == near and not kind[2] else 1.0 for kind in kinds]
    members = tuple(
        Member(
            weight / total,
            tuple(mean + level for mean in one[1 : count + 1]),
            tuple(factor * value for value in one[count + 1 :]),
            kind[2],
        )
        for weight, one, kind, factor in zip(weights, fits, kinds, width, strict=True)
        if weight > NEGLIGIBLE * total
    )
    return Mixture(members, sum(member.weight for member in members if member.theta))


def local(
    blocks: Sequence[int], arms: Sequence[int], steps: Sequence[float], means: Sequence[float], rates: Sequence[float]
) -> float:
    """The variance of differences between neighbouring cells of one arm, over what `rates` say: at most 1."""
    total, pairs = PRIOR_PAIRS, PRIOR_PAIRS
    for i in range(1, len(blocks)):
        if arms[i] == arms[i - 1] and blocks[i] == blocks[i - 1] + 1:
            total += (means[i] - means[i - 1]) ** 2 / (rates[arms[i]] * (1 / steps[i] + 1 / steps[i - 1]))
            pairs += 1
    return min(1.0, max(total / pairs, LEAST))


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
