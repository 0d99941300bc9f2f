r"""Phased elimination (Algorithm 2 of Garg & Akash 2019): $n_m$, Theorem 2 as printed, and a sharper one.

Phase $m$ resolves gaps of $\tilde\Delta = 2^{-m}$ and ends at $n_m$ pulls of each active arm; with
$L = \log(T \tilde\Delta^2)$ a mean is then right to $\tilde\Delta/2$, chance and leak together, except with
probability $2/(T \tilde\Delta^2)$. The proofs are in `docs/theory/elimination.md`.
"""

import math
from collections.abc import Callable, Sequence

from afterglow.policies.phased_elimination import pulls_needed, schedule
from afterglow.theory.gaps import other_gaps, positive_gaps
from afterglow.theory.leakage import leak

__all__ = [
    "auer_ortner", "lemma_3_paper", "pulls_at_elimination", "pulls_needed", "pulls_root", "resolving_phase", "schedule",
    "theorem_2_paper", "theorem_2_sharper",
]  # fmt: skip

GRID = 200  # thresholds lambda tried where the gaps are not known


def pulls_root(horizon: int, window: int, phase: int, gap: float) -> float:
    r"""$n_m$ before rounding: $\frac{(\sqrt L + \sqrt{L + 4 \tilde\Delta m (d-1)})^2}{2 \tilde\Delta^2}$ (Algorithm 2).

    The $n$ at which chance and leak fill half the gap: $\sqrt{L/(2n)} + m(d-1)/n = \tilde\Delta/2$.
    """
    level = math.log(horizon * gap * gap)
    return (math.sqrt(level) + math.sqrt(level + 4 * gap * leak(window, phase))) ** 2 / (2 * gap * gap)


def lemma_3_paper(horizon: int, gap: float) -> float:
    r"""$P(|\bar X_i - \mu_i| > \tilde\Delta/2) \le 2/(T \tilde\Delta^2)$ after phase $m$: what $n_m$ is solved for."""
    return 2 / (horizon * gap * gap)


def resolving_phase(gap: float) -> int:
    r"""$m_i$, the first phase with $2^{-m} < \Delta_i/2$; then $\Delta_i/4 \le 2^{-m_i}$. Gaps from 0 to 1."""
    phase = 1
    while 2.0**-phase >= gap / 2:
        phase += 1
    return phase


def pulls_at_elimination(gap: float, horizon: int, window: int) -> float:
    r"""$n_{m_i} \le 32 \log(T \Delta^2/4)/\Delta^2 + 16 \log_2(4/\Delta) (d-1)/\Delta + 1$ (sharper than Theorem 2).

    For gaps of at least $4 \sqrt{e/T}$: a smaller one may not be resolved before the policy commits.
    """
    chance = 32 * math.log(horizon * gap * gap / 4) / gap**2
    return chance + 16 * math.log2(4 / gap) * leak(window) / gap + 1


def theorem_2_paper(arms: int, horizon: int, window: int, gaps: Sequence[float] | None = None) -> float:
    r"""Regret as printed (Theorem 2), at the best $\lambda \ge \sqrt{e/T}$ tried:

    $$\sum_{\Delta_j > \lambda} \Big(\Delta_j + \frac{64 \log(T \Delta_j^2)}{\Delta_j} + 64 \log\frac{2}{\Delta_j}(d-1)
    + \frac{96}{\Delta_j}\Big) + \sum_{0 < \Delta_j \le \lambda} \frac{64}{\lambda}
    + T \max_{\Delta_j \le \lambda} \Delta_j.$$
    """

    def cost(gap: float) -> float:
        chance = 64 * math.log(horizon * gap * gap) / gap
        return gap + chance + 64 * math.log(2 / gap) * leak(window) + 96 / gap

    known = None if gaps is None else positive_gaps(arms, gaps)
    return _over_thresholds(cost, math.sqrt(math.e / horizon), arms, horizon, known)


def theorem_2_sharper(arms: int, horizon: int, window: int, gaps: Sequence[float] | None = None) -> float:
    r"""As `theorem_2_paper`, for $\lambda \ge 4 \sqrt{e/T}$ and with the first sum over

    $$\Delta_j + \frac{32 \log(T \Delta_j^2/4)}{\Delta_j} + 16 \log_2\frac{4}{\Delta_j} (d-1) + \frac{64}{\Delta_j}.$$

    Where several arms are best, all but one of them count in the second sum.
    """

    def cost(gap: float) -> float:
        return gap * pulls_at_elimination(gap, horizon, window) + 64 / gap

    known = None if gaps is None else other_gaps(arms, gaps)
    return _over_thresholds(cost, 4 * math.sqrt(math.e / horizon), arms, horizon, known)


def auer_ortner(arms: int, horizon: int, gaps: Sequence[float] | None = None) -> float:
    r"""Improved UCB, $d = 1$ only: as `theorem_2_paper` with $\Delta_j + 32 \log(T \Delta_j^2)/\Delta_j + 96/\Delta_j$.

    Auer & Ortner 2010, Theorem 3.1; cited, not proved here.
    """

    def cost(gap: float) -> float:
        return gap + 32 * math.log(horizon * gap * gap) / gap + 96 / gap

    known = None if gaps is None else positive_gaps(arms, gaps)
    return _over_thresholds(cost, math.sqrt(math.e / horizon), arms, horizon, known)


def _over_thresholds(
    cost: Callable[[float], float], least: float, arms: int, horizon: int, known: list[float] | None
) -> float:
    """The smallest bound over thresholds lambda >= least: the gaps themselves, or a grid if they are not known."""
    if known is None:
        return _worst_case(cost, least, arms, horizon)
    best = math.inf
    for threshold in {least, *(gap for gap in known if gap > least)}:
        small = [gap for gap in known if gap <= threshold]
        large = math.fsum(cost(gap) for gap in known if gap > threshold)
        best = min(best, large + 64 / threshold * len(small) + horizon * max(small, default=0.0))
    return best


def _worst_case(cost: Callable[[float], float], least: float, arms: int, horizon: int) -> float:
    r"""The bound for any gaps. From $e/\sqrt T$ on, a larger gap costs less but for the term $\Delta \le 1$."""
    best = float(horizon)  # no gap is above 1
    start = max(least, math.e / math.sqrt(horizon))
    if start < 1:
        for step in range(GRID):
            threshold = start ** (1 - step / GRID)
            best = min(best, (arms - 1) * (cost(threshold) + 1) + horizon * threshold)
    return best
