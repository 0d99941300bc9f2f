"""What the settings of an experiment with units must be."""

from collections.abc import Mapping, Sequence
from typing import Any

from afterglow import records
from afterglow.errors import BadValue, UnknownName, argument
from afterglow.live.domain import limits
from afterglow.live.domain.guards.settings import REWARD, Guard
from afterglow.policies.registry import known_options, round_policy
from afterglow.policies.rounds import RoundPolicy
from afterglow.rng import ROUNDS, key
from afterglow.round_runner import draw_order
from afterglow.units import told_levels

UNITS_POLICY = "panel-elimination"
OTHER_TOTALS = ("profile", "profile_from", "typical", "trust")  # settings that one total has


def levels_of(units: Sequence[str], levels: Mapping[str, float] | None) -> tuple[float, ...]:
    """The level of each unit in order; none if they are not told."""
    if not units:
        if levels:
            raise BadValue(f"{argument('levels')} must be left out where there are no {argument('units')}")
        return ()
    told = told_levels(units, levels or None)
    return tuple(told[unit] for unit in units) if told else ()


def refuse_other_limits(guards: Sequence[Guard]) -> None:
    """Refuse limits that don't compare units with each other."""
    for one in guards:
        if one.metric == REWARD:
            raise BadValue(
                f"{argument('guards')} must watch totals beside the reward with {argument('units')}, {one.name!r} "
                "watches the reward: the policy compares it already, and it may be negative",
                field="guards",
            )
        if not one.relative or one.offset or not one.factor:
            raise BadValue(
                f"{argument('guards')} must have a change in percent against the control with {argument('units')}, "
                f"such as '+10%', for {one.name!r}, got {one.words()}: units of different sizes are compared",
                field="guards",
            )


def resolve_rounds(values: Mapping[str, Any], others: Sequence[str]) -> tuple[RoundPolicy[Any, Any], dict[str, Any]]:
    """The policy and its resolved settings; an error has a setting of the experiment as its field."""
    for name in OTHER_TOTALS:
        if values[name] is not None:
            raise BadValue(
                f"{argument(name)} must be left out with {argument('units')}: what units share cancels, so nothing is "
                "taken out of their totals"
            )
    refuse_other_limits(values["guards"])
    if values["reward_max"] != 1.0:
        raise BadValue(
            f"{argument('reward_max')} must be left out with {argument('units')}: their totals may be any numbers"
        )
    if values["horizon"] is None:
        raise BadValue(f"{argument('horizon')} is missing: an experiment with {argument('units')} has a fixed end")
    limits.at_most("variants", len(values["variants"]), limits.VARIANTS_OF_UNITS)
    arms, units = len(values["variants"]), len(values["units"])
    try:
        found = round_policy(values["policy"])
        order, labels = draw_order(key(values["seed"], 0, ROUNDS), units, arms)
        options = known_options(found, values["options"], list(others))
        options |= {"season": values["season"]} if values["season"] > 1 else {}
        told = list(levels_of(values["units"], values["levels"]))
        settings = found.settings(arms, units, values["window"], values["horizon"], told, order, labels, options)
    except BadValue as error:
        if error.field in values["options"] or (isinstance(error, UnknownName) and error.field not in others):
            error.field = "options"
        elif error.field not in others:
            error.field = {"arms": "variants"}.get(error.field or "", "policy")
        raise
    return found, records.plain(settings, f"settings of {found.name}:")
