"""Simulations of an experiment over several units, for its plan."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterglow.engine.outcome import Outcome
from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue
from afterglow.lab.plan.units_noise import SharedNoise
from afterglow.lab.plan.units_power import rejections
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

LEVEL = 0.4  # of the simulated totals
STEADIEST = 0.002  # least deviation that is simulated
SEARCH_RUNS, SEARCHES = 150, 7
TEST_RUNS, TEST_DRAWS = 40, 99
TOLD = 0.05


@dataclass(frozen=True)
class UnitsCandidate:
    """One way to run the experiment."""

    name: str
    found: float  # share of runs that recommend the best arm
    lost: float  # of what uniform play loses
    lost_error: float  # standard error
    tested: float | None = None  # share of tested_runs whose exact test has p <= 5 %; None where there is no such test
    tested_runs: int = 0  # fewer than all, because the test takes long


@dataclass(frozen=True)
class Trials:
    """What is simulated."""

    arms: int
    units: int
    window: int
    horizon: int
    spread: str
    noise: SharedNoise
    runs: int
    seed: int
    threads: int | None

    def laws(self, level: float, gap: float) -> list[str]:
        return [f"discrete:{level}@1"] + [f"discrete:{level - gap * LEVEL}@1"] * (self.arms - 1)

    def world(self, gap: float) -> UnitsWorld:
        """Units with the noise of the history; the first arm is the best."""
        noise = self.noise
        sizes = float(np.std(np.log(list(noise.levels.values())))) if noise.levels else 0.0
        return UnitsWorld.of(
            self.laws(LEVEL, gap), self.window, self.units, self.spread,
            baseline(noise.common, noise.common_correlation), baseline(noise.own, noise.own_correlation),
            sizes=min(sizes, 3.0), told=TOLD,
        )  # fmt: skip

    def panel(self, name: str, gap: float, options: dict[str, Any], runs: int | None = None) -> UnitsCandidate:
        """panel-elimination, as it is or with options."""
        world = self.world(gap)
        found = simulate(
            "panel-elimination", world, self.horizon, runs or self.runs, self.seed, options, threads=self.threads,
            recommend=True,
        )  # fmt: skip
        size = self.units * math.exp(world.size_deviation**2 / 2)
        return candidate(name, found, size * self.horizon * gap * LEVEL * (self.arms - 1) / self.arms)

    def tested(self, one: UnitsCandidate, gap: float, options: dict[str, Any]) -> UnitsCandidate:
        """The candidate with how often the exact test rejects; fewer runs where that takes long."""
        runs = max(20, min(TEST_RUNS, self.runs, TEST_RUNS * 400 // (self.units * self.arms)))
        share = rejections(self.world(gap), self.window, self.horizon, runs, self.seed, TEST_DRAWS, options=options)
        return replace(one, tested=share, tested_runs=runs)

    def together(self, gap: float) -> UnitsCandidate:
        """All units on one arm: lean-ucb on the mean of all units; half of the level is a constant."""
        noise, half = self.noise, LEVEL / 2
        deviation = math.hypot(noise.common, noise.own / math.sqrt(self.units))
        lingers = (
            noise.common**2 * noise.common_correlation + noise.own**2 / self.units * noise.own_correlation
        ) / max(deviation**2, 1e-12)
        income = f"constant:{half} + {baseline(deviation, lingers)}"
        world = World.of(self.laws(half, min(gap, 0.49)), self.window, self.spread, income)
        options = {"noise": min(0.5, max(STEADIEST, deviation * LEVEL))}
        name = "all units on one arm"
        try:
            found = simulate(
                "lean-ucb", world, self.horizon, self.runs, self.seed, options, threads=self.threads, recommend=True
            )  # fmt: skip
        except BadValue:  # the horizon is too short for it
            return UnitsCandidate(name, 1 / self.arms, 1.0, 0.0)
        return candidate(name, found, self.horizon * gap * LEVEL * (self.arms - 1) / self.arms)

    def smallest(self, report: Callable[[float, str], None]) -> float | None:
        """The smallest gap whose best arm is found in 80 % of runs, by bisection."""
        low, high = 0.0, 0.5
        if self.panel("", high, {}, SEARCH_RUNS).found < 0.8:
            return None
        for turn in range(SEARCHES):
            middle = math.sqrt(max(low, 1e-3) * high)
            if self.panel("", middle, {}, SEARCH_RUNS).found < 0.8:
                low = middle
            else:
                high = middle
            report(0.4 + 0.6 * (turn + 1) / SEARCHES, "the smallest gap")
        return high


def baseline(deviation: float, correlation: float) -> str:
    """Noise as the text of a baseline."""
    return f"noise:{max(deviation, STEADIEST) * LEVEL:.6g},{min(correlation, 0.99):.4g}"


def candidate(name: str, found: Outcome, uniform: float) -> UnitsCandidate:
    """The figures of a candidate."""
    shares = found.regrets / uniform
    right = 0.0 if found.recommended is None else float(np.mean(found.recommended == found.world.best))
    return UnitsCandidate(name, right, float(shares.mean()), float(shares.std(ddof=1)) / math.sqrt(found.runs))
