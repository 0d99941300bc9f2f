r"""Ordinary statistics of the difference between two arms, beside the bounds that are proved.

Let $m_a$ be the mean of the $N_a$ washed totals of arm $a$ (`afterglow.batches`) and $v_a$ the variance that one of
them adds to a long sum. The difference of two arms is $m_a - m_b$ with variance $v_a/N_a + v_b/N_b$, and its interval
is Student's. $v$ is read from batch means: of all arms together, the longest batches that leave 12 degrees of freedom
(10 to 30 batches are enough: Schmeiser, Batch Size Effects in the Analysis of Simulation Output, 1982); of the arm
itself, the longest that leave 3, if they say more. Degrees of freedom are those of Welch (1947) and Satterthwaite
(1946).

It leans on more than the bounds do: a spread whose law stays the same, batches that vary independently of each other,
an arm that varies no more than all do where it has few batches, and *one* look, at an end that was fixed before. That
policies choose what they sample is left out of account.

Measured at 95 % with `lean-ucb`, `trim-ucb`, `leak-ucb`, `washout-ucb` and `phased-ucb`, three arms, 300 runs each
(windows of 1, 6 and 24 steps, 600 to 3,000 steps, uniform, last and Dirichlet spreads, noise with a correlation of 0,
0.8 and 0.95 from step to step, with and without a season, arms that are equal and that aren't): the interval for the
recommended arm and the runner-up held the truth in 95 to 100 % of runs, that for any two arms in 93 to 99 %. Worst are
yes/no rewards of means as far apart as 0.88 and 0.4, where an arm that is left after a batch or two varies twice as
much as the leader: 83 to 98 %. Among three equal arms one seemed better at the end in 3 % of runs at most; to
somebody who looked at every tenth step (`leak-ucb`, 150 runs of 600 steps), sometime in 20 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from afterglow.batches import LENGTHS, Batches, Washed
from afterglow.policies.student import student_quantile

ENOUGH = 3  # degrees of freedom
PLENTY = 12

quantile = lru_cache(maxsize=1024)(student_quantile)


@dataclass(frozen=True, slots=True)
class Variance:
    """What one washed step adds to the variance of a long sum, and degrees of freedom of that."""

    value: float
    freedom: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """Washed steps and means of all arms, and their variances; None where batches are too few."""

    steps: tuple[int, ...]
    means: tuple[float, ...]
    own: tuple[Variance | None, ...]
    pooled: Variance | None

    def variance(self, arm: int) -> Variance:
        """The arm's own variance or that of all, whichever is larger."""
        own, pooled = self.own[arm], self.pooled
        assert pooled is not None
        return own if own is not None and own.value > pooled.value else pooled

    def difference(self, arm: int, other: int, confidence: float) -> tuple[float, float]:
        """What an arm's step brings more than another's, and how far that may be off; there must be enough of both."""
        terms = [(self.variance(one), self.steps[one]) for one in (arm, other)]
        square = sum(variance.value / steps for variance, steps in terms)
        parts = sum((variance.value / steps) ** 2 / variance.freedom for variance, steps in terms)
        freedom = max(1, math.floor(square * square / parts)) if parts > 0 else 1
        return self.means[arm] - self.means[other], quantile(confidence, freedom) * math.sqrt(square)


def evidence(batches: Batches) -> Evidence:
    """What the batches tell."""
    arms = batches.arms
    return Evidence(
        tuple(washed.steps for washed in arms),
        tuple(washed.total / washed.steps if washed.steps else math.nan for washed in arms),
        tuple(variance([washed], batches.size, ENOUGH) for washed in arms),
        variance(arms, batches.size, PLENTY),
    )


def variance(arms: Sequence[Washed], size: int, wanted: int) -> Variance | None:
    """From the longest batches that leave the wanted degrees of freedom, else from the shortest."""
    found = None
    for length in range(LENGTHS):
        freedom = sum(max(0, washed.counts[length] - 1) for washed in arms)
        if freedom >= (wanted if length else ENOUGH):
            scatter = sum(washed.scatters[length] for washed in arms)
            found = Variance((size << length) * scatter / freedom, freedom)
    return found
