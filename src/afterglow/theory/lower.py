r"""Lower bounds: what no policy can do better, and how much an adversary can hide in a window.

Lai & Robbins (1985): a policy whose regret grows slower than every power of $T$ on every instance has
$\liminf R_T/\log T \ge \sum_i \Delta_i/\mathrm{kl}(\mu_i, \mu^*)$ for Bernoulli arms. Our theorem: against spreads that
may react to what is played, regret is of order $K d$ even where nothing is delayed. The proofs are in
`docs/theory/lower-bounds.md`.
"""

import math
from collections.abc import Sequence

from afterglow.checks import between, whole
from afterglow.errors import BadValue, argument
from afterglow.policies.terms import kl

LARGEST_GAP = 1 / 8


def lai_robbins(means: Sequence[float], horizon: int) -> float:
    r"""$\log T \sum_i \Delta_i/\mathrm{kl}(\mu_i, \mu^*)$: the least regret of Bernoulli arms, as T grows.

    >>> round(lai_robbins([0.9, 0.8, 0.7, 0.6, 0.5], 100_000), 1)
    61.0
    """
    checked = [between("means", mean, 0, 1, "each of them") for mean in means]
    if len(checked) < 2:
        raise BadValue(f"{argument('means')} must be at least 2, got {len(checked)}")
    steps, best = whole("horizon", horizon, 1), max(checked)
    if best >= 1.0:
        return 0.0
    return math.log(steps) * math.fsum((best - mean) / kl(mean, best) for mean in checked if mean < best)


def hidden_pulls(window: int, gap: float) -> int:
    r"""$\lfloor (d - 1)/(16 \Delta) \rfloor$: pulls during which a spread can hide that an arm is $2\Delta$ better.

    >>> hidden_pulls(200, 0.1)
    124
    """
    steps, size = whole("window", window, 1, "1 = paid at once"), between("gap", gap, 0, LARGEST_GAP)
    if not size:
        raise BadValue(f"{argument('gap')} must be above 0, got {gap!r}")
    return int((steps - 1) / (16 * size))


def hiding_holds(horizon: int, window: int, gap: float) -> bool:
    r"""Whether the theorem applies: $d - 1 \ge 32 \log(16 T)$ and at most a quarter of the horizon is hidden."""
    return window - 1 >= 32 * math.log(16 * horizon) and 4 * hidden_pulls(window, gap) <= horizon


def hiding_regret(arms: int, horizon: int, window: int, gap: float) -> float | None:
    r"""$(K - 1)(d - 1)/32$: the least regret against every spread; None outside its conditions.

    >>> hiding_regret(5, 100_000, 1001, 0.1)
    125.0
    """
    arms = whole("arms", arms, 2)
    if not hiding_holds(whole("horizon", horizon, 1), window, gap):
        return None
    return (arms - 1) * (window - 1) / 32
