"""How late a reward is on average, which some policies must be told."""

from typing import Any

import numpy as np

from afterglow.errors import BadValue
from afterglow.policies.policy import Policy
from afterglow.worlds.spreads import Numbers, Plan
from afterglow.worlds.world import World

KNOWN = ("mean_delay", "delay_variance")  # options that follow from the spread


def lag_moments(world: World) -> tuple[float, float]:
    """Mean and variance of the lag at which a unit of reward arrives.

    Where the arms differ or the spread reacts to the player, the largest there can be.

    >>> lag_moments(World.of([0.9, 0.8], window=5, spread="uniform"))
    (2.0, 2.0)
    >>> lag_moments(World.of([0.9, 0.8], window=5, spread="hoard"))
    (4.0, 4.0)
    """
    law = lag_law(world.plan(), world.window, world.spread.text)
    if law is None:
        most = world.window - 1
        return float(most), most**2 / 4
    lags = np.arange(world.window)
    mean = float(law @ lags)
    return mean, float(law @ (lags - mean) ** 2)


def lag_law(plan: Plan, window: int, text: str) -> Numbers | None:
    """The share of a reward that each lag gets on average; None where there is no such law."""
    if plan.kind == "custom":
        raise BadValue(f"the mean delay of spread {text} is not known; give mean_delay and delay_variance as numbers")
    if plan.kind == "dirichlet":
        return np.full(window, 1.0 / window)
    if plan.kind == "delay":
        return np.diff(np.minimum(plan.table[:window], 1.0), prepend=0.0)
    rows = plan.table[2:].reshape(-1, window + 2)[:, 2:]
    return None if plan.gather or (rows != rows[0]).any() else rows[0]


def with_lags(policy: Policy[Any, Any], options: dict[str, Any], world: World) -> dict[str, Any]:
    """The options, with "auto" and what is needed but left out read off the spread."""
    asked = [name for name in KNOWN if options.get(name) == "auto" or (name in policy.needs() and name not in options)]
    if not asked:
        return options
    known = dict(zip(KNOWN, lag_moments(world), strict=True))
    return options | {name: known[name] for name in asked}
