"""Plan an experiment over several units: what they share, and how often the best arm is found.

What units share and what is their own are simulated as noise of the same deviation and of the same correlation from
step to step. Without a history they are given as numbers.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from afterglow.checks import between, number, whole
from afterglow.errors import BadValue, argument
from afterglow.lab.plan.text import LIVE, NAME, names
from afterglow.lab.plan.units_noise import SharedNoise, noise_of
from afterglow.lab.plan.units_power import too_few_plans
from afterglow.lab.plan.units_trials import Trials, UnitsCandidate
from afterglow.lab.plan.verdict import verdict_of
from afterglow.lab.reading.panel import Panel, read_panel
from afterglow.lab.reading.text import Source


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
    found, notes = noise_given(units, history, noise, shared_noise, shared_correlation, reading)
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


def noise_given(
    units: int, history: Source | Panel | None, noise: float | None, shared_noise: float | None,
    shared_correlation: float | None, reading: dict[str, Any],
) -> tuple[SharedNoise, list[str]]:  # fmt: skip
    """The noise of units, as the history or the numbers give it; notes on the history."""
    if history is not None:
        if (noise, shared_noise, shared_correlation) != (None, None, None):
            raise BadValue(f"{argument('history')} gives the noise; leave {argument('noise')} and the others out")
        panel = history if isinstance(history, Panel) else read_panel(history, **reading)
        if len(panel.units) != units:
            raise BadValue(
                f"{argument('units')} must be the number of units in the history, which has {len(panel.units)} "
                f"({', '.join(panel.units[:6])}{', …' * (len(panel.units) > 6)}), got {units}"
            )
        return noise_of(panel), list(panel.notes)
    if noise is None:
        raise BadValue(f"{argument('noise')} is needed without a history: a unit's own deviation, such as 0.1")
    known = SharedNoise(
        between("shared_noise", shared_noise or 0.0, 0, 5),
        between("shared_correlation", shared_correlation or 0.0, 0, 0.99),
        between("noise", noise, 0, 5), 0.0, {}, 0,
    )  # fmt: skip
    return known, []


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
