"""Bandits whose rewards linger, mix and carry no name."""

from afterglow.agent import Agent
from afterglow.errors import AfterglowError
from afterglow.estimates import Estimate, Estimates
from afterglow.policies.policy import Policy

__all__ = ["AfterglowError", "Agent", "Estimate", "Estimates", "Policy", "__version__"]

__version__ = "0.1.0"
