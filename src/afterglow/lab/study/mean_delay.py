"""Mean and variance of a spread's delay, required by the ODAAF policies."""

from typing import Any

import numpy as np

from afterglow.errors import BadValue, argument
from afterglow.policies.registry import AnyPolicy
from afterglow.worlds.spreads import Numbers, fixed_rows
from afterglow.worlds.spreads import lag_law as random_lag
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

KNOWN = ("mean_delay", "delay_variance")  # options that follow from the spread


def lag_moments(world: World) -> tuple[float, float]:
    """Mean and variance of the lag at which a unit of reward arrives.

    Where the arms differ or the spread depends on the player, the largest possible.

    >>> lag_moments(World.of([0.9, 0.8], window=5, spread="uniform"))
    (2.0, 2.0)
    >>> lag_moments(World.of([0.9, 0.8], window=5, spread="hoard"))
    (4.0, 4.0)
    """
    law = lag_law(world)
    if law is None:
        most = world.window - 1
        return float(most), most**2 / 4
    lags = np.arange(world.window)
    mean = float(law @ lags)
    return mean, float(law @ (lags - mean) ** 2)


def lag_law(world: World) -> Numbers | None:
    """The share of a reward that each lag gets on average; None where there is no such law."""
    text, window = world.spread.text, world.window
    if world.spread.function is not None:
        known = " and ".join(argument(name) for name in KNOWN)
        sentence = f"the mean delay of spread {text} is not known; give {known} as numbers"
        raise BadValue(sentence, kind="missing-setting", field="mean_delay")
    name, _, rest = text.partition(":")
    if name in ("hoard", "chameleon"):
        return None
    if name == "dirichlet":
        return np.full(window, 1.0 / window)
    if name == "delay":
        return random_lag(text, rest, window)
    rows = np.array(fixed_rows(text, name, rest, world.arms, world.best, window))
    return None if (rows != rows[0]).any() else rows[0]


def with_lags(policy: AnyPolicy, options: dict[str, Any], world: World | UnitsWorld) -> dict[str, Any]:
    """The options, with "auto" and missing delays taken from the spread."""
    asked = [name for name in KNOWN if options.get(name) == "auto" or (name in policy.needs() and name not in options)]
    if not asked or isinstance(world, UnitsWorld):
        return options
    known = dict(zip(KNOWN, lag_moments(world), strict=True))
    return options | {name: known[name] for name in asked}
