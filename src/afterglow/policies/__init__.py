"""Bandit policies for pooled, delayed, anonymous totals: one algorithm per file."""

from afterglow.policies.policy import Policy
from afterglow.policies.registry import named, names, round_names, round_policy
from afterglow.policies.rounds import RoundPolicy

__all__ = ["Policy", "RoundPolicy", "named", "names", "round_names", "round_policy"]
