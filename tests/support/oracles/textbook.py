"""Second implementations of thompson, kl-ucb and ars-exp3, for tests: each decision from the whole record, by formula.

Nothing is kept from one decision to the next, and nothing of the package is used. A record is a list of holds, each
its arm, how many of its first steps don't count, and the totals of all its steps.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import rel_entr

Record = Sequence[tuple[int, int, Sequence[float]]]


def thompson(record: Record, arms: int, window: int, uniforms: Sequence[float]) -> tuple[int, int, int]:
    """Draw from N(mean, v / n) for each arm; v is the pooled scatter of hold means, with two prior holds of 1/4."""
    u = np.reshape(np.asarray(uniforms), (arms, 2))
    normal = np.sqrt(-2 * np.log(1 - u[:, 0])) * np.cos(2 * np.pi * u[:, 1])
    drawn = np.full(arms, np.inf)
    for arm in range(arms):
        batches = [np.asarray(totals[skipped:]) for one, skipped, totals in record if one == arm]
        batches = [batch for batch in batches if batch.size]
        if batches:
            steps = np.concatenate(batches)
            sizes = np.array([batch.size for batch in batches])
            means = np.array([batch.mean() for batch in batches])
            scatter = np.sum(sizes * (means - steps.mean()) ** 2)
            v = (2 * 0.25 + scatter) / (2 + len(batches) - 1)
            drawn[arm] = steps.mean() + np.sqrt(v / steps.size) * normal[arm]
    best = int(np.argmax(drawn))
    washout = 0 if record and record[-1][0] == best else window - 1
    return best, washout + window, washout


def kl_ucb(record: Record, arms: int, c: float) -> int:
    """Garivier & Cappé 2011, Algorithm 1: the largest q with n kl(mean, q) <= log t + c log log t."""
    played = np.array([arm for arm, _, _ in record], int)
    totals = np.array([total for _, _, (total,) in record])
    pulls = np.bincount(played, minlength=arms)
    if not pulls.all():
        return int(np.argmin(pulls > 0))
    log_t = np.log(len(record))
    level = log_t + c * np.log(max(log_t, 1.0))
    means = np.minimum(np.bincount(played, totals, minlength=arms) / pulls, 1.0)
    return int(np.argmax([largest(mean, level / n) for mean, n in zip(means, pulls, strict=True)]))


def largest(mean: float, level: float) -> float:
    """The q above `mean` where the divergence of Bernoulli laws is `level`; 1 if it is less everywhere."""

    def beyond(q: float) -> float:
        return float(rel_entr(mean, q) + rel_entr(1 - mean, 1 - q)) - level

    end = 1 - 1e-15
    return 1.0 if mean >= 1.0 or beyond(end) <= 0 else float(brentq(beyond, mean, end, xtol=1e-15))


def ars_exp3(record: Record, arms: int, uniform: float) -> tuple[int, int]:
    """Rounds of ceil(sqrt(j)) steps; exponential weights of losses over the chances that they were drawn with."""
    losses = np.zeros(arms)
    chances = np.full(arms, 1 / arms)
    squares = 0
    for arm, _, totals in record:
        size = len(totals)
        losses[arm] += (size - np.clip(sum(totals), 0, size)) / chances[arm]
        squares += size**2
        weights = np.exp(-np.sqrt(np.log(arms) / (arms * squares)) * (losses - losses.min()))
        chances = weights / weights.sum()
    arm = int(np.searchsorted(np.cumsum(chances), uniform, side="right"))
    return min(arm, arms - 1), int(np.ceil(np.sqrt(len(record) + 1)))
