"""Events as the API, streams and webhooks have them: amounts in the experiment's unit, variants by name, times as text.

The log itself has whole micro-units and numbers of variants, which is what its hashes cover; `afterglow export` has
these.
"""

from collections.abc import Mapping
from typing import Any

from afterglow.live.domain.amounts import units
from afterglow.live.domain.spec import Spec
from afterglow.live.log_entries import LogEntry
from afterglow.service.views import finite, moment, settings_view

TIMES = ("starts", "clock", "expected")
VARIANTS = ("served", "variant", "to", "keep")


def event_view(spec: Spec | None, one: LogEntry) -> dict[str, Any]:
    """One event; without a spec, of an experiment that can't be read, as it is stored."""
    body = one.body if spec is None else created(spec, one.body) if one.kind == "create" else body_view(spec, one.body)
    return one._asdict() | {"at": moment(one.at), "body": body}


def created(spec: Spec, body: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with which an experiment was created, and who did it."""
    first = {"horizon": spec.first_horizon, "settings": finite(body.get("settings", {}))}
    return settings_view(spec) | first | {name: body[name] for name in ("by",) if name in body}


def body_view(spec: Spec, body: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(body)
    for name in VARIANTS:
        if isinstance(made.get(name), int):
            made[name] = spec.variants[made[name]]
    if isinstance(made.get("served"), list):
        made["served"] = dict(zip(spec.units, (spec.variants[arm] for arm in made["served"]), strict=True))
    if isinstance(made.get("totals"), list):
        made["totals"] = dict(zip(spec.units, map(units, made["totals"]), strict=True))
    if isinstance(made.get("voids"), list):
        made["voids"] = [unit for unit, void in zip(spec.units, made["voids"], strict=True) if void]
    for name in ("units", "silent", "late"):
        if isinstance(made.get(name), list):
            made[name] = [spec.units[one] if isinstance(one, int) else one for one in made[name]]
    if isinstance(made.get("total"), int):
        made["total"] = units(made["total"])
    if isinstance(made.get("values"), list):
        made["values"] = [None if one is None else units(one) for one in made["values"]]
    if isinstance(made.get("metrics"), dict):
        made["metrics"] = {
            spec.metrics[int(number)]: dict(zip(spec.units, map(units, total), strict=True))
            if isinstance(total, list)
            else units(total)
            for number, total in made["metrics"].items()
        }
    for name in TIMES:
        if isinstance(made.get(name), int):
            made[name] = moment(made[name] / 1000)
    follows = made.pop("follows", None)
    if follows is not None:  # of the state after it, what readers can use
        made |= {name: follows[name] for name in ("learned", "excluded") if name in follows}
    return made
