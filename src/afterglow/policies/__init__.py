"""Bandit policies for pooled, delayed, anonymous totals: one algorithm per file."""

from afterglow.policies.policy import Policy
from afterglow.policies.registry import named, names

__all__ = ["Policy", "named", "names"]
