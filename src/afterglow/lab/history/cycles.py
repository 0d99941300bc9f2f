r"""Detection of cycles in past totals: a first cycle, such as a day, and a longer one, such as a week.

*The first cycle* is searched among 7, 12, 24, 52 and 168 steps, and a day and a week if the length of a step is known,
where there are three of it. Let $F$ be what phases explain of the variance inside cycles over what they leave. A
cycle is accepted if its $F$ is larger than in all of 200 trials in which cycles are shifted against each other at
random, and than their mean by 6 deviations; a longer one must explain more. A strong cycle is detected from four on.

*A longer cycle*, of $k$ = 2 or 7 times its length or one of the above, is tested on the residuals of the first, where
there are 200 possible shifts: from four of $k$ = 7 on, nine of 2. The trials shift cycles by whole first cycles, so
that only differences from day to day count. Two statistics are used, because each detects what the other misses: $F$ of
the $k$ means ("weekends are busier"), which is more powerful, with 2,000 trials, and $F$ of all phases ("weekends are
busy at other hours"). One that no calendar has, such as a fortnight, must also explain a tenth of the residuals: on
real demand, holidays in odd weeks made others of hours and days.

*Periods near a listed one*, one step shorter or longer (two from 100 steps on), are tested too, and are taken if they
explain clearly more: a week of hours is 169 steps if one is recorded twice.

A linear trend is subtracted first, because it would be the same in all cycles. Measured: in 2,800 histories of noise,
28 to 1,344 totals correlated by up to 0.95, one cycle was found, in 700 random walks one; a longer cycle around a
single day or week, in 3 of 2,580.
"""

from dataclasses import dataclass

import numpy as np

from afterglow.lab.history.robust import Numbers, phase_means, theil, without_outliers

PERIODS = (7, 12, 24, 52, 168)  # days of a week, months, hours of a day, weeks of a year, hours of a week
TIMES = (2, 7)  # the first cycle, to make a longer one
DAY, WEEK = 86_400.0, 604_800.0  # seconds
TRIALS, MANY_TRIALS = 200, 2_000
CYCLES = 3  # minimum number of cycles
BEYOND = 6.0  # deviations of the trials
CLEARLY = 0.02  # more of the variance: what another period must explain to be preferred
UNUSUAL = 0.1  # of what the first cycle leaves, for a longer one that no calendar has
UNSURE = 0.02  # maximum share of trials as good for a cycle that is mentioned


@dataclass(frozen=True)
class Cycles:
    """The detected cycles; 1 means none."""

    season: int  # the longest accepted
    inner: int  # the one inside it
    maybe: int  # a longer one that is likely but not certain


def found_cycles(values: Numbers, step_seconds: float | None = None) -> Cycles:
    """The cycle that explains most of the totals, and the one around it if there is one."""
    periods = lengths(step_seconds)
    first = nearer(values, found_period(values, periods), periods)
    if first == 1:
        return Cycles(1, 1, 1)
    longer = sorted({k * first for k in TIMES} | {each for each in periods if each % first == 0 and each > first})
    maybe, best, top = 1, first, 0.0
    for period in longer:
        if (period // first) ** (values.size // period - 1) >= TRIALS:  # ways to turn them against each other
            chance, share = chance_of(values, first, period)
            if chance == 0.0 and share > max(top, 0.0 if period in periods else UNUSUAL):
                best, top = period, share
            elif chance <= UNSURE and maybe == 1:
                maybe = period
    if best > first:
        return Cycles(best, first, 1)
    return Cycles(first, inner_cycle(values, first, step_seconds), maybe)


def inner_cycle(values: Numbers, season: int, step_seconds: float | None = None) -> int:
    """The cycle inside a given one; 1 if there is none."""
    return found_period(values, [each for each in lengths(step_seconds) if season % each == 0 and each < season])


def lengths(step_seconds: float | None) -> list[int]:
    """The lengths of cycles to test, in steps."""
    known = [DAY / step_seconds, WEEK / step_seconds] if step_seconds else []
    return sorted({*PERIODS, *(round(each) for each in known if each > 1.5 and each == round(each))})


def found_period(values: Numbers, periods: list[int]) -> int:
    """The cycle that explains most of the totals; 1 if none is beyond chance."""
    best, top = 1, 0.0
    for period in periods:
        cycles = values.size // period
        if cycles >= CYCLES:
            inside = within(levelled(values, period)[: cycles * period].reshape(cycles, period))
            share = explained(inside)
            if share > top + CLEARLY and beaten(inside, 1, TRIALS) == 0.0:
                best, top = period, share
    return best


def nearer(values: Numbers, found: int, periods: list[int]) -> int:
    """The period found, or one next to it or to a listed one that explains clearly more."""
    close = {found + shift for shift in shifts(found)} if found > 1 else set[int]()
    close |= {period + shift for period in periods if found == 1 or period > found for shift in shifts(period)}
    other = found_period(values, sorted(close - set(periods)))
    if other == 1 or found == 1:
        return max(other, found)
    return other if share_of(values, other) > share_of(values, found) + CLEARLY / 2 else found


def shifts(period: int) -> tuple[int, ...]:
    """How far off a period is tested; short ones have other listed ones close by."""
    return () if period < 20 else (-1, 1) if period < 100 else (-2, -1, 1, 2)


def share_of(values: Numbers, period: int) -> float:
    """The variance inside cycles that phases explain."""
    cycles = values.size // period
    return explained(within(levelled(values, period)[: cycles * period].reshape(cycles, period)))


def chance_of(values: Numbers, first: int, period: int) -> tuple[float, float]:
    """Share of trials in which cycles of `period` around those of `first` are as clear, and the variance explained.

    The share is 0 only if all trials are beaten by far.
    """
    cycles = values.size // period
    flat = levelled(values, period)
    rest = flat - phase_means(flat, first)[np.arange(flat.size) % first]
    inside = within(rest[: cycles * period].reshape(cycles, period))
    means = inside.reshape(cycles, period // first, first).mean(axis=2)
    chance = min(beaten(within(means), 1, MANY_TRIALS), beaten(inside, first, TRIALS))
    return chance, explained(inside)


def levelled(values: Numbers, period: int) -> Numbers:
    """Values with outliers clipped and a linear trend subtracted."""
    pulled = without_outliers(values, period)
    return pulled - theil(pulled, period) * np.arange(values.size)


def beaten(inside: Numbers, turn: int, trials: int) -> float:
    """Share of trials with shifts by multiples of `turn` phases in which the statistic is as large."""
    cycles, period = inside.shape
    random = np.random.default_rng(0)
    shifts = turn * random.integers(period // turn, size=(trials, cycles, 1))
    shifts = shifts[np.ptp(shifts, axis=1)[:, 0] > 0]  # else they are not turned against each other
    rows = np.arange(cycles)[:, None]
    turned = np.array([told_apart(inside[rows, (shift + np.arange(period)) % period]) for shift in shifts])
    clear = told_apart(inside)
    if clear > max(turned.max(), turned.mean() + BEYOND * turned.std()):
        return 0.0
    return max(1 / trials, float((turned >= clear).mean()))


def told_apart(inside: Numbers) -> float:
    """Explained over unexplained variance of the phases; unbounded, so that few cycles can be detected."""
    power = float((inside**2).sum())
    between = len(inside) * float((inside.mean(axis=0) ** 2).sum())
    return between / max(power - between, 1e-12 * power) if power else 0.0


def within(grid: Numbers) -> Numbers:
    """Cycles, one in each row, without their own means; 0 where a total is missing."""
    known = np.isfinite(grid)
    means = np.where(known, grid, 0.0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
    return np.where(known, grid - means[:, None], 0.0)


def explained(inside: Numbers) -> float:
    """Share of the variance inside cycles that phases explain, adjusted for their number."""
    whole_ = float(inside.var())
    if whole_ == 0.0:
        return 0.0
    return 1 - float((inside - inside.mean(axis=0)).var()) / whole_ * len(inside) / (len(inside) - 1)
