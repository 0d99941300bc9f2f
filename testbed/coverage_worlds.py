"""The worlds in which the coverage of intervals and the errors of grades are measured, in groups.

`WORLDS` keep what the intervals assume, or break it by noise that lingers, seasons and trends, which the estimates must
see and allow for. `OUTSIDE` break the assumptions in other ways. `POWER` have a difference that must be found.
"""

import math
from dataclasses import replace

import numpy as np

from testbed.coverage import CoverageWorld, Floats, Law, normal, yes_no

EQUAL, CLOSE = normal(0.15, 0.4, 0.4, 0.4), normal(0.15, 0.4, 0.4, 0.44)


def unequal(leader: float, others: float) -> tuple[Law, ...]:
    return (Law(0.46, leader), Law(0.4, others), Law(0.4, others))


def plain() -> list[CoverageWorld]:
    found = [
        CoverageWorld("equal arms, equal noise", EQUAL),
        CoverageWorld("close arms, equal noise", CLOSE),
        CoverageWorld("leader sd .05, others .15", unequal(0.05, 0.15)),
        CoverageWorld("leader sd .05, others .2", unequal(0.05, 0.2)),
        CoverageWorld("leader sd .1, others .2", unequal(0.1, 0.2)),
        CoverageWorld("2 arms: calm .40 (sd .05), best .42 (sd .2)", (Law(0.4, 0.05), Law(0.42, 0.2))),
        CoverageWorld("yes/no .98, .5, .5", yes_no(0.98, 0.5, 0.5)),
        CoverageWorld("yes/no .88, nine of .4", yes_no(0.88, *[0.4] * 9), steps=2_000),
        CoverageWorld("yes/no .98, nine of .5", yes_no(0.98, *[0.5] * 9), steps=2_000),
        CoverageWorld("rare: three of .02", yes_no(*[0.02] * 3), steps=2_000),
        CoverageWorld("rare: three of .005", yes_no(*[0.005] * 3), steps=2_000),
        CoverageWorld("rare failures: two of .995", yes_no(*[0.995] * 2)),
        CoverageWorld("two equal best arms of three", normal(0.15, 0.44, 0.44, 0.4), steps=2_000),
        CoverageWorld("uniform", CLOSE, window=1, steps=200),
        CoverageWorld("uniform", CLOSE, window=1),
        CoverageWorld("uniform", CLOSE, window=6, steps=200),
        CoverageWorld("uniform", CLOSE, window=6, steps=2_000),
        CoverageWorld("uniform", CLOSE, window=6, steps=10_000),
        CoverageWorld("uniform", CLOSE, window=24, steps=200),
        CoverageWorld("uniform", CLOSE, window=24, steps=10_000),
    ]
    spreads = [(spread, window) for spread in ("uniform", "last", "ends") for window in (6, 24)]
    found += [CoverageWorld(spread, CLOSE, window, 600, spread) for spread, window in spreads if window == 24]
    found += [CoverageWorld(spread, CLOSE, 24, 2_000, spread) for spread in ("uniform", "last", "ends")]
    return found + [CoverageWorld(spread, CLOSE, 6, 600, spread) for spread in ("last", "ends")]


def lingering() -> list[CoverageWorld]:
    arms = normal(0.1, 0.3, 0.3, 0.3)
    return [
        CoverageWorld(
            f"noise lingers: rho {rho:g}, sd {sd:g}", arms, steps=2_000, level=0.35, correlation=rho, noise=sd
        )
        for rho in (0.5, 0.9, 0.95, 0.99, 0.998)
        for sd in (0.08, 0.15)
    ]


def demand() -> list[CoverageWorld]:
    told = {"": "not told", "season": "told", "profile": "with its profile"}
    seasons = [
        CoverageWorld(f"{name} season, {words}", EQUAL, steps=2_000, level=0.3, period=period, swing=0.1, told=how)
        for name, period in (("daily", 24), ("weekly", 168))
        for how, words in told.items()
    ]
    return [*seasons, CoverageWorld("a trend of 20 %", EQUAL, steps=2_000, level=0.3, trend=0.2)]


def shifted(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """All totals rise at half time."""
    income[world.steps // 2 :] += 0.15
    return income


def heavy(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Student's t with 2.5 degrees of freedom: its variance is 5, its kurtosis infinite."""
    return income + 0.05 * random.standard_t(2.5, world.steps)


def growing(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Noise whose deviation grows fourfold."""
    return income + np.linspace(0.04, 0.16, world.steps) * random.normal(size=world.steps)


def shrinking(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Noise whose deviation shrinks to a quarter."""
    return income + np.linspace(0.16, 0.04, world.steps) * random.normal(size=world.steps)


def clustered(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Calm and turbulent times take turns: GARCH(1, 1) with a deviation of .08 and a persistence of .98."""
    variance = 1.0
    for step in range(world.steps):
        value = math.sqrt(variance) * random.normal()
        variance = 0.02 + 0.2 * value * value + 0.78 * variance
        income[step] += 0.08 * value
    return income


def moving(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Noise that is a moving average over 48 steps, eight windows, with a deviation of .12."""
    sums = np.cumsum(random.normal(size=world.steps + 48))
    return income + 0.12 * (sums[48:] - sums[:-48]) / math.sqrt(48)


def lognormal(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """Each reward is multiplied by a lognormal number of mean 1 and deviation 1.3."""
    return np.exp(random.normal(size=(len(world.laws), world.steps)) - 0.5)


def bursts(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Calm at first: noise with a correlation of .97 and a deviation of .15 begins after two thirds of the steps."""
    value = 0.0
    for step in range(2 * world.steps // 3, world.steps):
        value = 0.97 * value + math.sqrt(1 - 0.97**2) * random.normal()
        income[step] += 0.15 * value
    return income


def scaled(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """Demand that multiplies rewards: a daily cycle and noise that lingers."""
    noise = np.empty(world.steps)
    value = random.normal()
    for step in range(world.steps):
        value = 0.9 * value + math.sqrt(1 - 0.81) * random.normal()
        noise[step] = value
    return np.maximum(0.0, 1 + 0.3 * np.sin(2 * math.pi * np.arange(world.steps) / 24) + 0.15 * noise)


def drifting(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """Each arm's effect drifts on its own: correlation .99 from step to step, a deviation of 10 %."""
    noise = np.empty((len(world.laws), world.steps))
    value = random.normal(size=len(world.laws))
    for step in range(world.steps):
        value = 0.99 * value + math.sqrt(1 - 0.99**2) * random.normal(size=len(world.laws))
        noise[:, step] = value
    return np.maximum(0.0, 1 + 0.1 * noise)


def swapped(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """One arm is 10 % better until half time and another one from then on; on average all are equal."""
    factor = np.ones((len(world.laws), world.steps))
    factor[0] += np.where(np.arange(world.steps) < world.steps // 2, 0.1, -0.1)
    factor[1] += np.where(np.arange(world.steps) < world.steps // 2, -0.1, 0.1)
    return factor


def broken(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """Six outages of 5 to 29 steps, in which totals are 0."""
    for _ in range(6):
        begin = random.integers(0, world.steps)
        income[begin : begin + random.integers(5, 30)] = -10
    return income


def promoted(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """All totals rise by 60 % of the usual one for 168 steps."""
    begin = random.integers(0, world.steps - 168)
    income[begin : begin + 168] += 0.6 * (world.level + world.laws[0].mean)
    return income


def switching(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """A level that is .12 above or below, and changes once in 100 steps on average."""
    signs = np.where(random.random(world.steps) < 0.01, -1.0, 1.0)
    return income + 0.12 * np.cumprod(signs)


def spiked(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """One total in a hundred is larger by three times the usual one."""
    return income + 3 * (world.level + world.laws[0].mean) * (random.random(world.steps) < 0.01)


def walking(world: CoverageWorld, random: np.random.Generator, income: Floats) -> Floats:
    """A random walk: the level never comes back."""
    return income + np.cumsum(0.01 * random.normal(size=world.steps))


def by_hour(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """One arm earns 30 % more by day and less by night, another one the other way round; on average all are equal."""
    wave = 0.3 * np.sin(2 * math.pi * np.arange(world.steps) / 24)
    return np.array([1 + wave, 1 - wave, np.ones(world.steps)])


def fading(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """What is new about one arm wears off: 30 % more at first, less by a factor of e every 150 steps."""
    factor = np.ones((len(world.laws), world.steps))
    factor[0] += 0.3 * np.exp(-np.arange(world.steps) / 150)
    return factor


def events() -> list[CoverageWorld]:
    """What happens to shops: outages, promotions, shifts, outliers, arms with hours of their own."""
    base = CoverageWorld("", EQUAL, steps=2_000, level=0.3)
    told = replace(base, period=24, swing=0.1, told="season")
    return [
        replace(base, name="six outages, totals of 0", change=broken),
        replace(told, name="six outages, daily season told", change=broken),
        replace(base, name="a promotion of 168 steps, + 60 %", change=promoted),
        replace(told, name="a promotion of 168 steps, daily season told", change=promoted),
        replace(base, name="a level that switches every 100 steps", change=switching),
        replace(base, name="one total in a hundred is fourfold", change=spiked),
        replace(base, name="a level that walks at random", change=walking),
        replace(base, name="arms have hours of their own", factor=by_hour),
        replace(told, name="arms have hours of their own, season told", factor=by_hour),
        replace(base, name="what is new about one arm wears off", factor=fading),
        replace(base, name="a season of 500 steps, not told", level=0.5, period=500, swing=0.3),
        CoverageWorld("2 equal arms, most rewards 0 (mean .1, sd .25)", normal(0.25, 0.1, 0.1)),
        CoverageWorld("window told as 6, effects over 12", CLOSE, 12, 2_000, level=0.3, believed=6),
    ]


def outside() -> list[CoverageWorld]:
    base = CoverageWorld("", EQUAL, steps=2_000, level=0.3)
    told = CoverageWorld("window told as 6, effects over 24", CLOSE, 24, 2_000, "last", believed=6)
    return [
        replace(base, name="a level shift of 20 % at half time", change=shifted),
        replace(base, name="heavy tails (t with 2.5 df)", change=heavy),
        replace(base, name="lognormal rewards", laws=normal(0.05, 0.2, 0.2, 0.2), level=0.0, factor=lognormal),
        replace(base, name="noise that grows fourfold", change=growing),
        replace(base, name="noise that shrinks to a quarter", change=shrinking),
        replace(base, name="calm and turbulent times (GARCH)", change=clustered),
        replace(base, name="noise is a moving average of 48 steps", change=moving),
        replace(base, name="demand multiplies effects", factor=scaled),
        replace(base, name="each arm's effect drifts on its own", factor=drifting),
        replace(base, name="the best arm changes at half time", factor=swapped),
        replace(base, name="noise lingers in a third of the time", change=bursts),
        CoverageWorld("20 equal arms", normal(0.15, *[0.4] * 20), steps=2_000),
        CoverageWorld("20 arms, one better by 10 %", normal(0.15, *[0.4] * 19, 0.44), steps=2_000),
        CoverageWorld("2 arms: one hardly varies (sd .001), best .41 (sd .2)", (Law(0.4, 0.001), Law(0.41, 0.2))),
        CoverageWorld("reward_max told ten times too large", CLOSE, overstated=10.0),
        told,
    ]


DOUBLING = CoverageWorld("400 against 800", (Law(400 / 1200, 0.1), Law(800 / 1200, 0.1)), steps=1_000, scale=1_200.0)
FIVE_PERCENT = CoverageWorld("5 % against noise of 25 % a step", normal(0.1, 0.4, 0.42), steps=2_000)
POWER = [DOUBLING, FIVE_PERCENT]
STEADY = plain()  # independent noise, no demand
WORLDS = [*STEADY, *lingering(), *demand()]
OUTSIDE = [*outside(), *events()]
