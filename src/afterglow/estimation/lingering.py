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

`lingering_fit` solves the equations of each member.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from afterglow.addition import added
from afterglow.estimation.lingering_fit import fit_all

FAST = ((-0.4, 8), (-0.2, 14), (0, 20), (0.3, 14), (0.7, 8), (1.5, 5), (3, 3), (6, 3), (12, 2), (24, 1.5), (48, 1.5))
SLOW = 0.2  # prior of the slow family; that of each lambda in the other one is in proportion to the second number above
FAST_SHARES = tuple((scale, (1 - SLOW) * part / added(each for _, each in FAST)) for scale, part in FAST)
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
        total = added(weight for weight, _ in slow)
        return math.exp(added(weight * theta for weight, theta in slow) / total) if total else 0.0


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
    level = added(n * y for n, y in zip(steps, means, strict=True)) / added(steps)
    centred = [y - level for y in means]
    unit = added(rates) / count / span  # variance of one block
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
    total = added(weights)
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
    return Mixture(members, added(member.weight for member in members if member.theta))


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
