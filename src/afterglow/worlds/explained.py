r"""The world that a policy sees when expected totals are taken out of a baseline before it.

If what is expected explains the share $s$ of the variance of the noise, what is left of noise and blocks is
$\sqrt{1 - s}$ times as large. If it explains the season, the seasonal parts are replaced by their means. What is left
may be negative, so it isn't cut at 0.

>>> from afterglow.worlds.world import World
>>> world = World.of([0.5, 0.4], 4, baseline="seasonal:0.1,0.3 + noise:0.1")
>>> explained(world, "season").baseline.text, explained(world, 0.75).baseline.text
('constant:0.2 + noise:0.1', 'seasonal:0.1,0.3 + noise:0.05')
"""

import math
from dataclasses import replace

from afterglow.checks import is_number
from afterglow.errors import BadValue, argument
from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Part, Seasonal
from afterglow.worlds.world import World

SEASON = "season"


def explained(world: World, share: float | str) -> World:
    """The world less what is expected: a share of the noise from 0 to 1, or the season."""
    if share != SEASON and not (is_number(share) and 0 <= float(share) <= 1):
        raise BadValue(f"{argument('explained')} must be a share from 0 to 1 or {SEASON!r}, got {share!r}")
    if not world.baseline.parts:
        raise BadValue(f"{argument('explained')} takes out part of a baseline, and this world has none; give it one")
    parts = tuple(left_of(part, share) for part in world.baseline.parts)
    return replace(world, baseline=Baseline(parts, signed=True))


def left_of(part: Part, share: float | str) -> Part:
    """What is left of a part."""
    if isinstance(share, str):
        return Constant(part.mean) if isinstance(part, Seasonal) else part
    factor = math.sqrt(1 - share)
    if isinstance(part, Noise):
        return Noise(factor * part.deviation, part.correlation)
    if isinstance(part, Blocks):
        return Blocks(
            tuple(part.mean + factor * (value - part.mean) for value in part.values), part.length, part.season
        )
    return part
