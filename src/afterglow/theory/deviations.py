r"""Deviation bounds for means of rewards in $[0, 1]$: at one count, and uniform over all counts.

The rewards are those of one arm in the order of its pulls, independent with mean $\mu$. Kullback-Leibler
divergence is between Bernoulli laws, $\mathrm{kl}(p, q) \ge 2 (p - q)^2$. Proofs of the two uniform bounds are in
`docs/theory/trim-ucb.md`.
"""

import math


def hoeffding(count: float, deviation: float) -> float:
    r"""$P(\hat\mu_n \ge \mu + \varepsilon) \le e^{-2 n \varepsilon^2}$ (Hoeffding 1963, Theorem 1)."""
    return math.exp(-2 * count * deviation * deviation)


def peeling(level: float, horizon: int) -> float:
    r"""$P(\exists n \le T: \hat\mu_n < \mu, n\,\mathrm{kl}(\hat\mu_n, \mu) \ge f) \le e \lceil f \log T \rceil e^{-f}$.

    The same for $\hat\mu_n > \mu$. It is 1 for $f \le 1$ (Garivier & Cappé 2011, Theorem 10).
    """
    if level <= 1:
        return 1.0
    return min(1.0, max(1, math.ceil(level * math.log(horizon))) * math.exp(1 - level))


def mixture_level(count: float, delta: float) -> float:
    r"""$\log((n + 1)/\delta)$: $n\,\mathrm{kl}(\hat\mu_n, \mu)$ ever reaches it with probability $\delta$ at most.

    Both sides together, no horizon, rewards of any kind in $[0, 1]$ and not only whole sums (Ville's inequality
    for the uniform mixture of likelihood ratios).
    """
    return math.log((count + 1) / delta)


def log_mixture(total: float, count: float, mean: float) -> float:
    r"""Log of the mixture $W_n = \int_0^1 \theta^S (1-\theta)^{n-S} d\theta \,/\, (\mu^S (1-\mu)^{n-S})$.

    $W$ is a supermartingale from 1, and $W_n \ge e^{n\,\mathrm{kl}(S/n, \mu)}/(n + 1)$, equal for $S = 0$ and $S = n$.
    """
    rest = count - total
    beta = math.lgamma(total + 1) + math.lgamma(rest + 1) - math.lgamma(count + 2)
    return beta - total * math.log(mean) - rest * math.log1p(-mean)
