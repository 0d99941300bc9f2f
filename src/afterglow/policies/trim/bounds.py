r"""Confidence bounds for trim-ucb: how far a mean may be from a sum that is at most, or at least, $n$ rewards.

Each bound asks for evidence $f$ and holds for any reward in $[0, 1]$:

- KL: $n\,\mathrm{kl}(s/n, q) \le f$, never wider than $\sqrt{f/(2n)}$;
- Bernstein, where one pull's reward has variance at most $v$: $\sqrt{2 v f/n} + f/(3n)$.

The narrower one counts. No reward in $[0, 1]$ has a variance above $1/4$, and there Bernstein's is the wider,
so $v = 1/4$ stands for "nothing known". Over all $n \le T$ at once a bound fails with probability at most
$e \lceil f \log T \rceil e^{-f}$ (cut $1 \ldots T$ into slices of ratio $f/(f-1)$; Garivier & Cappé 2011, Theorem 10).
"""

import math
from dataclasses import dataclass

from afterglow.policies.terms import klup

PLAIN, STRICT, PLUS = 0, 1, 2  # levels
LARGEST = 0.25  # no reward in [0, 1] has a larger variance
SMALLEST = 1e-6  # an estimated variance is kept above this
ENOUGH = 8  # degrees of freedom before an estimated variance is used
CAUTION = 1.5  # times the estimate
UNKNOWN = -1.0  # a leak not yet seen


@dataclass(frozen=True)
class Settings:
    arms: int
    window: int  # d
    horizon: int  # T, 0 if unknown
    level: int  # 0 plain, 1 strict, 2 plus
    endgame: int  # E, steps
    variance: float  # v, of one pull's reward at most; 1/4 if nothing is known
    tail: float  # 1/3 for Bernstein's bound, 0 without its second term
    batches: int  # 1 if the variance is estimated


@dataclass
class State:
    pulls: list[int]  # N
    closed_sums: list[float]  # PS, seen in runs before the last, and what they were owed
    closed_pulls: list[int]  # Pn
    run_sums: list[float]  # LS, seen in the last run
    run_pulls: list[int]  # Ln
    leaks: list[float]  # H, owed to the last run at most; -1 unknown
    kept_sums: list[float]  # WS, seen after heads
    kept_steps: list[int]  # Wn
    highs: list[float]  # U
    means: list[float]  # M
    batch_counts: list[int]  # whole batches, of `window` kept steps
    batch_steps: list[int]  # in them
    batch_sums: list[float]  # of their totals
    batch_squares: list[float]  # of (total of a batch)^2 / its steps
    clock: int  # t, steps played
    reach: int  # T, or the guess of it
    variance: float  # v in use
    arm: int  # a, in play
    last: int  # arm of the run before, -1 if none
    age: int  # n, steps of the run in play
    until: int  # age at which its hold ends
    faded: int  # age at which it first lost the lead, 0 if it has not
    open_steps: int  # of the batch begun
    open_sum: float


def evidence(level: int, reach: int, arms: int, count: float) -> float:
    """f: log T, log T + 3 log log T (strict), or log+(x (log+(x)^2 + 1)) with x = T / (K n) (plus)."""
    if level == PLUS:
        share = reach / (arms * count)
        growth = max(0.0, math.log(share))
        return max(0.0, math.log(share * (growth * growth + 1.0)))
    f = math.log(reach)
    if level == STRICT:
        f += 3.0 * math.log(max(1.0, f))
    return f


def highest(total: float, count: float, f: float, variance: float, tail: float) -> float:
    """The largest mean that `count` rewards may have whose sum is at most `total`; 1 if nothing is known."""
    if count <= 0:
        return 1.0
    radius = math.sqrt(2.0 * variance * f / count) + tail * f / count
    return min(klup(total, count, f), total / count + radius)


def lowest(total: float, count: float, f: float, variance: float, tail: float) -> float:
    """The smallest mean that `count` rewards may have whose sum is at least `total`: the mirror image."""
    return 1.0 - highest(count - min(total, count), count, f, variance, tail)


def pooled_variance(counts: list[int], steps: list[int], sums: list[float], squares: list[float]) -> float:
    """A pull's variance from batches of a window's totals or more, within arms, times 1.5; 1/4 while batches are few.

    A batch of n totals holds about n whole rewards, so n times the variance of its mean is about one reward's.
    `squares` adds up (sum of a batch)^2 / n.
    """
    freedom = 0
    scatter = 0.0
    for arm in range(len(counts)):
        if counts[arm] > 1:
            freedom += counts[arm] - 1
            scatter += max(0.0, squares[arm] - sums[arm] * sums[arm] / steps[arm])
    if freedom < ENOUGH:
        return LARGEST
    return min(LARGEST, max(SMALLEST, CAUTION * scatter / freedom))


def ceiling(settings: Settings, state: State, level: int, total: float, count: int) -> float:
    if count <= 0:
        return 1.0
    f = evidence(level, state.reach, settings.arms, count)
    return highest(total, float(count), f, state.variance, settings.tail)


def upper(settings: Settings, state: State, arm: int, level: int) -> float:
    """U: trimmed or with the leak added, over all runs or the last alone."""
    total, count = state.run_sums[arm], state.run_pulls[arm]
    closed, before = state.closed_sums[arm], state.closed_pulls[arm]
    trim = min(settings.window - 1, count)
    high = ceiling(settings, state, level, closed + total, before + count - trim)
    high = min(high, ceiling(settings, state, level, total, count - trim))
    leak = state.leaks[arm]
    if leak >= 0.0:
        high = min(high, ceiling(settings, state, level, closed + total + leak, before + count))
        high = min(high, ceiling(settings, state, level, total + leak, count))
    return high


def lower(settings: Settings, state: State, arm: int, level: int) -> float:
    """lo: what was seen after heads, over all pulls."""
    count = state.pulls[arm]
    if count == 0:
        return 0.0
    f = evidence(level, state.reach, settings.arms, count)
    return lowest(state.kept_sums[arm], float(count), f, state.variance, settings.tail)


def middle(state: State, arm: int, low: float, high: float) -> float:
    """M: the mean of what was seen after heads, moved between the bounds."""
    mean = 0.0
    if state.kept_steps[arm] > 0:
        mean = state.kept_sums[arm] / state.kept_steps[arm]
    return min(max(mean, low), high)
