"""Simulated worlds: reward laws (`rewards`), when rewards arrive (`spreads`), other income (`baseline`)."""

from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Seasonal
from afterglow.worlds.cells import Cells, atoms, cut
from afterglow.worlds.files import read_world
from afterglow.worlds.rewards import (
    Bernoulli,
    Beta,
    Discrete,
    Divided,
    Empirical,
    Reward,
    TruncatedNormal,
    Uniform,
    parse_reward,
)
from afterglow.worlds.spreads import Spread, spread
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

__all__ = [
    "Baseline", "Bernoulli", "Beta", "Blocks", "Cells", "Constant", "Discrete", "Divided", "Empirical", "Noise",
    "Reward", "Seasonal", "Spread", "TruncatedNormal", "Uniform", "UnitsWorld", "World", "atoms", "cut",
    "parse_reward", "read_world", "spread",
]  # fmt: skip
