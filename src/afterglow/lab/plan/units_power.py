"""How often the exact test of an experiment over units will reject: runs are simulated, and each is replayed.

A run that recommends the wrong arm may be rejected too: the test asks whether any arm changes anything.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations, product
from math import factorial
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

FEW_DEALS = 600  # with no more orders of units and arms all of them are replayed


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
        orders = [(settings.order, settings.labels), *other_orders(units, world.arms, draws, seed + run)]
        drawn = [replace(settings, order=order, labels=labels) for order, labels in orders]
        found = statistics_of(policy, drawn, settings.slot, known, bodies)
        reached = found >= found[0] * (1 - policy.rounding)
        share = reached[1:] if all_dealt(units, world.arms) else reached
        rejected += int(share.mean() <= level)
    return rejected / runs


def different_plans(units: int, arms: int) -> int:
    """How many plans can be drawn that differ by more than the names of arms: p is at least 1 over it.

    It counts plans in which all arms stay in play, as with `commit`. Where one of three or more is dropped, units are
    dealt anew to those that are left, and there are more. Units are dealt to arms in groups that differ by at most one,
    and move on together. Groups of one size can be named in as many ways as there are arms, since all plans move on in
    the same direction.
    """
    if units == 2:
        return 1
    size, larger = divmod(units, arms)
    dealt = factorial(units) // (factorial(size + 1) ** larger * factorial(size) ** (arms - larger))
    return int(dealt if larger else dealt // arms)


def too_few_plans(units: int, arms: int, level: float = 0.05) -> str:
    """A note if the exact test can't reject, with the least number of units with which it can; else nothing."""
    plans = different_plans(units, arms)
    if plans * level >= 1:
        return ""
    enough = next(more for more in range(units, 201) if different_plans(more, arms) * level >= 1)
    there = "there is 1 different plan" if plans == 1 else f"there are {plans} different plans"
    playing = "" if arms == 2 else " that play all of them (commit)"
    return (
        f"the exact test of {units} units and {arms} arms can't have p below {1 / plans:.2g}, whatever the effect: "
        f"{there}{playing}; from {enough} units on it can be below {100 * level:.0f} %"
    )


def all_dealt(units: int, arms: int) -> bool:
    return factorial(units) * factorial(arms) <= FEW_DEALS


def other_orders(units: int, arms: int, draws: int, seed: int) -> list[tuple[list[int], list[int]]]:
    """Draws of the orders of units and arms, or all that there are: then p has no error of few draws."""
    if all_dealt(units, arms):
        both = product(permutations(range(units)), permutations(range(arms)))
        return [(list(order), list(labels)) for order, labels in both]
    return [draw_order(rng.key(seed, draw, rng.REPLAY), units, arms) for draw in range(draws)]
