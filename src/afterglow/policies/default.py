"""The policy of an experiment for which none is chosen."""

from collections.abc import Mapping
from typing import Any

from afterglow.errors import TOO_SHORT, BadValue
from afterglow.policies.registry import DEFAULT, named

IN_SEASON = "random-turns"


def default_policy(arms: int, window: int, horizon: int | None, season: int, options: Mapping[str, Any]) -> str:
    """`random-turns` if there is a season, the horizon is long enough for it and it has these options; else the usual.

    >>> default_policy(3, 24, 2016, 168, {}), default_policy(3, 24, 2016, 1, {})
    ('random-turns', 'thrift-ucb')
    """
    policy = named(IN_SEASON)
    if season == 1 or not set(options) <= set(policy.options()):
        return DEFAULT
    try:
        policy.settings(arms, window, horizon, {"season": season, **options})
    except BadValue as error:
        if error.kind != TOO_SHORT:
            raise
        return DEFAULT
    return IN_SEASON
