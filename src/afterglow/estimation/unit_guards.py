r"""Guards with units: whether a variant raises a secondary total by more than its limit, as a share.

Units are compared within the same steps. A *block* is a stretch of washed steps in which the same units ran the same
arms. The mean of unit $u$ in block $s$ of $n_s$ steps is $n_s\,\lambda_u\,g_s\,f_{a(u,s)}$ with levels $\lambda_u$ of
units, $g_s$ for what all units share in these steps, and factors $f_a$ of arms; $g_s$ may be anything. All are fitted
such that the sums over each unit, each block and each arm are those that were seen (the estimating equations of a
Poisson regression, which need no law of the noise, only the means above; zeros are fine). A unit's totals are scaled to
a quarter to four times the mean level first, so that one large unit doesn't decide alone.

The logarithm of $f_i/f_0$ has a standard error from the residuals of *runs* (a unit on an arm, without a break): noise
may linger within a run, and may differ between units. A run's residual is the sum of those of its cells (a unit in a
block), each divided by the root of one less the cell's leverage. Where a run has several blocks, as when other units
were silent in between, that is less than the run's leverage, so the error is a little too small there. The interval is
that of a normal mixture whose deviation is the logarithm of the limit, with the quantile of Student's t of as many
degrees of freedom as there are runs of comparable weight, less what is fitted. So it may be watched at all times. One
event more than was seen is allowed for: the control may have the largest total of a step in addition (for a lower
limit, the arm). With the residuals divided by one less the leverage, delays were 25 to 60 % longer. The interval is
measured by `bench/units/unit_guards.py`, not proved; docs/guides/guards.md has the table.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from statistics import NormalDist

from afterglow.estimation.guards import Excess, Limit
from afterglow.student_t import student_quantile

LEAST_RUNS = 4  # of the arm and of the control
LEAST_FREEDOM = 3
LIGHTEST, HEAVIEST = 0.25, 4.0  # weights of units, in mean levels
ROUNDS, CLOSE, NEAR = 400, 1e-6, 1e-3  # of the fit, and of what weighs its residuals
MOST_LEVERAGE = 0.9
NARROWEST, WIDEST = 0.02, 1.0  # deviation of the mixture
LEAST_DEVIATION = 1e-3  # of the logarithm: of totals that don't vary
FURTHEST = 7.0  # standard errors: beyond it there is no interval yet


@dataclass(slots=True)
class Block:
    """Washed steps in which the same units ran the same arms; arms are -1 where a unit isn't counted."""

    arms: list[int]
    runs: list[int]  # the number of each unit's run
    steps: list[int]  # by unit; the same for all, unless many sets of units were counted
    totals: list[list[int]]  # by metric, then by unit


class GuardCells:
    """Units in blocks, as columns: the totals are scaled, and those of units without any are left out."""

    def __init__(self, blocks: Sequence[Block], metric: int) -> None:
        found = [
            (unit, place, arm, block.runs[unit], block.steps[unit], block.totals[metric][unit])
            for place, block in enumerate(blocks)
            for unit, arm in enumerate(block.arms)
            if arm >= 0
        ]
        scales = scales_of(found)
        kept = [one for one in found if one[0] in scales]
        self.units = [one[0] for one in kept]
        self.blocks = [one[1] for one in kept]
        self.arms = [one[2] for one in kept]
        self.runs = [(one[0], one[3]) for one in kept]
        self.steps = [one[4] for one in kept]
        self.totals = [one[5] * scales[one[0]] for one in kept]
        self.scales = scales

    def __len__(self) -> int:
        return len(self.units)


def scales_of(cells: Iterable[tuple[int, int, int, int, int, int]]) -> dict[int, float]:
    """What the totals of each unit are multiplied by."""
    sums = dict[int, list[int]]()
    for unit, _, _, _, steps, total in cells:
        one = sums.setdefault(unit, [0, 0])
        one[0] += total
        one[1] += steps
    means = {unit: total / steps for unit, (total, steps) in sums.items() if total > 0}
    middle = math.fsum(means.values()) / max(1, len(means))
    return {unit: max(LIGHTEST, min(HEAVIEST, mean / middle)) * middle / mean for unit, mean in means.items()}


def sums_by(keys: Sequence[int], values: Iterable[float]) -> dict[int, float]:
    found = defaultdict[int, float](float)
    for key, value in zip(keys, values, strict=True):
        found[key] += value
    return found


class FactorFit:
    """Levels of units and factors of arms; `means` are those of the cells."""

    def __init__(self, cells: GuardCells) -> None:
        self.cells = cells
        self.means = [float(steps) for steps in cells.steps]
        ways = (cells.units, cells.blocks, cells.arms)
        self.factors = [dict.fromkeys(way, 1.0) for way in ways]
        self.settled = False  # False after too many rounds, as where a few events are all that connects the arms
        targets = [sums_by(way, cells.totals) for way in ways]
        for _ in range(ROUNDS):
            moved = 0.0
            for way, factors, target in zip(ways, self.factors, targets, strict=True):
                sums = sums_by(way, self.means)
                change = {key: target[key] / total if total > 0 else 0.0 for key, total in sums.items()}
                self.means = [mean * change[key] for mean, key in zip(self.means, way, strict=True)]
                for key, by in change.items():
                    factors[key] *= by
                    moved = max(moved, abs(by - 1.0)) if by > 0 else moved
            if moved < CLOSE:
                self.settled = True
                break

    def log_ratio(self, arm: int, control: int) -> float:
        return math.log(self.factors[2][arm] / self.factors[2][control])

    def level(self, control: int) -> float:
        """The control's mean per step, all units together, at the mean of what they share."""
        units, blocks, arms = self.factors
        long = dict(zip(self.cells.blocks, self.cells.steps, strict=True))
        shared = math.fsum(blocks[one] * steps for one, steps in long.items()) / math.fsum(long.values())
        return shared * arms[control] * math.fsum(units[unit] / self.cells.scales[unit] for unit in units)

    def column(self, arm: int, control: int) -> list[float]:
        """The arm's column with units, blocks and arms other than the control taken out, weighted by the means.

        What is taken out has the sum of the columns of the arm and the control in it, so half their difference will do.
        """
        cells, means = self.cells, self.means
        others = [control if one == arm else one for one in cells.arms]
        column = [0.5 * ((one == arm) - (one == control)) for one in cells.arms]
        ways = [(way, sums_by(way, means)) for way in (cells.units, cells.blocks, others)]
        for _ in range(ROUNDS):
            moved = 0.0
            for way, weights in ways:
                sums = sums_by(way, map(mul, means, column))
                centre = {key: sums[key] / weights[key] if weights[key] > 0 else 0.0 for key in sums}
                column = [x - centre[key] for x, key in zip(column, way, strict=True)]
                moved = max(moved, *map(abs, centre.values()))
            if moved < NEAR:
                break
        return column

    def deviation(self, arm: int, control: int) -> tuple[float, int]:
        """The standard error of the logarithm of the ratio, and its degrees of freedom."""
        cells, means, column = self.cells, self.means, self.column(arm, control)
        by_unit, by_block, all_ = sums_by(cells.units, means), sums_by(cells.blocks, means), math.fsum(means)
        information = math.fsum(mean * x * x for mean, x in zip(means, column, strict=True))
        if information <= 1e-12 * all_:
            return math.inf, 0
        scores, weights = dict[tuple[int, int], float](), dict[tuple[int, int], float]()
        for place, (mean, x, run) in enumerate(zip(means, column, cells.runs, strict=True)):
            unit, block = by_unit[cells.units[place]], by_block[cells.blocks[place]]
            leverage = mean * (1 / unit + 1 / block - 1 / all_ + x * x / information) if mean > 0 else 0.0
            residual = (cells.totals[place] - mean) / math.sqrt(1 - min(MOST_LEVERAGE, leverage))
            scores[run] = scores.get(run, 0.0) + x * residual
            weights[run] = weights.get(run, 0.0) + mean * x * x
        spread = math.fsum(score * score for score in scores.values())
        alike = information**2 / math.fsum(weight * weight for weight in weights.values())
        fitted = len(by_unit) + len(by_block) + len(set(cells.arms)) - 2
        freedom = int(alike * (len(cells) - fitted) / len(cells))
        return math.sqrt(spread) / information, freedom


class UnitsGuardCase:
    """Blocks of one metric, and what is asked of them; `share` is what one arm's bound may miss over a whole run."""

    def __init__(
        self, blocks: Sequence[Block], metric: int, largest: float, control: int, limit: Limit, share: float
    ) -> None:
        self.blocks = blocks
        self.metric = metric
        self.largest = largest  # washed total of a unit in a step
        self.control = control
        self.limit = limit
        self.share = share

    @property
    def silent(self) -> int:
        """Counted steps if their totals are all 0, as those of a metric that nobody reports; else 0."""
        return 0 if self.largest > 0 else sum(max(block.steps) for block in self.blocks)

    @cached_property
    def fit(self) -> FactorFit:
        return FactorFit(GuardCells(self.blocks, self.metric))

    def runs(self, arm: int) -> int:
        """Runs of an arm, by all units."""
        ran = (zip(block.arms, block.runs, strict=True) for block in self.blocks)
        return len({(unit, run) for block in ran for unit, (one, run) in enumerate(block) if one == arm})

    def missing(self, arm: int) -> str | None:
        """Why there is no interval yet."""
        for one, who in ((self.control, "the control"), (arm, "it")):
            runs = self.runs(one)
            if runs < LEAST_RUNS:
                return f"{LEAST_RUNS} runs of a full window are needed of it and the control; {who} has {runs}"
        for one, who in ((self.control, "the control"), (arm, "it")):
            if not self.fit.factors[2].get(one):
                return f"nothing was counted of {who} yet"
        if not self.fit.settled:
            return "too little was counted to tell units, steps and variants apart"
        return None

    @cached_property
    def allowance(self) -> dict[int, float]:
        """What one event more than was seen would add to the logarithm of each arm's factor."""
        sums = dict[int, int]()
        for block in self.blocks:
            for arm, total in zip(block.arms, block.totals[self.metric], strict=True):
                sums[arm] = sums.get(arm, 0) + total
        return {arm: math.log1p(self.largest / total) for arm, total in sums.items() if total > 0}

    def bounds(self, arm: int) -> tuple[float, float, float] | None:
        """The logarithm of the ratio with its ends, which hold at all times; None while the noise is unknown."""
        ratio = self.fit.log_ratio(arm, self.control)
        found, freedom = self.fit.deviation(arm, self.control)
        deviation = max(found, LEAST_DEVIATION)
        if freedom < LEAST_FREEDOM:
            return None
        radius = deviation * quantile(deviation, freedom, self.aim, self.share)
        if math.isinf(radius):
            return None
        more = self.allowance
        return ratio, ratio - radius - more[self.control], ratio + radius + more[arm]

    @property
    def aim(self) -> float:
        """The deviation of the mixture: effects of about this size are found soonest."""
        return max(NARROWEST, min(WIDEST, abs(math.log(max(self.limit.factor, 1e-9)))))

    def is_beyond(self, arm: int) -> bool:
        """Whether the arm is beyond its limit: `excess(arm).beyond`, with less to compute where it isn't."""
        if self.missing(arm) is not None:
            return False
        ratio = math.exp(self.fit.log_ratio(arm, self.control))
        return self.limit.sign * (ratio - self.limit.factor) > 0 and self.excess(arm).beyond

    def excess(self, arm: int) -> Excess:
        """Mean and ends of the excess, all units together, with the arm's mean and the limit."""
        missing = self.missing(arm)
        if missing is not None:
            return Excess(None, None, None, None, None, missing)
        level, found = self.fit.level(self.control), self.bounds(arm)
        ratio = math.exp(self.fit.log_ratio(arm, self.control))
        mean, limit = level * ratio, level * self.limit.factor
        if found is None:
            return Excess(None, None, None, mean, limit, "too few runs can be compared within the same steps")
        ends = sorted(self.limit.sign * (level * math.exp(min(one, 50.0)) - limit) for one in found[1:])
        return Excess(self.limit.sign * (mean - limit), ends[0], ends[1], mean, limit)


def quantile(deviation: float, freedom: int, aim: float, share: float) -> float:
    """Standard errors to the end of an interval that holds at all times, each end with probability 1 - share."""
    gained = (aim / deviation) ** 2
    normal = math.sqrt((1 + 1 / gained) * (math.log1p(gained) + 2 * math.log(0.5 / share)))
    return math.inf if normal > FURTHEST else student_quantile(1 - 2 * NormalDist().cdf(-normal), freedom)
