"""Holds of whole seasons, so that all arms are compared over the same phases.

Totals that follow a cycle (a day of 24 steps, a week of 7) favour whichever arm is held at the right hours. If the
counted part of every hold, that behind its split, lasts whole cycles, every arm sees all phases equally often and the
cycle adds the same to all means. `seasonal(policy, season)` makes such a policy out of any that plays holds: what it
asks for is rounded up. A policy that has a `season` setting of its own aligns itself, and is given it.

    >>> from afterglow.policies.registry import named
    >>> daily = seasonal(named("washout-ucb"), 24)
    >>> settings = daily.settings(arms=3, window=30)
    >>> settings.season, daily.next_hold(settings, daily.start(settings), [])
    (24, (0, 77, 29))

The head of a hold is left as it is: it washes out what came before, and that takes as long as it takes.
"""

import inspect
from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass, replace
from functools import cache, partial
from typing import Any

from afterglow.checks import whole
from afterglow.errors import BadValue, argument
from afterglow.policies.policy import Policy

Anyone = Policy[Any, Any]


def seasonal(policy: Anyone, season: int = 1) -> Anyone:
    """The policy with counted parts of holds rounded up to whole seasons; itself if the season is 1."""
    steps = whole("season", season, 1, "1 = none")
    return policy if steps == 1 else aligned(policy, steps)


@cache
def aligned(policy: Anyone, season: int) -> Anyone:
    if policy.every_step:
        raise BadValue(
            f"{argument('season')} needs a policy that holds an arm for many steps, {policy.name} decides at every "
            f"step; take another, such as trim-ucb, or leave {argument('season')} out"
        )
    make: Any = policy.configure or policy.Settings
    if "season" in policy.options():
        return replace(policy, configure=partial(make, season=season))
    kind, next_hold = with_season(policy)

    def configure(**given: Any) -> Any:
        base = make(**given)
        return kind(**{each.name: getattr(base, each.name) for each in fields(base)}, season=season)

    configure.__signature__ = inspect.signature(make, eval_str=True)  # type: ignore[attr-defined]
    return replace(policy, Settings=kind, configure=configure, next_hold=next_hold)


@cache
def with_season(policy: Anyone) -> tuple[type, Any]:
    """Settings with one more field, and a next_hold that obeys it: the same for all seasons, so compiled once."""
    base: Any = policy.Settings
    more = [("season", int, field(kw_only=True))]
    kind = make_dataclass(f"Seasonal{base.__name__}", more, bases=(base,), frozen=base.__dataclass_params__.frozen)
    asked = policy.next_hold

    def next_hold(settings: Any, state: Any, draws: Sequence[float]) -> tuple[int, int, int]:
        arm, steps, split = asked(settings, state, draws)
        season = settings.season
        return arm, split + season * -((split - steps) // season), split

    return kind, next_hold
