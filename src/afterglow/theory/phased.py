r"""Phased UCB (Algorithm 1 of Garg & Akash 2019): its constants, Theorem 1 as printed, and one that is proved.

Both versions of the policy hold for $k$ steps the arm of largest $S_i/n_i + \rho \sqrt{\log T / n_i}$, with a
bias of $(d - 1)/k = \beta \sqrt{\log T / T}$ at most. Whenever $\rho - \beta \ge 1$, every arm of gap $\Delta$ has

$$E[T_i] \le (\rho + \beta + 1/\sqrt 2)^2 \frac{\log T}{\Delta^2} + k + 2.$$

The corrected constants have $\rho = 1/a$, $\beta \le 1/a - 1$; those of the paper twice as much. The proof is
in `docs/theory/phased-ucb.md`.
"""

import math
from collections.abc import Sequence

from afterglow.policies.phased_ucb import hold_length, log_level
from afterglow.theory.gaps import positive_gaps, sum_of_gaps
from afterglow.theory.leakage import leak

__all__ = [
    "bias_scale", "corrected_constant", "hold_length", "leftover_exponent", "log_level", "pulls_constant",
    "pulls_corrected", "pulls_paper", "pulls_proved", "radius_scale", "regret_proved", "theorem_1_corrected",
    "theorem_1_paper",
]  # fmt: skip

TAIL = 1 / math.sqrt(2)  # a deviation of TAIL * sqrt(log T / n) has probability 1/T at most


def radius_scale(width: float, horizon: int) -> float:
    r"""$\rho$, the radius $\sqrt{\text{width}/n}$ in units of $\sqrt{\log T / n}$."""
    return math.sqrt(width / math.log(horizon))


def bias_scale(window: int, hold: int, horizon: int) -> float:
    r"""$\beta = \frac{d - 1}{k} \sqrt{T / \log T}$, the bias in units of $\sqrt{\log T / T}$."""
    return leak(window) / hold * math.sqrt(horizon / math.log(horizon))


def pulls_constant(radius: float, bias: float) -> float:
    r"""$(\rho + \beta + 1/\sqrt 2)^2$ where $\rho - \beta \ge 1$; infinite where nothing is proved."""
    return (radius + bias + TAIL) ** 2 if radius - bias >= 1 - 1e-12 else math.inf


def corrected_constant(a: float = 0.5) -> float:
    r"""$(2/a - 1 + 1/\sqrt 2)^2$: 13.743 at $a = 1/2$, 5.635 at $a = 3/4$ (corrected Theorem 1)."""
    return (2 / a - 1 + TAIL) ** 2


def pulls_proved(gap: float, horizon: int, hold: int, constant: float) -> float:
    r"""$E[T_i] \le C \log T / \Delta^2 + k + 2$ (corrected Theorem 1)."""
    return constant * math.log(horizon) / gap**2 + hold + 2


def pulls_corrected(gap: float, horizon: int, window: int, a: float = 0.5) -> float:
    r"""$E[T_i] \le (2/a - 1 + 1/\sqrt 2)^2 \log T / \Delta^2 + k + 2$ with the corrected radius and $k$."""
    return pulls_proved(gap, horizon, hold_length(window, horizon, "corrected", a), corrected_constant(a))


def pulls_paper(gap: float, horizon: int, window: int) -> float:
    r"""$E[T_i] \le \frac{289}{4} \log T/\Delta^2 + \frac d2 \sqrt{T/\log T} + 2$, as printed (Theorem 1, proof)."""
    log_t = math.log(horizon)
    return 289 / 4 * log_t / gap**2 + window / 2 * math.sqrt(horizon / log_t) + 2


def theorem_1_paper(arms: int, horizon: int, window: int, gaps: Sequence[float] | None = None) -> float:
    r"""Regret $\le 17 \sqrt{T K \log T} + (\frac d2 \sqrt{T / \log T} + 2) \sum \Delta_i$, as printed (Theorem 1).

    Gaps that are not known are taken as 1, all but the best arm's.
    """
    log_t = math.log(horizon)
    per_gap = window / 2 * math.sqrt(horizon / log_t) + 2
    return 17 * math.sqrt(horizon * arms * log_t) + per_gap * sum_of_gaps(arms, gaps)


def regret_proved(arms: int, horizon: int, hold: int, constant: float, gaps: Sequence[float] | None = None) -> float:
    r"""The smaller of $\sum (C \log T/\Delta_i + (k+2) \Delta_i)$ and $\sqrt{C (K-1) T \log T} + (k+2) \sum \Delta_i$.

    Both follow from $E[T_i] \le C \log T / \Delta_i^2 + k + 2$, the second by the inequality of Cauchy and
    Schwarz. Gaps that are not known are taken as 1, all but the best arm's, and the second is returned.
    """
    log_t = math.log(horizon)
    free = math.sqrt(constant * (arms - 1) * horizon * log_t) + (hold + 2) * sum_of_gaps(arms, gaps)
    if gaps is None:
        return free
    return min(free, math.fsum(gap * pulls_proved(gap, horizon, hold, constant) for gap in positive_gaps(arms, gaps)))


def theorem_1_corrected(
    arms: int, horizon: int, window: int, gaps: Sequence[float] | None = None, a: float = 0.5
) -> float:
    r"""`regret_proved` for the corrected radius and $k$: $C = (2/a - 1 + 1/\sqrt 2)^2$."""
    return regret_proved(arms, horizon, hold_length(window, horizon, "corrected", a), corrected_constant(a), gaps)


def leftover_exponent(c: float, a: float = 0.5, factor: float = 16) -> float:
    r"""Power of $T$ that the paper's split $\Delta = (1-c)\Delta + c\Delta$ leaves: $1 - x c^2/((1-c)^2 a^2)$.

    Its proof of Theorem 1 adds $T$ times this probability to $E[T_i]$: $x$ is 16 as printed, 8 for 1-sub-Gaussian
    rewards, 32 for rewards in $[0, 1]$ by Hoeffding. At $c = 1/17$ that is $T^{3/4}$, $T^{7/8}$, $T^{1/2}$.
    """
    return 1 - factor * c**2 / ((1 - c) ** 2 * a**2)
