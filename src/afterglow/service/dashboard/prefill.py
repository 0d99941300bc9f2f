"""The form for a new experiment, filled in with the settings of another one or with given values."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from re import fullmatch
from typing import Any

from afterglow.live.domain import limits
from afterglow.live.domain.arguments import LONGEST_NAME
from afterglow.live.domain.spec import Spec
from afterglow.service.dashboard.forms import seconds_in
from afterglow.service.dashboard.numbers import duration

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}


def settings_of(spec: Spec, taken: Collection[str]) -> dict[str, str]:
    """Texts of the fields, with a name that is not taken."""
    default = (limits.REMEMBERED_STEPS, 1000 * limits.REMEMBERED)
    return typed({
        "name": next_name(spec.name, taken), "variants": spec.variants, "window": spec.window, "horizon": spec.horizon,
        "reward_max": None if spec.units else spec.reward_max, "unit": spec.unit,
        "policy": "" if spec.units else spec.policy, "options": spec.options, "units": spec.units,
        "levels": dict(zip(spec.units, spec.levels, strict=True)) if spec.levels else {},
        "control": spec.variants[spec.control] if spec.control else "", "season": spec.season, "profile": spec.profile,
        "profile_from": None if spec.profile_from_ms is None else spec.profile_from_ms / 1000,
        "typical": spec.typical, "trust": spec.trust if spec.adjusts and spec.trust != 1 else None,
        "confidence": spec.confidence, "seed": spec.seed, "heartbeat": spec.heartbeat, "shadow": spec.shadow,
        "remember": None if (spec.remember, spec.remember_ms) == default else spec.remember_ms / 1000,
        "step_seconds": spec.step_ms / 1000 or None, "guards": spec.guards,
    })  # fmt: skip


def typed(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as people type them into the form."""
    made = {name: field(name, value) for name, value in settings.items() if name != "step_seconds"}
    if "step_seconds" in settings:
        made |= step_length(settings["step_seconds"])
    return made


def field(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name in ("variants", "units"):
        return "\n".join(value)
    if name in ("options", "levels"):
        return "\n".join(f"{option} = {one}" for option, one in value.items())
    if name == "profile":
        return " ".join(plain(one) for one in value)
    if name == "guards":
        return "\n".join(
            f"{'' if one.name == one.metric else f'{one.name}: '}{one.metric} {one.words()}" for one in value
        )
    if name == "remember":
        return written_duration(float(value))
    if name == "profile_from":
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, bool):
        return "on" if value else ""
    return plain(value) if isinstance(value, float) else str(value)


def written_duration(seconds: float) -> str:
    """A duration that the form reads as exactly that.

    >>> written_duration(7200.0), written_duration(5401.0), written_duration(3.6e6)
    ('2 hours', '5401 seconds', '3600000 seconds')
    """
    short = duration(seconds)
    exact = "," not in short and seconds_in("remember", short) == seconds
    return short if exact else f"{plain(seconds)} seconds"


def plain(value: float) -> str:
    """A number without a needless decimal.

    >>> plain(1200.0), plain(0.25), plain(1e-7)
    ('1200', '0.25', '1e-07')
    """
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def step_length(seconds: float | None) -> dict[str, str]:
    """The fields that ask for the length of a step, in the largest unit that divides it."""
    if seconds is None:
        return {"steps": "manual"}
    unit = max(
        (name for name, size in UNITS.items() if seconds % size == 0), key=lambda name: UNITS[name], default="seconds"
    )
    return {"steps": "clock", "step_length": plain(seconds / UNITS[unit]), "step_unit": unit}


def next_name(name: str, taken: Collection[str]) -> str:
    """The name with the next number behind it that is free.

    >>> next_name("shipping", ["shipping"]), next_name("shipping-2", ["shipping", "shipping-2", "shipping-3"])
    ('shipping-2', 'shipping-4')
    """
    found = fullmatch(r"(.*)-(\d{1,6})", name)
    stem, number = (found[1], int(found[2])) if found else (name, 1)
    known = set(taken)
    while True:
        number += 1
        made = f"{stem[: LONGEST_NAME - len(str(number)) - 1]}-{number}"
        if made not in known:
            return made
