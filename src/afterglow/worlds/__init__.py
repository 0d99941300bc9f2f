"""Simulated worlds: reward laws (`rewards`), when rewards arrive (`spreads`), other income (`baseline`)."""

from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Seasonal
from afterglow.worlds.files import read_world
from afterglow.worlds.rewards import (
    Bernoulli,
    Beta,
    Discrete,
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
    "Baseline", "Bernoulli", "Beta", "Blocks", "Constant", "Discrete", "Empirical", "Noise", "Reward", "Seasonal",
    "Spread", "TruncatedNormal", "Uniform", "UnitsWorld", "World", "parse_reward", "read_world", "spread",
]  # fmt: skip
