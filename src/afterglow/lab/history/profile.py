r"""The profile of a season for steps to come: means of phases, shrunk where cycles are few.

The mean of a phase over $m$ cycles has the variance $s^2$, that of the rest over $m$. Where a shorter cycle lies
inside, such as the day in the week, a phase is pulled towards the mean of its phase of the shorter cycle, which is
known from more cycles; else, and there too, towards the level. With $V$ the variance of the deviations, the pull keeps
the share $k = \max(0, 1 - s^2/V)$ of them (James & Stein 1961 in its empirical Bayes form), and the variance of the
true mean about the shrunk one is $k s^2$. Trend and level are no part of a profile: the trend was subtracted before,
and what is expected is compared with its own mean.

A season changes: summer days are not winter days. With $D$ the profile of the newer half of the history less that of
the older half, $k D$ with $k = \max(0, 1 - 4 s^2/\overline{D^2})$ is what changed beyond chance (`drift`). What is
expected is moved to the newer half, by $k D/2$; and it may change as much again until the experiment.
"""

import math

import numpy as np

from afterglow.lab.history.robust import Numbers

FEWEST = 3  # cycles of either half, to compare them


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


def drift(cycles: Numbers, rest: Numbers) -> Numbers:
    """What changed of the profile between the halves of a history, beyond chance; 0 where cycles are few.

    `cycles` has the totals of one cycle in each row, `rest` what level, trend and profile leave of them.
    """
    cycles = cycles[np.isfinite(cycles).any(axis=1)]
    half = len(cycles) // 2
    if half < FEWEST or cycles.shape[1] == 1:
        return np.zeros(cycles.shape[1])
    apart = cycles - by_column(cycles.T)[:, None]
    older, newer = by_column(apart[:half]), by_column(apart[-half:])
    known = rest[np.isfinite(rest)]
    changed = newer - older
    kept, _ = pulled(changed - changed.mean(), 2 * float(np.mean(known**2)) / half)
    return kept


def by_column(rows: Numbers) -> Numbers:
    """Means of columns, 0 where nothing is known."""
    known = np.isfinite(rows)
    return np.asarray(np.where(known, rows, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0)))
