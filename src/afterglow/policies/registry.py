"""All policies by name, imported when used."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from afterglow.errors import BadValue, UnknownName, argument
from afterglow.policies.configurable import Configurable
from afterglow.policies.policy import Policy
from afterglow.policies.rounds import RoundPolicy

AnyPolicy = Policy[Any, Any] | RoundPolicy[Any, Any]
DEFAULT = "thrift-ucb"  # of agents, live experiments, the form, simulations and plans
WHERE = {
    "phased-ucb": "phased_ucb:policy",
    "phased-elimination": "phased_elimination:policy",
    "trim-ucb": "trim_ucb:policy",
    "thrift-ucb": "thrift_ucb:policy",
    "lean-ucb": "lean_ucb:policy",
    "leak-ucb": "leak_ucb:policy",
    "washout-ucb": "washout_ucb:policy",
    "thompson": "thompson:policy",
    "switchback": "switchback:policy",
    "random-turns": "random_turns:policy",
    "lag-ridge-ucb": "lag_ridge_ucb:policy",
    "ucb1": "ucb1:policy",
    "kl-ucb": "kl_ucb:policy",
    "improved-ucb": "improved_ucb:policy",
    "odaaf": "odaaf:odaaf",
    "odaaf-bounded": "odaaf:bounded",
    "odaaf-variance": "odaaf:variance",
    "composite-exp3": "composite:exp3",
    "composite-tsallis": "composite:tsallis",
    "auto-wash": "auto_wash:policy",
    "ars-ucb": "ars_ucb:policy",
    "ars-exp3": "ars_exp3:policy",
    "attributed-ucb": "attributed_ucb:policy",
}

ROUNDS = {"panel-elimination": "panel:policy"}  # that decide for several units
FORMER = {  # earlier versions, for what was stored with them
    ("lag-ridge-ucb", 1): "former.lag_ridge_ucb_1:policy",
    ("random-turns", 1): "former.random_turns_1:policy",
    ("random-turns", 2): "former.random_turns_2:policy",
    ("random-turns", 3): "former.random_turns_3:policy",
    ("panel-elimination", 1): "former.panel_elimination_1:policy",
    ("panel-elimination", 2): "former.panel_elimination_2:policy",
}


def names() -> list[str]:
    """The names of all policies, the paper's first."""
    return list(WHERE)


def is_ours(policy: AnyPolicy) -> bool:
    """Whether it is one of Afterglow's own policies, not one of the same name."""
    if policy.name in WHERE:
        return version_of(policy.name, policy.version) is policy
    return (
        isinstance(policy, RoundPolicy)
        and policy.name in ROUNDS
        and round_version(policy.name, policy.version) is policy
    )


def any_named(name: str) -> AnyPolicy:
    """The policy of that name, for one total or for several units."""
    return round_policy(name) if name in ROUNDS else named(name)


def round_names() -> list[str]:
    """The names of the policies that decide for several units."""
    return list(ROUNDS)


@cache
def named(name: str) -> Policy[Any, Any]:
    """The policy of that name."""
    if name in ROUNDS:
        raise BadValue(
            f"{name} decides for several units, which have totals of their own; use Units, or take another, such as "
            "lean-ucb",
            kind="needs-units",
            field="policy",
        )
    if name not in WHERE:
        raise UnknownName("policy", name, WHERE, "`afterglow policies` lists them")
    policy: Policy[Any, Any] = loaded(WHERE[name])
    return policy


def loaded(where: str) -> Any:
    module, attribute = where.split(":")
    return getattr(import_module(f"afterglow.policies.{module}"), attribute)


def version_of(name: str, version: int) -> Policy[Any, Any]:
    """The policy as something was stored with: that version if it is kept, else the present one."""
    where = FORMER.get((name, version))
    policy: Policy[Any, Any] = named(name) if where is None else loaded(where)
    return policy


def round_version(name: str, version: int) -> RoundPolicy[Any, Any]:
    """The same of a policy that decides for several units."""
    where = FORMER.get((name, version))
    policy: RoundPolicy[Any, Any] = round_policy(name) if where is None else loaded(where)
    return policy


def round_policy(policy: object) -> RoundPolicy[Any, Any]:
    """A policy that decides for several units, by its name or itself."""
    if isinstance(policy, RoundPolicy):
        return policy
    if isinstance(policy, Policy) or policy in WHERE:
        name = policy.name if isinstance(policy, Policy) else policy
        raise BadValue(
            f"{argument('policy')} must decide for several units, {name} decides for one; take {', '.join(ROUNDS)}",
            kind="needs-units",
        )
    if policy not in ROUNDS:
        raise UnknownName("policy", str(policy), ROUNDS, f"those that decide for units are {', '.join(ROUNDS)}")
    found: RoundPolicy[Any, Any] = loaded(ROUNDS[str(policy)])
    return found


def playable(policy: object) -> Policy[Any, Any]:
    """The policy, if it can run on totals alone."""
    found = named(policy) if isinstance(policy, str) else policy
    if not isinstance(found, Policy):
        named_ = argument("policy")
        raise BadValue(f"{named_} must be a name or a Policy, got {policy!r}; `afterglow policies` lists the names")
    if found.privileged:
        raise BadValue(
            f"{found.name} needs each pull's own reward, which pooled totals don't show, so it runs in simulations "
            "only; choose another, such as trim-ucb",
            kind="simulation-only",
            field="policy",
        )
    return found


def merged_options(options: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a policy, given as a mapping, by name, or both; each once.

    >>> merged_options({"C": 0.5}, {"level": "plus"})
    {'C': 0.5, 'level': 'plus'}
    """
    if options is not None and not isinstance(options, Mapping):
        raise BadValue(f"{argument('options')} must be a mapping from settings to values, got {options!r}")
    found = dict(options or {})
    for name in settings:
        if name in found:
            raise BadValue(f"{argument(name)} is given by name and in {argument('options')}; give it once")
    return found | dict(settings)


def known_options(policy: Configurable, options: Mapping[str, Any], others: Sequence[str]) -> dict[str, Any]:
    """Options that the policy takes; a misspelt name is compared with the experiment's own arguments too."""
    known = policy.options()
    for name in options:
        if name not in known:
            raise policy.unknown(name, others)
    return dict(options)
