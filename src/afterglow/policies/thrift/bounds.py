r"""Bounds, noise and the alarm of `thrift_ucb`.

With $S$ seen in a run of $n$ steps, its first $n - w$ rewards add up to $S$ at most. All $n$ add up to $S + H$ at most,
where $H$ is the smaller of $w$ and what the next head shows (Lemma 1 of `docs/theory/trim-ucb.md`). From a sum of at
most $s$ over $c$ rewards follows $U$:

- *proved*: the largest $q$ with $c\,\mathrm{kl}(s/c, q) \le \log T$;
- *with estimated noise*: $s/c + \sqrt{2 v \log^+(T/(Kc))/c}$.

The noise $v$ is what one washed step adds to the variance of a long sum. It is read from batches within arms,
$v = (2 g + SS)/(2 + df)$ between $10^{-6}$ and $q(1 - q)$, with $q$ the mean of all washed steps. The prior $g$ counts
as two batches. It is the square of the noise that is known, else of $q/4$.
"""

import math

from afterglow.policies.terms import klup
from afterglow.policies.thrift.state import UNKNOWN, Settings, State, capped_mean, kept_steps, kept_sum

UNTRIED = 1e9  # the bound of an arm that was never played: above all others, also where totals are larger than told
EXACT = 0.0  # in place of a noise: bounds that need none
LEAST = 1e-6  # an estimated noise is kept above this
ROUNDING = 1e-12  # least variance of old steps, so that means which differ by rounding raise no alarm
LONGEST = 4  # windows of washout from which on there is no alarm: it doubles three times at most
SHARE = 0.07  # of its share of the horizon that an arm is played at first
TRIED = 5  # windows on an arm after which its noise is known well enough
ENOUGH = 48  # washed steps that are enough for that too: with a long window five windows would cost more than proof
ROOM = 8  # nor is there one if the horizon is less than this many washouts of every arm


def ceiling(settings: Settings, total: float, count: int, reach: float, v: float) -> float:
    """The largest mean that `count` rewards may have whose sum is at most `total`; 1 if nothing is known."""
    if count <= 0:
        return 1.0
    if v == EXACT:
        return max(total / count, klup(total, float(count), math.log(reach)))
    return total / count + math.sqrt(2.0 * v * max(0.0, math.log(reach / (settings.arms * count))) / count)


def upper(settings: Settings, state: State, arm: int, reach: float, v: float) -> float:
    """U, from the last run."""
    if state.pulls[arm] == 0:
        return UNTRIED
    total, count = state.run_sums[arm], state.run_pulls[arm]
    high = ceiling(settings, total, count - settings.window + 1, reach, v)
    if state.owed[arm] >= 0.0:
        high = min(high, ceiling(settings, total + state.owed[arm], count, reach, v))
    return high


def overall_mean(settings: Settings, state: State) -> float:
    """q: the mean of all washed steps."""
    total = 0.0
    steps = 0
    for arm in range(settings.arms):
        total += kept_sum(settings, state, arm)
        steps += kept_steps(settings, state, arm)
    return total / max(1, steps)


def prior_noise(settings: Settings, q: float) -> float:
    """The square root of g: the noise of one step before any batch has shown it."""
    return settings.noise if settings.noise > 0.0 else q / 4.0


def noise(settings: Settings, state: State) -> float:
    """v, pooled over arms."""
    q = overall_mean(settings, state)
    prior = prior_noise(settings, q)
    scatter, freedom = batch_scatter(settings, state, 0)
    return max(LEAST, min((2.0 * prior * prior + scatter) / (2 + freedom), q * (1.0 - q)))


def batch_scatter(settings: Settings, state: State, first: int) -> tuple[float, int]:
    """SS and df: squares of batches about the mean of their place, from place `first` on (K: old steps alone)."""
    scatter = 0.0
    freedom = 0
    for place in range(first, 2 * settings.arms):
        if state.batches[place] > 1:
            scatter += max(0.0, state.squares[place] - state.sums[place] * state.sums[place] / state.kept[place])
            freedom += state.batches[place] - 1
    return scatter, freedom


def too_few(settings: Settings, state: State, reach: float) -> bool:
    """Whether the arm in play has too few washed steps to be left.

    It needs 7 % of its share of the horizon, less a window, but not more than five windows or 48 steps: enough for its
    noise to be known. With one batch it is kept also if it trails the best by at most two standard errors of the prior.
    """
    arm = state.arm
    most = min(TRIED * settings.window, ENOUGH)
    if kept_steps(settings, state, arm) < min(most, SHARE * reach / settings.arms - settings.window):
        return True
    if state.batches[arm] + state.batches[settings.arms + arm] != 1:
        return False
    best = arm
    for other in range(settings.arms):
        if capped_mean(settings, state, other) > capped_mean(settings, state, best):
            best = other
    gap = capped_mean(settings, state, best) - capped_mean(settings, state, arm)
    prior = prior_noise(settings, overall_mean(settings, state))
    counts = 1.0 / kept_steps(settings, state, arm) + 1.0 / kept_steps(settings, state, best)
    return gap <= 2.0 * prior * math.sqrt(counts)


def too_short(settings: Settings, state: State, reach: float) -> bool:
    """The alarm: whether an arm's young and old steps differ by more than noise explains."""
    K = settings.arms
    scatter, freedom = batch_scatter(settings, state, K)
    if freedom < 4 or not 0 < state.washout < LONGEST * settings.window or ROOM * K * state.washout > reach:
        return False
    width = 2.0 * math.log(reach) * (1.0 + 6.0 / freedom) ** 2 * max(ROUNDING, scatter / freedom)
    for arm in range(K):
        young, old = state.kept[arm], state.kept[K + arm]
        if 2 * min(young, old) >= settings.window:
            gap = state.sums[arm] / young - state.sums[K + arm] / old
            if gap * gap > width * (1.0 / young + 1.0 / old):
                return True
    return False


def affordable(settings: Settings, state: State, reach: float, share: float, arm: int) -> float:
    """Steps on an arm until the regret, were M right, is a share of random play's; -1 if it is more already."""
    top = UNKNOWN
    for other in range(settings.arms):
        top = max(top, capped_mean(settings, state, other))
    lost = 0.0
    gaps = 0.0
    tried = 0
    for other in range(settings.arms):
        if kept_steps(settings, state, other) > 0:
            gap = top - capped_mean(settings, state, other)
            lost += gap * state.pulls[other]
            gaps += gap
            tried += 1
    left = share * reach * gaps / max(1, tried) - lost
    gap = top - capped_mean(settings, state, arm)
    if left < 0.0:
        return UNKNOWN
    return left / gap if gap > 0.0 and kept_steps(settings, state, arm) > 0 else reach
