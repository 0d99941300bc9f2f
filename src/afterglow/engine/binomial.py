r"""Exact binomial numbers from a counter-based stream, in about the same time for any n up to $10^{12}$.

A small mean is inverted: walk up the masses until they pass a uniform. A mean of 10 or more takes the
transformed rejection BTRS of Hörmann (1993): the uniform $U$ on $(-1/2, 1/2)$ is bent into
$k = \lfloor (2a/(1/2 - |U|) + b)\,U + np + 1/2 \rfloor$, whose hat fits the binomial so well that four draws in
five are accepted without looking at their mass. The rest compare it with the mass of the mode $m$: close to $m$ as a
product, further out by the bounds of Kachitvichyanukul & Schmeiser (1988) on $\log f(k)/f(m)$, and where these don't
decide by the masses in Loader's form (2000), which loses no digits at $n = 10^{12}$ where differences of log-factorials
would lose four.

Wolfgang Hörmann: The generation of binomial random variates, J. Statist. Comput. Simul. 46 (1993).
Voratas Kachitvichyanukul, Bruce Schmeiser: Binomial random variate generation, Comm. ACM 31 (1988).
Catherine Loader: Fast and accurate computation of binomial probabilities (2000).
"""

import math

import numpy as np

from afterglow.engine.random import uniform

ROOT_TAU = 0.5 * math.log(2.0 * math.pi)
NEGLIGIBLE = 2.0**-60  # a mass that no uniform can reach
NEAR = 20  # steps from the mode within which masses are multiplied out
EXACT = 16  # below it the error of Stirling's formula is looked up
STIRLING = np.array([0.0] + [math.lgamma(n + 1.0) - ((n + 0.5) * math.log(n) - n + ROOT_TAU) for n in range(1, EXACT)])


def binomial(key: np.uint64, n: int, p: float) -> int:
    """Successes in n trials of probability p; reads the stream of `key`, which nothing else should read."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - rarer(key, n, 1.0 - p)
    return rarer(key, n, p)


def rarer(key: np.uint64, n: int, p: float) -> int:
    """A binomial with p at most one half."""
    if n * p < 10.0:
        return inverted(uniform(key, 0), n, p)
    return rejected(key, n, p)


def inverted(u: float, n: int, p: float) -> int:
    """The quantile at u by adding up masses from 0; for n p < 10, where the first is above 1e-7."""
    odds = p / (1.0 - p)
    mass = math.exp(n * math.log1p(-p))
    k = 0
    while u >= mass > NEGLIGIBLE:
        u -= mass
        mass *= odds * float(n - k) / (k + 1.0)
        k += 1
    return k


def hat(deviation: float, p: float) -> tuple[float, float, float, float]:
    """Hörmann's constants: a and b of the bend, the height that is safe inside it, the scale of the hat."""
    b = 1.15 + 2.53 * deviation
    return -0.0873 + 0.0248 * b + 0.01 * p, b, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation


def rejected(key: np.uint64, n: int, p: float) -> int:
    """Transformed rejection, for p <= 1/2 and n p >= 10."""
    variance = n * p * (1.0 - p)
    a, b, safe, scale = hat(math.sqrt(variance), p)
    centre = n * p + 0.5
    t = 0
    while True:
        u = uniform(key, t) - 0.5
        v = uniform(key, t + 1)
        t += 2
        edge = 0.5 - abs(u)
        if edge < 1e-9:
            continue  # millions of deviations out, where the mass is nil
        k = math.floor((2.0 * a / edge + b) * u + centre)
        if edge >= 0.07 and v <= safe:
            return k
        if 0 <= k <= n and below(v * scale / (a / (edge * edge) + b), n, p, variance, k):
            return k


def below(height: float, n: int, p: float, variance: float, k: int) -> bool:
    """Whether height <= f(k) / f(m), m the mode."""
    mode = math.floor((n + 1) * p)
    far = abs(k - mode)
    if far <= NEAR:
        return below_near(height, n + 1.0, p / (1.0 - p), k, mode)
    if height <= 0.0:
        return True
    level = math.log(height)
    if far < 0.5 * variance - 1.0:
        gap = far / variance * ((far * (far / 3.0 + 0.625) + 1.0 / 6.0) / variance + 0.5)
        middle = -0.5 * far * far / variance
        if level < middle - gap:
            return True
        if level > middle + gap:
            return False
    return level <= log_mass(n, p, k) - log_mass(n, p, mode)


def below_near(height: float, top: float, odds: float, k: int, mode: int) -> bool:
    """The same close to the mode, where f(k) / f(m) is a product of a few f(i) / f(i - 1) = (n + 1 - i) odds / i."""
    upper = 1.0
    lower = 1.0
    for i in range(min(k, mode) + 1, max(k, mode) + 1):
        upper *= (top - i) * odds
        lower *= i
    if k > mode:
        return height * lower <= upper
    return height * upper <= lower


def log_mass(n: int, p: float, k: int) -> float:
    """Log of the binomial probability of k, 0 < p < 1."""
    if k == 0:
        return n * math.log1p(-p)
    if k == n:
        return n * math.log(p)
    near = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    spread = 0.5 * math.log(float(n) / (float(k) * float(n - k))) - ROOT_TAU
    return near + spread - deviance(float(k), n * p) - deviance(float(n - k), n * (1.0 - p))


def stirling_error(n: int) -> float:
    """log n! minus Stirling's formula, n >= 1."""
    if n < EXACT:
        return float(STIRLING[n])
    r = 1.0 / (float(n) * float(n))
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - r / 1188.0) * r) * r) * r) / n


def deviance(x: float, mean: float) -> float:
    """x log(x / mean) - x + mean for x > 0, without cancellation when they are close."""
    v = (x - mean) / (x + mean)
    if abs(v) > 0.1:
        return x * math.log(x / mean) - x + mean
    total = (x - mean) * v
    term = 2.0 * x * v
    before = total - 1.0
    odd = 3.0
    while total != before:
        term *= v * v
        before = total
        total += term / odd
        odd += 2.0
    return total
