r"""Differences between arms with intervals: time-uniform ones while an experiment runs, one-look ones at its end.

The posterior of a difference is a mixture over kinds of noise (`lingering`), each member Student's with the degrees
of freedom of the two arms' noises (Satterthwaite 1946). A *one-look* interval leaves the share $\alpha$ of the mixture
outside. A *time-uniform* one leaves what the normal mixture of Robbins (1970) would leave at the same amount of data:
with $N = (v_a + v_b)/(v_a/n_a + v_b/n_b)$ steps on each arm, and $e$ steps around which it is sharpest,

$$z^2 = (1 + e/N) (2 \log(1/\alpha) + \log(1 + N/e)), \qquad p = 2 \Phi(-z).$$

This is an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024) whose normal quantile is
replaced by that of the mixture at the same $p$, so estimated noise counts at few batches. It has no theorem: policies
choose what they sample, and noise is estimated. `bench/answers/interval_coverage.py` measures it; the table is in
docs/coverage.md.

*Two kinds of looks share the confidence.* What may be missed is split: a part `RUNNING` for all looks before the fixed
end together, and a part `FINAL` for the one look at it. A mixture that is watched up to a fixed end uses little more
than half of its share by then, and whoever crosses it mostly crosses at the end as well. So the parts add up to more
than 1: a Brownian motion that is watched up to $80 e$ leaves either interval with probability $0.9 \alpha$ at most
(`tests/estimation/test_comparison.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from afterglow.addition import added
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.lingering import Mixture, weigh
from afterglow.estimation.noise import ENOUGH, NoiseVariance, noise
from afterglow.estimation.noise_ratio import tail
from afterglow.estimation.timeline import BlockCells

ROOT = math.sqrt(0.5)
HALVINGS = 40
LINGERS = 0.9  # weight of slow noise from which on it is taken as a fact
INFLATED = 2.0  # how much of a difference's variance may come from slow noise before there is no interval
ROUNDING = 1e-6
NEVER = 200  # more than this many times the evidence is not worth waiting for
MOST = 50  # arms that are compared with each other: the work grows with their square
EARLY = 40  # a time-uniform interval is sharpest around 1/40 of an arm's share of the horizon, times about 10


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there is no interval, and after about how many more steps there will be one (None if steps don't help)."""

    reason: str
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What batches and timeline say about all arms, in the units of the totals given to them."""

    steps: tuple[int, ...]  # washed ones
    noises: tuple[NoiseVariance, ...] | None
    places: tuple[int, ...]  # of the arm in the mixture, -1 if it has no washed step
    mixture: Mixture | None
    span: int  # steps of a block
    window: int
    early: float  # e

    RUNNING: ClassVar[float] = 0.7  # of what may be missed, for time-uniform intervals
    FINAL: ClassVar[float] = 0.6  # for one look at the fixed end; 0: it decides no grade

    @property
    def lingers(self) -> int | None:
        """About how many steps slow noise lasts, if there is such."""
        if self.mixture is None or self.mixture.slow < LINGERS:
            return None
        return max(1, round(3 * self.mixture.lasting() * self.span))

    def unplayed(self, name: object) -> Missing:
        """Why nothing is known of an arm without steps."""
        return Missing(f"{name} hasn't run for a full window yet", self.window)

    def missing(self, arm: int, other: int) -> Missing | None:
        """Why these arms can't be compared."""
        for one in (arm, other):
            if not self.steps[one]:
                return self.unplayed(f"arm {one}")
        if self.noises is None or self.mixture is None:
            return Missing("too few steps were played to estimate the noise", (ENOUGH + 1) * self.window)
        lasting = self.lingers
        if lasting is not None and self.inflation(arm, other) > INFLATED:
            return Missing(f"noise lingers over about {lasting:,} steps; use a profile, units or a switchback")
        return None

    def inflation(self, arm: int, other: int) -> float:
        """Variance of the difference of two arms over what it would be if slow noise were absent."""
        return self.inflated(self.contrast(arm, other))

    def inflated(self, weights: Sequence[float]) -> float:
        """Variance of a sum over arms over what it would be if slow noise were absent."""
        assert self.noises is not None
        known = self.parts(weights)
        plain = added(w * w * self.noises[arm].value / self.steps[arm] for arm, w in enumerate(weights) if w)
        centre = added(weight * mean for weight, mean, _ in known)
        return added(weight * (variance + (mean - centre) ** 2) for weight, mean, variance in known) / plain

    def variance(self, arm: int, other: int) -> float:
        """Variance of the posterior of a difference, its few degrees of freedom allowed for."""
        weights = self.contrast(arm, other)
        parts = self.parts(weights)
        centre = added(weight * mean for weight, mean, _ in parts)
        return added(
            weight * (variance * degrees / max(degrees - 2, 1) + (mean - centre) ** 2)
            for (weight, mean, variance), degrees in zip(parts, self.freedom(weights, parts), strict=True)
        )

    def contrast(self, arm: int, other: int) -> list[float]:
        weights = [0.0] * len(self.steps)
        weights[arm] += 1.0
        weights[other] -= 1.0
        return weights

    def parts(self, weights: Sequence[float]) -> list[tuple[float, float, float]]:
        """Weight, mean and variance of a sum over arms under each kind of noise."""
        assert self.mixture is not None
        inside = [(self.places[arm], weight) for arm, weight in enumerate(weights) if weight]
        wide = len(self.mixture.members[0].means)
        products = [(i * wide + j, a * b) for i, a in inside for j, b in inside]
        return [
            (
                member.weight,
                added(weight * member.means[place] for place, weight in inside),
                added(product * member.covariances[place] for place, product in products),
            )
            for member in self.mixture.members
        ]

    def mean(self, arm: int) -> float:
        """The arm's mean per step."""
        weights = [0.0] * len(self.steps)
        weights[arm] = 1.0
        return added(weight * mean for weight, mean, _ in self.parts(weights))

    def outside(self, weights: Sequence[float], share: float) -> float:
        """The probability to leave outside a time-uniform interval of level 1 - share."""
        assert self.noises is not None
        inside = [(arm, weight) for arm, weight in enumerate(weights) if weight]
        terms = [(weight * weight * self.noises[arm].value, self.steps[arm]) for arm, weight in inside]
        steps = added(value for value, _ in terms) / added(value / count for value, count in terms)
        square = (1 + self.early / steps) * (2 * math.log(1 / share) + math.log1p(steps / self.early))
        return math.erfc(math.sqrt(square) * ROOT)

    def interval(self, weights: Sequence[float], share: float, uniform: bool) -> tuple[float, float, float]:
        """Mean and ends of a sum over arms; `share` is what the interval may miss, at any time if `uniform`."""
        parts = self.parts(weights)
        freedom = self.freedom(weights, parts)
        outside = self.outside(weights, share) if uniform else share
        centre = added(weight * mean for weight, mean, _ in parts)
        reach = max(abs(mean - centre) for _, mean, _ in parts) + 1e3 * math.sqrt(max(v for _, _, v in parts))
        ends = []
        for sign in (-1.0, 1.0):
            near, far = 0.0, reach
            for _ in range(HALVINGS):
                middle = 0.5 * (near + far)
                if beyond(parts, freedom, centre + sign * middle, sign) > 0.5 * outside:
                    near = middle
                else:
                    far = middle
            ends.append(centre + sign * far)
        return centre, ends[0], ends[1]

    def above(self, arm: int, other: int, share: float, fixed_end: bool = False) -> bool:
        """Whether the interval of a difference lies above 0; all looks together may miss with probability `share`.

        Before the fixed end nothing is told of an arm that has a single batch: whoever looks often would find a time at
        which the others happen to be calmer than it is.
        """
        weights = self.contrast(arm, other)
        parts = self.parts(weights)
        if not fixed_end and self.borrows(arm, other):
            return False
        if added(weight * mean for weight, mean, _ in parts) <= 0:
            return False
        below = beyond(parts, self.freedom(weights, parts), 0.0, -1.0)
        at_end = fixed_end and below < 0.5 * self.FINAL * share
        return at_end or below < 0.5 * self.outside(weights, self.RUNNING * share)

    def borrows(self, *arms: int) -> bool:
        """Whether the noise of one of these arms is that of others: it has no second batch."""
        return self.noises is not None and any(self.noises[arm].borrowed for arm in arms)

    def more_steps(self, arm: int, other: int, ratio: float) -> int | None:
        """About how many more steps, half of them on each arm, make an interval narrower by a ratio; None: too many."""
        assert self.noises is not None
        if ratio <= 1:
            return self.window if self.borrows(arm, other) else 0
        if ratio * ratio > NEVER:
            return None
        known = [(self.noises[one].value, self.steps[one]) for one in (arm, other)]
        return evened(known, ratio) + 2 * (self.window - 1)

    def freedom(self, weights: Sequence[float], parts: Sequence[tuple[float, float, float]]) -> list[float]:
        """Degrees of freedom under each kind of noise: the slow part is weighed, not estimated."""
        assert self.noises is not None
        terms = [
            (weight * weight * self.noises[arm].value / self.steps[arm], self.noises[arm].freedom)
            for arm, weight in enumerate(weights)
            if weight
        ]
        plain, square = added(term for term, _ in terms), added(term * term / degrees for term, degrees in terms)
        return [max(plain, variance) ** 2 / square for _, _, variance in parts]


def evened(known: Sequence[tuple[float, int]], ratio: float) -> int:
    """How many more steps, the same number on either arm, divide the error of their difference by a ratio.

    An arm of which a step has the variance v has n steps already.
    """
    wanted = added(value / steps for value, steps in known) / (ratio * ratio)
    near, far = 0.0, NEVER * float(sum(steps for _, steps in known))
    for _ in range(HALVINGS):
        middle = 0.5 * (near + far)
        if added(value / (steps + middle) for value, steps in known) > wanted:
            near = middle
        else:
            far = middle
    return math.ceil(2 * far - ROUNDING)


def beyond(parts: Sequence[tuple[float, float, float]], freedom: Sequence[float], value: float, sign: float) -> float:
    """Probability of the mixture beyond a value, on the side of the sign."""
    total = 0.0
    for (weight, mean, variance), degrees in zip(parts, freedom, strict=True):
        total += weight * tail(sign * (value - mean) / math.sqrt(variance), degrees)
    return total


def compare(batches: Batches, horizon: int | None = None) -> Comparison:
    """What is known now; `horizon` makes time-uniform intervals sharp where they are needed."""
    return compare_some(batches, noise(batches), range(len(batches.arms)), horizon)


def compare_some(
    batches: Batches, noises: Sequence[NoiseVariance] | None, arms: Sequence[int], horizon: int | None
) -> Comparison:
    """The comparison of some of the arms, given the noise of all."""
    steps = tuple(washed.steps for washed in batches.arms)
    tried = [arm for arm in arms if steps[arm]]
    order = {arm: place for place, arm in enumerate(tried)}
    places = tuple(order.get(arm, -1) for arm in range(len(steps)))
    cells = batches.in_time()
    early = max(2.0 * batches.size, (horizon or 0) / (EARLY * len(steps)))
    mixture = None
    if noises is not None:
        if places != tuple(range(len(steps))):
            cells = only(cells, places)
        means = [total / count for total, count in zip(cells.totals, cells.steps, strict=True)]
        rates = [noises[arm].value for arm in tried]
        mixture = weigh(cells.blocks, cells.arms, cells.steps, means, rates, cells.span)
    return Comparison(
        steps, None if noises is None else tuple(noises), places, mixture, cells.span, batches.window, float(early)
    )


def only(cells: BlockCells, places: Sequence[int]) -> BlockCells:
    """The cells of the arms that have places, by these."""
    every = zip(cells.blocks, cells.arms, cells.steps, cells.totals, strict=True)
    kept = [(block, places[arm], steps, total) for block, arm, steps, total in every if places[arm] >= 0]
    lists = ([cell[0] for cell in kept], [cell[1] for cell in kept], [cell[2] for cell in kept])
    return BlockCells(cells.span, cells.clock, cells.arm, *lists, [cell[3] for cell in kept])
