"""Bandits whose rewards linger, mix and carry no name."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from afterglow.agent import Agent
from afterglow.errors import AfterglowError
from afterglow.estimates import Estimate, Estimates
from afterglow.policies.policy import Policy

if TYPE_CHECKING:
    from afterglow.engine.simulate import simulate
    from afterglow.worlds.world import World

__all__ = ["AfterglowError", "Agent", "Estimate", "Estimates", "Policy", "World", "__version__", "simulate"]

__version__ = "0.1.0"

LATER = {"World": "afterglow.worlds.world", "simulate": "afterglow.engine.simulate"}  # too heavy for every import


def __getattr__(name: str) -> Any:
    if name == "live":
        return import_module("afterglow.live")
    if name in LATER:
        return getattr(import_module(LATER[name]), name)
    raise AttributeError(f"module 'afterglow' has no attribute {name!r}")
