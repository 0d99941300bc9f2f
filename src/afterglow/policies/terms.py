"""Formulas that several policies share; plain Python, compiled with the policies that call them."""

import math

NEVER = math.inf  # index of an arm that was never played
SURELY = 1.0 - 1e-13  # a factor that leaves room for rounding


def mean_plus(total: float, pulls: float, width: float) -> float:
    """Mean plus sqrt(width / pulls); infinite for an arm never played."""
    if pulls == 0:
        return NEVER
    return total / pulls + math.sqrt(width / pulls)


def best_mean_plus(sums: list[float], pulls: list[int], width: float) -> int:
    """The first arm never played, else the arm of largest `mean_plus`; a tie goes to the lowest.

    Most arms are ruled out without a division or a root: with n pulls and sum S an arm is below `top` if
    x = top n - S is positive and x * x > width n. `SURELY` leaves more room than the rounding of either side takes,
    so the arm is the same as if all were computed.
    """
    most = 0
    for arm in range(len(pulls)):
        if pulls[arm] == 0:
            return arm
        if pulls[arm] > pulls[most]:
            most = arm
    best = most
    top = sums[most] / pulls[most] + math.sqrt(width / pulls[most])
    for arm in range(len(pulls)):
        n = float(pulls[arm])
        behind = top * SURELY * n - sums[arm]
        if arm == most or (sums[arm] >= 0.0 and behind > 0.0 and behind * behind * SURELY > width * n):
            continue
        value = sums[arm] / n + math.sqrt(width / n)
        if value > top or (value == top and arm < best):
            top = value
            best = arm
    return best


def kl(p: float, q: float) -> float:
    """Kullback-Leibler divergence of Bernoulli(p) from Bernoulli(q), 0 <= p, q <= 1; infinite where q excludes p."""
    if (p > 0.0 and q <= 0.0) or (p < 1.0 and q >= 1.0):
        return math.inf
    value = 0.0
    if p > 0.0:
        value += p * math.log(p / q)
    if p < 1.0:
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return value


def klup(total: float, count: float, level: float) -> float:
    """The largest q with count * kl(total / count, q) <= level, by 40 halvings; 1 if nothing is known."""
    if count <= 0 or total >= count:
        return 1.0
    mean = max(total, 0.0) / count
    low = mean
    high = 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if count * kl(mean, middle) > level:
            high = middle
        else:
            low = middle
    return low


def kldown(total: float, count: float, level: float) -> float:
    """The smallest q with count * kl(total / count, q) <= level: the mirror image of `klup`."""
    return 1.0 - klup(count - min(total, count), count, level)


SHORT = 100  # windows per arm below which an experiment is short


def is_short(horizon: int, arms: int, window: int) -> bool:
    """Whether an experiment has fewer than 100 windows per arm."""
    return horizon < SHORT * arms * window


def arm_to_keep(pulls: list[int], sums: list[float], clock: int, window: int) -> int:
    """The arm played most; before 100 windows per arm were played, the tried arm of highest mean.

    >>> arm_to_keep([500, 300, 0], [200.0, 180.0, 0.0], clock=800, window=10)
    1
    >>> arm_to_keep([50_000, 300, 0], [20_000.0, 180.0, 0.0], clock=50_300, window=10)
    0
    """
    tried = [arm for arm in range(len(pulls)) if pulls[arm] > 0]
    if not tried or not is_short(clock, len(pulls), window):
        return max(range(len(pulls)), key=lambda arm: pulls[arm])
    return max(tried, key=lambda arm: sums[arm] / pulls[arm])
