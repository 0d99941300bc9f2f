"""Many runs of a round policy in a world of units."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from afterglow.checks import any_seed, whole
from afterglow.engine.job import JobResults
from afterglow.engine.outcome import Outcome
from afterglow.engine.rounds.job import RoundJob
from afterglow.engine.work import share_out
from afterglow.errors import BadValue, argument
from afterglow.policies.registry import merged_options, round_policy
from afterglow.policies.rounds import RoundPolicy
from afterglow.worlds.units_world import UnitsWorld


def simulate_units(
    policy: RoundPolicy[Any, Any],
    world: UnitsWorld,
    horizon: int,
    runs: int,
    seed: int,
    options: Mapping[str, Any] | None,
    tier: tuple[str, int],
    threads: int | None,
    marks: Sequence[int],
    first: int,
    recommend: bool,
    told_window: int | None,
    season: int,
    progress: Callable[[int], None] | None,
) -> Outcome:
    """What `simulate` does when the world has units."""
    job = job_of(policy, world, horizon, seed, options, told_window, season, tier[1], first)
    settings = job.settings(first, job.draws(first).levels)
    job = job.compiled()
    results = JobResults.empty(runs, world.arms, np.array(marks, np.int64), recommend)
    began = time.perf_counter()
    used = share_out(runs, partial(job.play, results), threads, progress)
    seconds = time.perf_counter() - began
    return Outcome(
        job.policy.name, asdict(settings), merged_options(options, {}), world, horizon, runs, seed, first, tier[0],
        used, seconds,
        **results.columns(), checkpoints=results.marks, curves=results.curves, shares=results.shares,
        pulls=results.pulls, recommended=results.recommended,
    )  # fmt: skip


def job_of(
    policy: object,
    world: UnitsWorld,
    horizon: int,
    seed: int,
    options: Mapping[str, Any] | None,
    told_window: int | None,
    season: int,
    tier: int,
    first: int,
) -> RoundJob:
    """The job, checked."""
    chosen = round_policy(policy)
    asked = merged_options(options, {})
    if season != 1 and "season" not in chosen.options():
        raise BadValue(f"{argument('season')} is not a setting of {chosen.name}; leave it out")
    if season != 1:
        asked["season"] = season
    window = world.window if told_window is None else whole("told_window", told_window, 1)
    return RoundJob(chosen, asked, world, window, horizon, any_seed(seed), tier, first)


def first_settings(
    policy: object,
    world: UnitsWorld,
    horizon: int,
    seed: int,
    options: Mapping[str, Any] | None,
    told_window: int | None,
    season: int,
) -> dict[str, Any]:
    """The policy's settings in the first run; raises if it refuses them."""
    job = job_of(policy, world, horizon, seed, options, told_window, season, 0, 0)
    found: dict[str, Any] = asdict(job.settings(0, job.draws(0).levels))
    return found
