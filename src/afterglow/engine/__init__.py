"""Compiled simulation: random numbers, the three tiers, one driver for every policy."""

from importlib.util import find_spec

from afterglow.errors import MissingExtra

if find_spec("numba") is None:
    raise MissingExtra("the simulator", "lab")

from afterglow.engine.episode import Episode
from afterglow.engine.outcome import Mean, Outcome
from afterglow.engine.simulate import log_marks

__all__ = ["Episode", "Mean", "Outcome", "log_marks"]
