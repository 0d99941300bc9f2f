r"""The noise of each arm: what one washed step adds to the variance of a long sum, and how well that is known.

*Batches.* The mean of $b \ge d$ washed totals has variance $\frac vb (1 - E|I - J|/b)$, where $I$ and $J$ are the lags
of two payments of a pull; $E|I - J| \le (d - 1)/2$ for every fixed kernel. So $v$ is read from the scatter of batch
means, divided by $1 - (d - 1)/2b$. Long batches hide less, few batches say little: the longest that leave an arm
`PLENTY` degrees of freedom are read, else the shortest.

*Few batches.* Arms may be unequally noisy, and a policy leaves a bad arm after a batch or two. Where `SEVERAL` = 3
arms or more have a second batch, an arm with $f$ = 1 to 5 degrees of freedom of its own has the noise that
`noise_ratio` gives it: the ratio of its deviation to that of all arms is log-normal. With two arms the noise of all is
that of the one played most, and an interval by ratios was too narrow (decision 0016); an arm without a second batch
has no ratio. In these cases an arm with $f$ own degrees of freedom and variance $\hat v$ has the posterior of $\hat v$
under a scaled inverse $\chi^2$ prior with $p$ degrees of freedom around `WIDER` = 3 times the variance of all arms:
$(f \hat v + p \cdot 3 v_p)/(f + p)$ with $f + p$ degrees of freedom. The prior fades: $p = 2 (1 - f/6)$, and from $f =
6$ on an arm's own batches count alone. $3 v_p$ is not taken larger than $m (1 - m)$, the largest variance of rewards
in [0, 1] with mean $m$, unless $v_p$ itself is. $v_p$ is the larger of the variance pooled over batches, which the arm
played most rules, and that averaged over arms. Where $m$ is not within (0, 1), because totals hold more than rewards,
1/4 takes the place of $m (1 - m)$. Without a second batch of its own the 95 % interval is then 7.5 standard deviations
of all arms wide to each side, enough for an arm four times as noisy as the others; `comparison` calls nothing clear by
it before the fixed end.

*No scatter.* Rewards that are rare leave batches that are all equal, and so do rare failures. One more event of size
$u$ in $n$ steps adds $u^2/n$ to $v$, and is added always: for rare events $u$ is variance over mean, or over $1 - m$ if
that is smaller and the variance is below `POSSIBLE` = 4 times $m (1 - m)$, as an estimate of rewards in [0, 1] may be;
the largest of the arm's and that of all, at most 1 (`reward_max`). If nothing has varied yet it is 1 where all totals
are 0 or 1, else the distance to the nearer of these. For other rewards that is next to nothing. An event after the last
whole batch is in the mean already, so $u$ is computed with and without the steps outside of whole batches, and the
larger one counts.

*No largest reward.* Of secondary totals (`guards`) nobody says how large they may be. Then the prior is 3 v_p whatever
the mean, and $u$ has no upper limit, comes from whole batches alone, and is the largest total seen if nothing has
varied yet.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.addition import added
from afterglow.estimation.batch_means import Batches, Washed
from afterglow.estimation.noise_ratio import spread_of

PLENTY = 10  # degrees of freedom of an arm for which longer batches are read
LONGEST = 1  # batches of b and 2 b steps
ENOUGH = 3  # of all arms together, below which the noise is unknown
PRIOR = 2  # degrees of freedom of the prior, for an arm without any of its own
FADED = 6  # degrees of freedom of its own with which an arm needs no prior
WIDER = 3.0
SEVERAL = 3  # arms with a second batch from which on the ratio of their deviations is taken for log-normal
POSSIBLE = 4.0  # times the largest variance of rewards: an estimate above this is of totals that hold more than rewards
ROUNDING = 1e-6  # deviations below this part of the mean are taken for errors of rounding


@dataclass(frozen=True, slots=True)
class NoiseVariance:
    """Variance of a long sum per step, and its degrees of freedom."""

    value: float
    freedom: float

    @property
    def borrowed(self) -> bool:
        """Whether it is that of other arms alone: the arm has no second batch of its own."""
        return self.freedom <= PRIOR


def noise(batches: Batches, largest: float | None = None) -> list[NoiseVariance] | None:
    """The noise of each arm; None if all batches together tell too little.

    `largest` is the largest total seen, for totals without a known upper limit; None: rewards lie within [0, 1].
    """
    own = [scatter(washed, batches) for washed in batches.arms]
    freedom = sum(degrees for _, degrees in own)
    if freedom < ENOUGH:
        return None
    pooled = common(own)
    sizes = events(batches, own, [squares / max(1, degrees) for squares, degrees in own], pooled, largest)
    if largest is None:
        shown = [varied(washed, *each, batches.size) for washed, each in zip(batches.arms, own, strict=True)]
        late = events(batches, own, shown, max(pooled, added(shown) / len(shown)))
        sizes = [max(pair) for pair in zip(sizes, late, strict=True)]
    several = largest is None and sum(1 for _, degrees in own if degrees) >= SEVERAL
    rule = ratio_noise if several and pooled > 0 else arm_noise
    return [
        rule(washed, *each, size, pooled, largest) for washed, each, size in zip(batches.arms, own, sizes, strict=True)
    ]


def events(
    batches: Batches, own: Sequence[tuple[float, int]], variances: Sequence[float], usual: float,
    largest: float | None = None,
) -> list[float]:  # fmt: skip
    """The size of each arm's events: by its own variance if it has a second batch, at least by the usual one."""
    level = added(washed.total for washed in batches.arms) / sum(washed.steps for washed in batches.arms)
    least = event(usual, level, largest)
    return [
        max(least, event(variance, washed.mean, largest)) if degrees else least
        for washed, (_, degrees), variance in zip(batches.arms, own, variances, strict=True)
    ]


def scatter(washed: Washed, batches: Batches) -> tuple[float, int]:
    """Sum of squares, in terms of one step, and degrees of freedom: of longer batches if there are enough."""
    found = (0.0, 0)
    for length in range(LONGEST + 1):
        freedom = washed.counts[length] - 1
        if freedom >= (PLENTY if length else 1):
            steps = batches.size << length  # b
            shown = 1 - batches.edge / (2 * steps)
            found = (steps * washed.scatters[length] / shown, freedom)
    return found


def varied(washed: Washed, squares: float, freedom: int, size: int) -> float:
    """The variance of an arm's totals with steps outside of whole batches: an event in them is in the mean already."""
    inside = washed.counts[0] * size
    outside = washed.steps - inside
    if not inside or not outside:
        return squares / max(1, freedom)
    off = (washed.total - inside * washed.means[0]) / outside - washed.means[0]
    return (squares + off * off * inside * outside / washed.steps) / (freedom + 1)


def common(own: Sequence[tuple[float, int]]) -> float:
    """The variance of all arms: pooled over degrees of freedom or averaged over arms, whichever is larger."""
    known = [(squares, freedom) for squares, freedom in own if freedom]
    pooled = added(squares for squares, _ in known) / sum(freedom for _, freedom in known)
    return max(pooled, added(squares / freedom for squares, freedom in known) / len(known))


def arm_noise(
    washed: Washed, squares: float, freedom: int, size: float, pooled: float, largest: float | None = None
) -> NoiseVariance:
    """An arm's own scatter with the prior that the others give, and one more event of this size."""
    if not washed.steps:
        return NoiseVariance(math.nan, PRIOR)
    mean = washed.mean
    most = largest_variance(mean) if largest is None else math.inf
    prior = max(pooled, min(WIDER * pooled, most))
    weight = PRIOR * max(0.0, 1 - freedom / FADED)  # p
    value = (squares + weight * prior) / (freedom + weight)
    return NoiseVariance(value + size * size / washed.steps, freedom + weight)


def ratio_noise(
    washed: Washed, squares: float, freedom: int, size: float, pooled: float, largest: float | None = None
) -> NoiseVariance:
    """The noise of an arm that has a second batch but fewer than seven, where several arms show theirs."""
    if not 0 < freedom < FADED:
        return arm_noise(washed, squares, freedom, size, pooled, largest)
    ratio, degrees = spread_of(squares / pooled, freedom)
    value = min(ratio * pooled, max(pooled, largest_variance(washed.mean), squares / freedom))
    return NoiseVariance(value + size * size / washed.steps, degrees)


def largest_variance(mean: float) -> float:
    """Of rewards within [0, 1] that have this mean, or any mean if there is more than rewards in it."""
    return mean * (1 - mean) if 0 < mean < 1 else 0.25


def event(variance: float, mean: float, largest: float | None = None) -> float:
    """The size of events, were they rare: variance over mean, at most 1 unless there is no upper limit.

    Events may also be those in which a reward fails to come: then the distance of the mean to 1 takes its place.

    If nothing but rounding has varied it is 1 at either end of the range, where yes/no rewards that are rare would be,
    else the distance to the nearer end; without an upper limit it is the largest total.
    """
    if variance <= (ROUNDING * mean) ** 2:
        if largest is not None:
            return largest
        return min(mean, 1 - mean) if ROUNDING < mean < 1 - ROUNDING else 1.0
    if largest is not None:
        return math.sqrt(variance) if mean <= 0 else variance / mean
    rare = min(mean, 1 - mean) if 0 < mean < 1 and variance < POSSIBLE * mean * (1 - mean) else mean
    return min(1.0, math.sqrt(variance) if rare <= 0 else variance / rare)
