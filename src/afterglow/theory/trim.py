r"""Trim-UCB: bounds on the pulls of a suboptimal arm and on the regret, for every spread.

Write $w = d - 1$ and $f$ for the evidence asked. Unless one of at most $2 \log_2 T$ deviations happens, each of
probability `peeling(f, T)`, the best arm's upper bound stays above its mean, and an arm of gap $\Delta$ whose run
has lasted $w + B$ steps has its own below that. A run is as long as all before it, and is played on for six
times the age at which it lost the lead at most, so the arm is played

$$T_i \le 2B + w + 6.3 (w + \max(16, d, 2B + w)) + 1, \qquad B \le \max(4w/\Delta, 9f/\Delta^2).$$

The proof is in `docs/theory/trim-ucb.md`.
"""

import math
from collections.abc import Sequence

from afterglow.errors import BadValue, argument
from afterglow.policies.trim.bounds import PLAIN, STRICT, evidence
from afterglow.policies.trim_ucb import PATIENCE
from afterglow.theory.deviations import peeling
from afterglow.theory.gaps import positive_gaps, sum_of_gaps

LEVELS = {"plain": PLAIN, "strict": STRICT}
GROWTH = 1.05  # a run's holds end at ages growing by this
STRETCH = PATIENCE * GROWTH  # 6.3: a run's length, in ages at which it lost the lead, but for one step


def log_evidence(horizon: int, level: str = "strict") -> float:
    r"""$f$: $\log T$ (plain), $\log T + 3 \log\log T$ (strict). At `"plus"` the upper bounds are not always valid."""
    if level not in LEVELS:
        raise BadValue(f"{argument('level')} must be plain or strict for a bound to hold, got {level!r}")
    return evidence(LEVELS[level], horizon, 1, 1)


def settling(gap: float, window: int, f: float) -> float:
    r"""$B$: the least $v$ with $\frac{2w}{v} + \big(1 + \sqrt{1 + w/v}\big) \sqrt{\frac{f}{2v}} \le \Delta$.

    A run's upper bound is off by less after $w + v$ steps; $B \le \max(4w/\Delta, 9f/\Delta^2)$, and
    $B = 2f/\Delta^2$ where $d = 1$.
    """
    w = window - 1
    low, high = 0.0, max(4 * w / gap, 9 * f / gap**2)
    for _ in range(60):
        v = (low + high) / 2
        if v > 0 and 2 * w / v + (1 + math.sqrt(1 + w / v)) * math.sqrt(f / (2 * v)) <= gap:
            high = v
        else:
            low = v
    return high


def pulls(gap: float, window: int, f: float) -> float:
    r"""$T_i \le 2B + w + 6.3 (w + \max(16, d, 2B + w)) + 1$ unless a deviation happens."""
    w = window - 1
    before = 2 * settling(gap, window, f) + w
    return before + STRETCH * (w + max(16, window, before)) + 1


def failure(horizon: int, f: float) -> float:
    r"""$\log_2 T \cdot e \lceil f \log T \rceil e^{-f}$: a deviation on one side, in any run of one arm."""
    return min(1.0, max(1.0, math.log2(horizon)) * peeling(f, horizon))


def regret_bound(
    arms: int,
    horizon: int,
    window: int,
    gaps: Sequence[float] | None = None,
    level: str = "strict",
    endgame: int | None = None,
    radii: int = 1,
) -> float:
    r"""$\sum \Delta_i T_i + p T (\max \Delta_i + \sum \Delta_i) + E \max \Delta_i$; $T_i$ is `pulls`, $p$ `failure`.

    $O(K d + \sum \log T/\Delta_i)$ for level strict, and $O(\log^3 T) \sum \Delta_i$ more for plain. Without gaps,
    $\sqrt{131.4 f (K-1) T} + (K-1)(58.4 w + 13.6 w + 6.3 \max(16, d) + 1)$ takes the place of the sum and every gap
    is taken as 1. `radii` is 2 where a known variance narrows the bounds: each of the two may fail.
    """
    f = log_evidence(horizon, level)
    last = min(16 * window, (horizon + 1) // 2) if endgame is None else endgame
    fails = min(1.0, radii * failure(horizon, f))
    widest = 1.0 if gaps is None else max(positive_gaps(arms, gaps), default=0.0)
    aside = fails * horizon * (widest + sum_of_gaps(arms, gaps)) + last * widest
    w, share = window - 1, 2 + 2 * STRETCH  # T_i <= share * B + ...
    each = (4 * share + 1 + 2 * STRETCH) * w + STRETCH * max(16, window) + 1
    free = math.sqrt(9 * share * f * (arms - 1) * horizon) + (arms - 1) * each
    if gaps is None:
        return free + aside
    return min(free, math.fsum(gap * pulls(gap, window, f) for gap in positive_gaps(arms, gaps))) + aside
