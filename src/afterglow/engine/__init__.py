"""Compiled simulation: random numbers, the three tiers, one driver for every policy."""

from importlib.util import find_spec

from afterglow.errors import MissingExtra

if find_spec("numba") is None:
    raise MissingExtra("the simulator", "lab")
