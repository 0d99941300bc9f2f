r"""The noise of each arm: what one washed step adds to the variance of a long sum, and how well that is known.

*Batches.* The mean of $b \ge d$ washed totals has variance $\frac vb (1 - E|I - J|/b)$, where $I$ and $J$ are the lags
of two payments of a pull; $E|I - J| \le (d - 1)/2$ for every fixed kernel. So $v$ is read from the scatter of batch
means, divided by $1 - (d - 1)/2b$. Long batches hide less, few batches say little: the longest that leave an arm
`PLENTY` degrees of freedom are read, else the shortest.

*Few batches.* Arms may be unequally noisy, and a policy leaves a bad arm after a batch or two. An arm with $f$ own
degrees of freedom and variance $\hat v$ has the posterior of $\hat v$ under a scaled inverse $\chi^2$ prior with
`PRIOR` = 2 degrees of freedom around `WIDER` = 3 times the variance of all arms: $(f \hat v + 2 \cdot 3 v_p)/(f + 2)$
with $f + 2$ degrees of freedom. Without a batch of its own the 95 % interval is then 7.5 standard deviations of all
arms wide to each side, enough for an arm four times as noisy as the others. $3 v_p$ is not taken larger than
$m (1 - m)$, the largest variance of rewards in [0, 1] with mean $m$, unless $v_p$ itself is. $v_p$ is the larger of the
variance pooled over batches, which the arm played most rules, and that averaged over arms.

*No scatter.* Rewards that are rare leave batches that are all equal. One more event of size $u$ in $n$ steps adds
$u^2/n$ to $v$, and is added always: for rare events $u$ is variance over mean, the largest of the arm's and that of
all, at most 1 (`reward_max`), and 1 if nothing has varied yet. For other rewards that is next to nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.estimation.batch_means import Batches, Washed

PLENTY = 10  # degrees of freedom of an arm for which longer batches are read
LONGEST = 1  # batches of b and 2 b steps
ENOUGH = 3  # of all arms together, below which the noise is unknown
PRIOR = 2
WIDER = 3.0


@dataclass(frozen=True, slots=True)
class NoiseVariance:
    """Variance of a long sum per step, and its degrees of freedom."""

    value: float
    freedom: float


def noise(batches: Batches) -> list[NoiseVariance] | None:
    """The noise of each arm; None if all batches together tell too little."""
    own = [scatter(washed, batches) for washed in batches.arms]
    freedom = sum(degrees for _, degrees in own)
    if freedom < ENOUGH:
        return None
    pooled = common(own)
    steps = sum(washed.steps for washed in batches.arms)
    level = sum(washed.total for washed in batches.arms) / steps
    usual = event(pooled, level)
    return [arm_noise(washed, *each, pooled, usual) for washed, each in zip(batches.arms, own, strict=True)]


def scatter(washed: Washed, batches: Batches) -> tuple[float, int]:
    """Sum of squares, in terms of one step, and degrees of freedom: of longer batches if there are enough."""
    found = (0.0, 0)
    for length in range(LONGEST + 1):
        freedom = washed.counts[length] - 1
        if freedom >= (PLENTY if length else 1):
            steps = batches.size << length  # b
            shown = 1 - (batches.window - 1) / (2 * steps)
            found = (steps * washed.scatters[length] / shown, freedom)
    return found


def common(own: Sequence[tuple[float, int]]) -> float:
    """The variance of all arms: pooled over degrees of freedom or averaged over arms, whichever is larger."""
    known = [(squares, freedom) for squares, freedom in own if freedom]
    pooled = sum(squares for squares, _ in known) / sum(freedom for _, freedom in known)
    return max(pooled, sum(squares / freedom for squares, freedom in known) / len(known))


def arm_noise(washed: Washed, squares: float, freedom: int, pooled: float, usual: float) -> NoiseVariance:
    """An arm's own scatter with the prior that the others give."""
    if not washed.steps:
        return NoiseVariance(math.nan, PRIOR)
    mean = washed.total / washed.steps
    most = max(mean * (1 - mean), 0.0)
    prior = max(pooled, min(WIDER * pooled, most))
    value = (squares + PRIOR * prior) / (freedom + PRIOR)
    size = max(usual, event(squares / freedom, mean) if freedom else 0.0)
    return NoiseVariance(value + size * size / washed.steps, float(freedom + PRIOR))


def event(variance: float, mean: float) -> float:
    """The size of events, were they rare: variance over mean, at most 1."""
    if variance <= 0 or mean <= 0:
        return 1.0 if variance <= 0 else min(1.0, math.sqrt(variance))
    return min(1.0, variance / mean)
