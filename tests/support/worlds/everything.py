"""Every policy, spread and reward law, as the contract suites run over them."""

from typing import Any

from afterglow.policies.policy import Policy
from afterglow.policies.registry import named, names

SPREADS = [
    "immediate", "uniform", "last", "geometric:0.5", "kernel:0.25,0,0.75", "dirichlet", "dirichlet:0.3",
    "delay:uniform", "delay:geometric:0.3", "delay:poisson:2", "hoard", "handicap", "chameleon",
]  # fmt: skip
WHOLE_DELAYS = [
    "immediate", "last", "delay:uniform", "delay:geometric:0.3", "delay:poisson:2", "hoard", "handicap", "chameleon",
]  # fmt: skip
DYADIC = [*WHOLE_DELAYS, "uniform", "kernel:0.25,0,0.75"]  # exact in binary when the window is a power of two
LAWS = {
    "bernoulli": ["0.7", "0.5", "0.4"],
    "discrete": ["discrete:0@0.25,0.5@0.25,1@0.5", "discrete:0@0.5,1@0.5", "discrete:0.25@0.75,1@0.25"],
    "uniform": ["uniform:0.2,1", "uniform:0,1", "uniform:0.1,0.6"],
    "beta": ["beta:3,2", "beta:2,2", "beta:0.5,1"],
    "normal": ["normal:0.7,0.2", "normal:0.5,0.1", "normal:0.2,0.5"],
    "empirical": ["empirical:0.2,0.9,0.9,0.7", "empirical:0.1,0.4,1", "empirical:0,0,0.5,0.6,0.75"],
    "mixed": ["beta:3,2", "0.5", "uniform:0,0.8"],
}


def every_policy() -> list[Policy[Any, Any]]:
    return [named(name) for name in names()]


def needed(policy: Policy[Any, Any], window: int) -> dict[str, float]:
    """Options that a policy can't do without: the mean and the variance of a uniform delay."""
    known = {"mean_delay": (window - 1) / 2, "delay_variance": (window**2 - 1) / 12}
    return {name: value for name, value in known.items() if name in policy.needs()}


def called(case: Any) -> str | None:
    """A policy's name, for the name of its test."""
    return case.name if isinstance(case, Policy) else None
