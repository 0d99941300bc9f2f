"""How often the exact test of an experiment over units will reject: runs are simulated, and each is replayed.

A run that recommends the wrong arm may be rejected too: the test asks whether any arm changes anything.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from afterglow import rng
from afterglow.engine.job import JobResults
from afterglow.engine.rounds.job import RoundJob
from afterglow.engine.rounds.replay import statistics_of
from afterglow.engine.tiers import SKIP
from afterglow.policies.registry import round_policy
from afterglow.round_runner import draw_order
from afterglow.worlds.units_world import UnitsWorld


def rejections(
    world: UnitsWorld, window: int, steps: int, runs: int, seed: int, draws: int = 99, level: float = 0.05,
    options: Mapping[str, Any] | None = None,
) -> float:  # fmt: skip
    """The share of runs whose exact test has p <= level."""
    policy, units = round_policy("panel-elimination"), world.units
    job = RoundJob(policy, dict(options or {}), world, window, steps, seed, SKIP).compiled()
    results = JobResults.empty(1, world.arms, np.zeros(0, np.int64), recommend=False)
    rejected = 0
    for run in range(runs):
        trace = np.zeros((steps, 2 + 3 * units))
        replace(job, first=run).play(results, 0, 1, np.zeros(1), trace)
        settings = job.settings(run, job.draws(run).levels)
        bodies = np.ascontiguousarray(trace[trace[:, 0] == settings.slot][:, 2 + 2 * units :])
        known = np.full(bodies.shape, settings.slot, np.int64)
        orders = [draw_order(rng.key(seed + run, draw, rng.REPLAY), units, world.arms) for draw in range(draws)]
        drawn = [settings, *(replace(settings, order=order, labels=labels) for order, labels in orders)]
        found = statistics_of(policy, drawn, settings.slot, known, bodies)
        rejected += int((found >= found[0] * (1 - policy.rounding)).mean() <= level)
    return rejected / runs
