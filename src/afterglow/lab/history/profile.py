r"""The profile of a season for steps to come: means of phases, shrunk where cycles are few.

The mean of a phase over $m$ cycles has the variance $s^2$, that of the rest over $m$. Where a shorter cycle lies
inside, such as the day in the week, a phase is pulled towards the mean of its phase of the shorter cycle, which is
known from more cycles; else, and there too, towards the level. With $V$ the variance of the deviations, the pull keeps
the share $k = \max(0, 1 - s^2/V)$ of them (James & Stein 1961 in its empirical Bayes form), and the variance of the
true mean about the shrunk one is $k s^2$. Trend and level are no part of a profile: the trend was subtracted before,
and what is expected is compared with its own mean.
"""

import math

import numpy as np

from afterglow.lab.history.robust import Numbers


def shrunk(profile: Numbers, inner: int, rest: Numbers, cycles: float) -> tuple[Numbers, float]:
    """The shrunk profile, of mean 0, and the standard deviation of a phase's true mean about it."""
    if profile.size == 1:
        return profile, 0.0
    known = rest[np.isfinite(rest)]
    error = float(np.mean(known**2)) * cycles / max(1.0, cycles - 1) / max(1.0, cycles)
    base = np.zeros(profile.size)
    left = 0.0
    if inner > 1:
        times = profile.size // inner
        day, kept = pulled(profile.reshape(times, inner).mean(axis=0), error / times)
        base, left = np.tile(day, times), kept * error / times
    apart, kept = pulled(profile - base, error)
    found = base + apart
    return found - found.mean(), math.sqrt(max(left, kept * error))


def pulled(values: Numbers, error: float) -> tuple[Numbers, float]:
    """Deviations pulled towards 0, and the share that is kept."""
    spread = float(np.mean(values**2))
    share = max(0.0, 1.0 - error / spread) if spread > 0 else 0.0
    return share * values, share
