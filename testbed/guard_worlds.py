"""Simulated experiments with a guard: how often it stops a variant that keeps its limit, and how soon one that doesn't.

A policy plays on rewards of its own while a secondary total is counted beside them, drawn from a `CoverageWorld`. The
totals of a variant are those that the control would have, times one plus its effect: pulls and the income that no
variant causes alike, so the effect is the same at any time. Shared by the tests and `bench/answers/guards.py`.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterglow import Agent
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.guards import FALSE_STOPS, GuardCase, Limit, batch_shape, look_is_due
from testbed.coverage import CoverageWorld, Law

PERCENT = Limit(1, 1.1, 0.0)  # "+10%"


@dataclass(frozen=True)
class GuardWorld:
    """One row of the table: the control and `variants - 1` others whose totals are those of `total`."""

    total: CoverageWorld
    variants: int = 3
    kind: str = "relative"  # or "fixed", or "at least"
    played_on: str = "rewards"  # or "the metric": the policy seeks what the guard limits

    @property
    def name(self) -> str:
        return self.total.name

    def mean(self) -> float:
        """The control's mean total."""
        total = self.total
        return total.laws[0].mean + total.level + 0.5 * total.trend * (total.level + total.laws[0].mean)

    def limit(self) -> Limit:
        if self.kind == "fixed":
            return Limit(1, 0.0, 1.1 * self.mean())
        return Limit(-1, 0.9, 0.0) if self.kind == "at least" else PERCENT


@dataclass
class Stopped:
    """One run: when each variant was stopped (0: never), and how far its washed steps went."""

    steps: list[int]
    washed: list[int]
    missing: str | None

    @property
    def first(self) -> int:
        return min((step for step in self.steps if step), default=0)


class Counter:
    """Washed totals of one metric, as a running experiment counts them."""

    def __init__(self, arms: int, window: int, season: int, size: int | None) -> None:
        self.batches = Batches(arms, window, season, size)
        self.late, self.current, self.age, self.largest = window - 1, -1, 0, 0.0

    def add(self, arm: int, total: float) -> bool:
        """Count a step; whether it is washed."""
        if arm != self.current:
            self.batches.end()
            self.current, self.age = arm, 0
        self.age += 1
        if self.age <= self.late:
            return False
        self.largest = max(self.largest, total)
        self.batches.add(arm, total)
        return True


def play(world: GuardWorld, policy: str, effects: list[float], seed: int, best: int = -1) -> Stopped:
    """One run; `effects` by variant, the control first. `best` has the largest reward, if there is one."""
    total, count = world.total, world.variants
    random = np.random.default_rng([seed, 41])
    factors = 1 + np.array(effects)
    pulls = np.array([scaled(total.laws[0], factor).draw(random, total.steps) for factor in factors])
    rewards = [Law(0.44 if arm == best else 0.4, 0.15).draw(random, total.steps) for arm in range(count)]
    income, weights, window = np.maximum(0.0, total.income(random)), total.weights(), total.window
    coming = np.zeros((2, total.steps + window))
    agent = player(world, policy, seed)
    counter = Counter(count, window, *batch_of(agent, total))
    share = FALSE_STOPS / (count - 1)
    found, counted = Stopped([0] * count, [0] * count, None), [0] * count
    for step in range(total.steps):
        arm = agent.arms.index(agent.select())
        coming[0, step : step + window] += rewards[arm][step] * weights
        coming[1, step : step + window] += pulls[arm, step] * weights
        seen = float(coming[1, step]) + float(factors[arm] * income[step])
        agent.update(seen if world.played_on == "the metric" else float(coming[0, step]))
        if counter.add(arm, seen):
            case = GuardCase(counter.batches, counter.largest, 0, world.limit(), share, total.steps)
            counted[arm] += 1
            look(case, found, arm, counted, step)
    found.washed = [washed.steps for washed in counter.batches.arms]
    found.missing = case.excess(1).missing
    return found


def look(case: GuardCase, found: Stopped, arm: int, counted: list[int], step: int) -> None:
    """Look at the variants that a washed step of an arm tells of. Nothing is stopped, so that runs stay whole."""
    others = range(1, len(counted)) if arm == 0 else [arm]
    for variant in others:
        if not found.steps[variant] and look_is_due(counted[0] + counted[variant]) and case.is_beyond(variant):
            found.steps[variant] = step + 1


def scaled(law: Law, factor: float) -> Law:
    """The law of a variant: mean and deviation times its factor, or more frequent events."""
    return Law(law.mean * factor, None if law.sd is None else law.sd * factor)


def player(world: GuardWorld, policy: str, seed: int) -> Agent:
    """The policy; a season that is told is told to it."""
    total = world.total
    season: dict[str, Any] = {"season": total.period} if total.told == "season" else {}
    most = 1.0 if world.played_on == "rewards" else total.scale
    return Agent(world.variants, total.window, total.steps, policy, seed=seed, reward_max=most, **season)


def batch_of(agent: Agent, total: CoverageWorld) -> tuple[int, int | None]:
    """Season and size of batches, as a running experiment has them."""
    season = total.period if total.told == "season" else 1
    return batch_shape(agent.policy.name, agent.settings, total.window, season)


def poisson_like(name: str, mean: float, **changes: Any) -> CoverageWorld:
    """Counts of about `mean` events a step: a Beta law of that spread, in units of ten times the mean."""
    return CoverageWorld(name, (Law(0.1, 0.1 / math.sqrt(mean)),), **changes)


def iid(name: str, law: Law, **changes: Any) -> CoverageWorld:
    return CoverageWorld(name, (law,), **changes)


PLAIN = Law(0.4, 0.15)
CALM = Law(0.3, 0.1)
TOTALS = [
    iid("independent", PLAIN, steps=2_000),
    iid("independent, window 24", PLAIN, window=24, steps=2_000),
    iid("noisy (sd .3)", Law(0.4, 0.3), steps=2_000),
    iid("yes/no .4", Law(0.4, None), steps=2_000),
    iid("rare .02", Law(0.02, None), steps=2_000),
    iid("rare .005", Law(0.005, None), steps=2_000),
    *[
        iid(f"noise lingers: rho {rho:g}", CALM, steps=2_000, level=0.35, correlation=rho, noise=0.15)
        for rho in (0.5, 0.9, 0.95, 0.99)
    ],
    iid("daily season, not told", PLAIN, steps=2_000, level=0.3, period=24, swing=0.1),
    iid("daily season, told", PLAIN, steps=2_000, level=0.3, period=24, swing=0.1, told="season"),
    iid("a trend of 20 %", PLAIN, steps=2_000, level=0.3, trend=0.2),
]
DELAYS = [
    poisson_like("about 20 a step", 20, steps=10_000),
    poisson_like("about 200 a step", 200, steps=10_000),
    iid("yes/no .4", Law(0.4, None), steps=10_000),
    replace(TOTALS[7], name="noise lingers: rho .9", steps=10_000),
]
