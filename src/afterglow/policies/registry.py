"""Every policy by name: one line each, imported when asked for."""

from functools import cache
from importlib import import_module
from typing import Any

from afterglow.errors import UnknownName
from afterglow.policies.policy import Policy

WHERE = {
    "phased-ucb": "phased_ucb:policy",
    "phased-elimination": "phased_elimination:policy",
    "trim-ucb": "trim_ucb:policy",
    "thrift-ucb": "thrift_ucb:policy",
    "lean-ucb": "lean_ucb:policy",
    "leak-ucb": "leak_ucb:policy",
    "washout-ucb": "washout_ucb:policy",
    "lag-ridge-ucb": "lag_ridge_ucb:policy",
    "ucb1": "ucb1:policy",
    "improved-ucb": "improved_ucb:policy",
    "odaaf": "odaaf:odaaf",
    "odaaf-bounded": "odaaf:bounded",
    "odaaf-variance": "odaaf:variance",
    "composite-exp3": "composite:exp3",
    "composite-tsallis": "composite:tsallis",
    "ars-ucb": "ars_ucb:policy",
    "attributed-ucb": "attributed_ucb:policy",
}


def names() -> list[str]:
    """The names of all policies, the paper's first."""
    return list(WHERE)


def is_ours(policy: Policy[Any, Any]) -> bool:
    """Whether it is one of Afterglow's own policies, not one of the same name."""
    return policy.name in WHERE and named(policy.name) is policy


@cache
def named(name: str) -> Policy[Any, Any]:
    """The policy of that name."""
    if name not in WHERE:
        raise UnknownName("policy", name, WHERE, "`afterglow policies` lists them")
    module, attribute = WHERE[name].split(":")
    policy: Policy[Any, Any] = getattr(import_module(f"afterglow.policies.{module}"), attribute)
    return policy
