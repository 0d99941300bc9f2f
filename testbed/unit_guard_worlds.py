"""Simulated experiments with units and a secondary total that a guard watches: false stops and delays.

`play` runs `Units` with rewards and counts a metric beside them. A unit's metric is its level times what all units
share in the step, times the mean effect of its last arms over the window, times noise of its own. Shared by the tests
and `bench/units/unit_guards.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from afterglow import Units
from afterglow.estimation.guards import FALSE_STOPS, Limit, look_is_due
from afterglow.estimation.unit_guards import Block, UnitsGuardCase
from afterglow.live.domain.units.guard_blocks import GuardBlocks

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class UnitsGuardWorld:
    name: str
    units: int = 8
    window: int = 12
    steps: int = 1_000
    variants: int = 3
    level: float = 20.0  # of the metric, of a unit of mean size
    own: float = 0.15  # deviation of a unit's noise, as a share
    own_rho: float = 0.0
    common: float = 0.15  # deviation of what is shared, as a share
    common_rho: float = 0.9
    counts: bool = True  # whole events, with the noise of a Poisson law in addition
    sizes: float = 0.5  # deviation of the logarithm of sizes
    loadings: float = 0.0  # units give weights from 1 - this to 1 + this to what is shared
    interaction: float = 0.0  # deviation between units of a variant's effect
    season: float = 0.0  # swing of a day of 24 steps
    additive: bool = False  # what is shared is added, not multiplied
    silent: float = 0.0  # share of units' steps without a report
    commit: int | None = None  # steps in which all variants stay in play; None: half of them
    limit: float = 0.1
    best: int = -1  # variant with the largest reward; none


def lingering(random: np.random.Generator, shape: tuple[int, int], sd: float, rho: float) -> Floats:
    """Noise that lingers, by row."""
    shocks = random.normal(0.0, sd * np.sqrt(1 - rho * rho), shape)
    shocks[:, 0] /= max(1e-9, np.sqrt(1 - rho * rho))
    for step in range(1, shape[1]):
        shocks[:, step] += rho * shocks[:, step - 1]
    return shocks


def play(world: UnitsGuardWorld, effects: Sequence[float], seed: int, at_least: bool = False) -> list[int]:
    """The step in which each variant was found beyond the limit, 0 if it never was; nothing is stopped."""
    random = np.random.default_rng(seed)
    units, steps, window = world.units, world.steps, world.window
    factors = 1.0 + np.asarray(effects)
    sizes = np.exp(random.normal(0.0, world.sizes, units))
    loads = 1.0 + random.uniform(-world.loadings, world.loadings, units)
    common = lingering(random, (1, steps), world.common, world.common_rho)[0]
    common += world.season * np.sin(2 * np.pi * np.arange(steps) / 24)
    own = np.maximum(0.0, 1.0 + lingering(random, (units, steps), world.own, world.own_rho))
    react = factors[None, :] * np.maximum(0.0, 1.0 + random.normal(0.0, world.interaction, (units, world.variants)))
    rewards = 1.0 + 0.15 * random.normal(size=(units, steps)) + common[None, :]
    silent = random.random((units, steps)) < world.silent
    commit = steps // 2 if world.commit is None else world.commit
    names = [str(unit) for unit in range(units)]
    team = Units(
        list(range(world.variants)), names, window, steps, levels=dict.fromkeys(names, 1.0), seed=seed, commit=commit
    )
    played, everyone = np.zeros((units, steps)), np.arange(units)  # effects of what each unit was served
    record = GuardBlocks([0], units, window)
    sign = -1 if at_least else 1
    limit = Limit(sign, 1 + sign * world.limit, 0.0)
    share, found, looks = FALSE_STOPS / (world.variants - 1), [0] * world.variants, 0
    for step in range(steps):
        planned = [int(arm) for arm in team.select().values()]
        played[:, step] = react[everyone, planned]
        effect = played[:, max(0, step - window + 1) : step + 1].mean(axis=1)
        shared = np.maximum(0.0, (effect if not world.additive else 1.0) * (1.0 + loads * common[step]))
        mean = world.level * sizes * (shared + (effect - 1.0 if world.additive else 0.0)) * own[:, step]
        metric = random.poisson(np.maximum(0, mean)) if world.counts else mean * 1000
        gain = np.where(np.asarray(planned) == world.best, 0.06, 0.0)
        known = {names[u]: rewards[u, step] + gain[u] for u in range(units) if not silent[u, step]}
        team.update(known)
        record.take(step, planned, [not one for one in silent[:, step]], [[int(one) for one in metric]])
        if team._runner.round is None:
            record.fold(step + 1)
            looks += 1
            if look_is_due(looks):
                look(record.blocks, record.largest[0], limit, share, found, step)
    return found


def look(blocks: Sequence[Block], largest: float, limit: Limit, share: float, found: list[int], step: int) -> None:
    case = UnitsGuardCase(blocks, 0, largest, 0, limit, share)
    for variant in range(1, len(found)):
        if not found[variant] and case.is_beyond(variant):
            found[variant] = step + 1


BASE = UnitsGuardWorld("units of their own noise")
WORLDS = [
    BASE,
    replace(BASE, name="own noise lingers: rho 0.9", own_rho=0.9),
    replace(BASE, name="own noise lingers: rho 0.99", own_rho=0.99),
    replace(BASE, name="no shared shock, sizes alike", common=0.0, sizes=0.0),
    replace(BASE, name="0.3 events a step", level=0.3),
    replace(BASE, name="0.03 events a step", level=0.03),
    replace(BASE, name="0.3 events a step, sizes from 1 to 1,000", level=0.3, sizes=2.3),
    replace(BASE, name="four units", units=4),
    replace(BASE, name="shared shock of 40 %, a season of 20 %", common=0.4, season=0.2),
    replace(BASE, name="shared shock is added, not multiplied", additive=True),
    replace(BASE, name="units share it by 0.5 to 1.5", loadings=0.5),
    replace(BASE, name="sizes from 1 to 50", sizes=1.0),
    replace(BASE, name="5 % of reports are missing", silent=0.05),
    replace(BASE, name="variants are dropped early", commit=0, best=1),
    replace(BASE, name="effects differ by 3 % between units", interaction=0.03),
    replace(BASE, name="ten variants, 20 units", variants=10, units=20, steps=600),
    replace(BASE, name="window 1", window=1, steps=500),
]
DELAYS = [
    replace(BASE, commit=BASE.steps),
    replace(BASE, name="four units", units=4, commit=BASE.steps),
    replace(BASE, name="own noise lingers: rho 0.9", own_rho=0.9, commit=BASE.steps),
    replace(BASE, name="200 events a step, own noise 5 %", level=200.0, own=0.05, commit=BASE.steps),
    replace(BASE, name="0.3 events a step", level=0.3, commit=BASE.steps),
    replace(BASE, name="variants are dropped early", commit=0, best=1),
]
