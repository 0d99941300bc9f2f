"""Plan an experiment over several units: what they share, and how often the best arm is found.

A history of each unit's totals is normalised by the unit's mean. What the units have in common in a step is the mean of
the normalised totals, weighted by size; the rest is each unit's own. Both are simulated as noise of the same deviation
and of the same correlation from step to step. Without a history they are given as numbers.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.checks import between, number, whole
from afterglow.engine.outcome import Outcome
from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue, argument
from afterglow.lab.plan.text import LIVE, NAME, names
from afterglow.lab.plan.units_power import rejections, too_few_plans
from afterglow.lab.plan.verdict import verdict_of
from afterglow.lab.reading.panel import Panel, read_panel
from afterglow.lab.reading.text import Source
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

Numbers = NDArray[np.float64]
LEVEL = 0.4  # of the simulated totals
STEADIEST = 0.002  # least deviation that is simulated
SEARCH_RUNS, SEARCHES = 150, 7
TEST_RUNS, TEST_DRAWS = 40, 99
TOLD = 0.05


@dataclass(frozen=True)
class SharedNoise:
    """Noise of units, as shares of their levels."""

    common: float  # deviation of what all units share
    common_correlation: float  # from step to step
    own: float  # deviation of each unit's own
    own_correlation: float
    levels: dict[str, float]  # mean total of each unit; empty without a history
    steps: int  # of the history

    @property
    def shared(self) -> float:
        """The share of the variance that is common to all units, and cancels."""
        whole_ = self.common**2 + self.own**2
        return self.common**2 / whole_ if whole_ > 0 else 0.0

    @property
    def sentence(self) -> str:
        return f"{self.shared:.0%} of the noise is common to all units and cancels".replace("%", " %")


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
class UnitsPlan:
    """The plan of an experiment over several units."""

    verdict: str
    arms: int
    units: int
    window: int
    horizon: int
    gap: float
    noise: SharedNoise
    candidates: list[UnitsCandidate]
    smallest_gap: float | None  # found in 80 % of runs; None if none below 50 % is
    code: str
    live: str  # the same as a live experiment
    notes: list[str]
    runs: int
    seed: int

    @property
    def found(self) -> float:
        return self.candidates[0].found

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"shared": self.noise.shared}


def noise_of(panel: Panel) -> SharedNoise:
    """Deviation and correlation of what units share, and of their own."""
    values = np.array(panel.values)
    levels = np.nanmean(values, axis=0)
    if not (levels > 0).all():
        raise BadValue(
            f"{argument('history')} must have totals above 0 on average, those of "
            f"{panel.units[int(np.argmin(levels))]!r} are not"
        )
    full = values[~np.isnan(values).any(axis=1)] / levels
    if len(full) < 10:
        raise BadValue(
            f"{argument('history')} must have at least 10 steps in which all units have a total, got {len(full):,}; "
            "leave out units with gaps"
        )
    weights = levels / levels.sum()
    common = full @ weights
    rest = full - common[:, None]
    own = float((rest**2).sum() / ((len(full) - 1) * max(1e-9, len(weights) - 2 + len(weights) * (weights**2).sum())))
    shared = max(0.0, float(common.var(ddof=1)) - own * float((weights**2).sum()))
    lingers = lag_one(rest)
    lagged = float(((common[1:] - common.mean()) * (common[:-1] - common.mean())).sum()) / (len(common) - 1)
    lagged -= own * float((weights**2).sum()) * lingers
    return SharedNoise(
        math.sqrt(shared), min(0.99, max(0.0, lagged / shared)) if shared > 0 else 0.0, math.sqrt(own), lingers,
        {unit: float(level) for unit, level in zip(panel.units, levels, strict=True)}, len(values),
    )  # fmt: skip


def lag_one(series: Numbers) -> float:
    """The correlation from step to step, between 0 and 0.99."""
    centred = series - series.mean(axis=0)
    below = float((centred**2).sum())
    return min(0.99, max(0.0, float((centred[1:] * centred[:-1]).sum()) / below)) if below > 0 else 0.0


def plan_units(
    arms: int,
    units: int,
    window: int,
    horizon: int,
    gap: float,
    history: Source | Panel | None = None,
    noise: float | None = None,
    shared_noise: float | None = None,
    shared_correlation: float | None = None,
    spread: str = "uniform",
    runs: int = 400,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[float, str], None] | None = None,
    **reading: Any,
) -> UnitsPlan:
    """Simulate an experiment over units before it starts; one arm is better by `gap`, as a share of the level.

    `noise` is the deviation of a unit's own total in a step, `shared_noise` that of what all units share, both as
    shares of the level, `shared_correlation` from step to step. A `history` gives all three.
    """
    arms, units = whole("arms", arms, 2), whole("units", units, 2)
    gap = number("gap", gap, 0, 1, "as a share of the level, 0.05 = 5 %")
    notes: list[str] = []
    if history is not None:
        if (noise, shared_noise, shared_correlation) != (None, None, None):
            raise BadValue(f"{argument('history')} gives the noise; leave {argument('noise')} and the others out")
        panel = history if isinstance(history, Panel) else read_panel(history, **reading)
        if len(panel.units) != units:
            raise BadValue(
                f"{argument('units')} must be the number of units in the history, which has {len(panel.units)} "
                f"({', '.join(panel.units[:6])}{', …' * (len(panel.units) > 6)}), got {units}"
            )
        found, notes = noise_of(panel), list(panel.notes)
    else:
        if noise is None:
            raise BadValue(f"{argument('noise')} is needed without a history: a unit's own deviation, such as 0.1")
        found = SharedNoise(
            between("shared_noise", shared_noise or 0.0, 0, 5),
            between("shared_correlation", shared_correlation or 0.0, 0, 0.99),
            between("noise", noise, 0, 5), 0.0, {}, 0,
        )  # fmt: skip
    notes += [note for note in [too_few_plans(units, arms)] if note]
    place = Trials(arms, units, window, horizon, spread, found, whole("runs", runs, 20), seed, threads)
    report = progress or (lambda done, what: None)
    report(0.0, "panel-elimination")
    ways: dict[str, dict[str, Any]] = {"panel-elimination": {}, "crossover": {"commit": horizon // 2}}
    candidates = [place.panel(name, gap, options) for name, options in ways.items()]
    report(0.2, "the exact test")
    candidates = [place.tested(one, gap, ways[one.name]) for one in candidates]
    report(0.3, "all units on one arm")
    candidates.append(place.together(gap))
    report(0.4, "the smallest gap")
    return UnitsPlan(
        verdict_of(candidates[0].found, arms), arms, units, place.window, place.horizon, gap, found, candidates,
        place.smallest(report), code_of(place, found), live_of(place, found), notes, place.runs, seed,
    )  # fmt: skip


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


def code_of(place: Trials, noise: SharedNoise) -> str:
    """The experiment as a line of Python."""
    units = list(noise.levels) or place.units
    return (
        f"Units(arms={place.arms}, units={units}, window={place.window}, horizon={place.horizon}{told(noise)}, seed=7)"
    )


def live_of(place: Trials, noise: SharedNoise) -> str:
    """The same as a live experiment, in which a silent unit is void."""
    units = list(noise.levels) or [f"unit {number}" for number in range(1, place.units + 1)]
    return (
        f'{LIVE}.create("{NAME}", variants={names(place.arms)}, window={place.window}, horizon={place.horizon}, '
        f"units={units}{told(noise)}, heartbeat=True, seed=7)"
    )


def told(noise: SharedNoise) -> str:
    """The levels of units, as an argument."""
    levels = {unit: float(f"{level:.4g}") for unit, level in noise.levels.items()}
    return f", levels={levels}" if levels else ""
