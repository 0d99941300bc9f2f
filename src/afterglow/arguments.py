"""What an experiment is given by its user, checked once."""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

from afterglow.errors import BadValue
from afterglow.policies.checks import whole
from afterglow.policies.policy import Policy
from afterglow.policies.registry import named

Name = str | int | float  # of an arm
ROUNDING = 1e-9  # by which a sum of amounts may exceed the largest total


def arm_names(arms: object) -> tuple[Name, ...]:
    """Names of at least two arms, all different; 0, 1, … if only their number is given."""
    if isinstance(arms, Real):
        return tuple(range(whole("arms", arms, 2)))
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise BadValue(f"arms must be a list of names or a whole number of at least 2, got {arms!r}")
    names = tuple(arms)
    for name in names:
        if isinstance(name, bool) or not (
            isinstance(name, str | int) or (isinstance(name, float) and math.isfinite(name))
        ):
            raise BadValue(f"arms must have strings or numbers as names, got {name!r}")
        if names.count(name) > 1:
            raise BadValue(f"arms must have different names, got {name!r} {names.count(name)} times")
    if len(names) < 2:
        raise BadValue(f"arms must be at least 2, got {list(names)!r}; with fewer there is nothing to choose")
    return names


def playable(policy: object) -> Policy[Any, Any]:
    """The policy, if it can run on totals alone."""
    found = named(policy) if isinstance(policy, str) else policy
    if not isinstance(found, Policy):
        raise BadValue(f"policy must be a name or a Policy, got {policy!r}; `afterglow policies` lists the names")
    if found.privileged:
        raise BadValue(
            f"{found.name} is told each pull's own reward, which pooled totals don't show, so it runs in simulations "
            "only; choose another, such as trim-ucb"
        )
    return found


def known_options(policy: Policy[Any, Any], options: Mapping[str, Any], others: Sequence[str]) -> dict[str, Any]:
    """Options that the policy takes; a misspelt name is compared with the experiment's own arguments too."""
    known = policy.options()
    for name in options:
        if name not in known:
            raise policy.unknown(name, others)
    return dict(options)


def possible_total(total: object, window: int, reward_max: float) -> float:
    """A step's total as a float, if a window of pulls can bring it."""
    given = float(total) if isinstance(total, Decimal) and not total.is_nan() else total
    if isinstance(given, bool) or not isinstance(given, Real) or given != given:
        raise BadValue(f"total must be a number, got {total!r}; a step in which nothing arrived has total 0")
    amount: Any = given
    most = window * reward_max
    if amount < 0:
        raise BadValue(
            f"total must not be negative, got {total!r}; tell what is left after refunds and costs, or shift totals so "
            "that the least is 0"
        )
    if amount > most * (1 + ROUNDING):
        raise BadValue(
            f"total must be at most window x reward_max = {window:,} x {reward_max:,g} = {most:,g}, got {total!r}; "
            "if it is right, reward_max or the window is too small"
        )
    return float(amount)
