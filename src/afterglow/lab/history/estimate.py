r"""Estimates from past totals: level, trend, cycles, noise and its correlation.

The totals are those of one unchanged system, one for each step. Estimated in this order, each from the residuals of the
one before:

1. *Outliers*: totals more than 6 robust deviations from the median of their phase (`robust`). They are clipped to that
   distance for trend and season, and count as noise after that. Steps without a total are ignored, and a phase without
   any (a shop closed on Sundays) has the mean of the others.
2. *Trend*: Theil's line, the median slope between totals half the history apart in the same phase.
3. *Season*: the mean of each phase over whole cycles; its length is detected (`cycles`) unless it is given.
4. *Noise*: the standard deviation of the rest, and its correlation from step to step.
5. *Noise of one pull* (`long_run`): what counts in an experiment, because it includes the correlation of the noise. An
   experiment that doesn't use whole cycles of the season has the rest of it as noise: `noises` has that too.
6. *Profile* (`profile`): the season as it may be expected of steps to come, shrunk where cycles are few.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from afterglow.checks import whole
from afterglow.errors import BadValue
from afterglow.lab.history.cycles import Cycles, found_cycles, inner_cycle
from afterglow.lab.history.long_run import PullNoise, pull_noise
from afterglow.lab.history.profile import drift, shrunk
from afterglow.lab.history.robust import Numbers, phase_means, theil, without_outliers

FEWEST = 20  # minimum number of totals


@dataclass(frozen=True)
class History:
    """Estimates from past totals, in their own unit."""

    steps: int
    missing: int
    empty: int  # phases of the cycle without any total
    apart: list[int]  # outliers
    level: float  # mean total of a step
    largest: float  # total of a step
    trend: float  # change of the total over the whole history
    season: int  # length of the cycle, 1 if none
    inner: int  # length of a shorter cycle inside it, 1 if none
    maybe: int  # length of a longer cycle that is likely but not certain, else 1
    profile: list[float]  # deviation of each phase from the level, starting at step 0 of the history
    noise: float  # standard deviation of single totals around level, trend and season
    correlation: float  # of the noise, from step to step
    noises: dict[int, float]  # of one pull, by the length of the cycles that an experiment uses whole
    pull: PullNoise  # with whole seasons, with its range
    expected: list[float]  # the profile, shrunk where cycles are few, as it was lately
    drift: list[float]  # what changed of it between the halves of the history, beyond chance
    expected_error: float  # standard deviation of a phase's true mean about it
    rest: list[float]  # the noise itself, 0 where a total is missing

    @property
    def pull_noise(self) -> float:
        """Standard deviation of one pull that gives means the same error, with whole seasons."""
        return self.noises[self.season]

    @property
    def caution(self) -> float:
        """The noise to plan with over the estimate."""
        return self.pull.planned / self.pull.value if self.pull.value > 0 else 1.0

    @property
    def cycles(self) -> float:
        """Cycles of the season in the history."""
        return self.steps / self.season

    @property
    def outliers(self) -> int:
        return len(self.apart)


@dataclass(frozen=True)
class Parts:
    """Totals decomposed for one cycle."""

    pulled: Numbers  # without outliers
    slope: float
    means: Numbers  # of the phases, not a number where there are no totals
    rest: Numbers  # of the totals as they are, of mean 0
    level: float


def estimate(
    totals: Sequence[float], season: int | None = None, window: int = 1, step_seconds: float | None = None
) -> History:
    """Estimates from totals; `season` is detected if it isn't given (1 = none), with the length of a step if known."""
    values = np.array(totals, float)
    known = np.isfinite(values)
    if known.sum() < FEWEST:
        sentence = f"a history needs at least {FEWEST} totals to estimate noise from, got {int(known.sum())}"
        raise BadValue(sentence, field="history")
    cycles = found_cycles(values, step_seconds) if season is None else given_cycle(values, season, step_seconds)
    parts = taken_apart(values, cycles.season)
    means, rest = parts.means, parts.rest
    pull = pull_noise(rest, max(window, cycles.inner if cycles.inner > 1 else cycles.season), cycles.season)
    short = pull.value
    if cycles.inner > 1:
        short = pull_noise(taken_apart(values, cycles.inner).rest, max(window, cycles.inner)).value
    profile = np.where(np.isfinite(means), means - np.nanmean(means), 0.0)
    expected, error = shrunk(profile, cycles.inner, rest, known.size / cycles.season)
    whole_cycles = parts.pulled[: known.size // cycles.season * cycles.season].reshape(-1, cycles.season)
    changed = drift(whole_cycles, rest)
    return History(
        steps=known.size, missing=int((~known).sum()), empty=int(np.isnan(means).sum()),
        apart=np.flatnonzero(known & (parts.pulled != values)).tolist(), level=parts.level,
        largest=float(np.nanmax(values)), trend=parts.slope * known.size, season=cycles.season, inner=cycles.inner,
        maybe=cycles.maybe, profile=profile.tolist(),
        noise=math.sqrt(float(np.nansum(rest**2)) / max(1, known.sum() - np.isfinite(means).sum())),
        correlation=lag_one(rest), noises={1: short, cycles.inner: short, cycles.season: pull.value},
        pull=pull, expected=(expected + changed / 2).tolist(), drift=changed.tolist(), expected_error=error,
        rest=np.where(known, rest, 0.0).tolist(),
    )  # fmt: skip


def given_cycle(values: Numbers, season: int, step_seconds: float | None) -> Cycles:
    """The given cycle, with the one inside it."""
    period = whole("season", season, 1, "1 = none")
    if period > 1 and values.size < 2 * period:
        raise BadValue(
            f"a season of {period:,} steps needs a history of two, {2 * period:,} totals, got {values.size:,}",
            field="season",
        )
    return Cycles(period, inner_cycle(values, period, step_seconds), 1)


def taken_apart(values: Numbers, period: int) -> Parts:
    """Level, trend, phases and residuals."""
    pulled = without_outliers(values, period)
    slope = theil(pulled, period)
    line = slope * (np.arange(values.size) - (values.size - 1) / 2)
    means = phase_means(pulled - line, period)
    middle = float(np.nanmean(means))
    rest = values - line - np.where(np.isfinite(means), means, middle)[np.arange(values.size) % period]
    beyond = float(np.nanmean(rest))  # outliers are part of the level
    return Parts(pulled, slope, means, rest - beyond, middle + beyond)


def lag_one(rest: Numbers) -> float:
    """Correlation of neighbours, where both are known."""
    pairs = np.isfinite(rest[1:]) & np.isfinite(rest[:-1])
    power = float(np.nanmean(rest**2))
    if power == 0.0 or not pairs.any():
        return 0.0
    return float(np.mean(rest[1:][pairs] * rest[:-1][pairs]) / power)
