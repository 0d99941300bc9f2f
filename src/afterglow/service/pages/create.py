"""A form for a new experiment. What was typed stays; a refusal stands beside the field that it is about."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from afterglow.errors import AfterglowError, BadValue, Conflict
from afterglow.live.spec import ARGUMENTS
from afterglow.policies.registry import WHERE, named
from afterglow.service.pages.visit import Visit

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
FRESH = {
    "name": "", "variants": "", "window": "", "horizon": "", "reward_max": "", "policy": "trim-ucb", "steps": "clock",
    "step_length": "1", "step_unit": "hours", "control": "", "season": "1", "confidence": "0.95", "seed": "0",
    "heartbeat": "", "shadow": "", "options": "", "start": "now",
}  # fmt: skip
CALLED = {"step_seconds": "step_length", "arms": "variants", "arm": "variants"}  # fields by what refusals call them
LARGEST = {"window": 10**6, "season": 10**6, "horizon": 10**12, "seed": 2**53 - 1}


class Refused(BadValue):
    """A refusal that knows its field."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def create_page(visit: Visit) -> Response:
    """The empty form; sent back, the experiment is created or the form returns with what to change."""
    if visit.request.method == "GET":
        return form_page(visit, FRESH, {})
    typed = {name: visit.form.get(name, "") for name in FRESH}
    try:
        settings = read(typed)
        if visit.token is not None and not visit.token.knows(str(settings["name"])):
            raise Refused("name", f"this token may not create an experiment named {settings['name']!r}")
        experiment = visit.dashboard.experiments.create(**settings)
    except (BadValue, Conflict) as error:
        return form_page(visit, typed, beside(error, typed))
    return visit.go(f"/experiments/{experiment.name}?done=create")


def form_page(visit: Visit, typed: Mapping[str, str], refused: Mapping[str, str]) -> Response:
    policies = [(name, named(name).summary) for name in WHERE if not named(name).privileged]
    given: dict[str, Any] = {"typed": typed, "refused": refused, "policies": policies, "units": list(UNITS)}
    return visit.page("create.html", 422 if refused else 200, **given)


def read(typed: Mapping[str, str]) -> dict[str, Any]:
    """What `Experiments.create` takes."""
    variants = [line.strip() for line in typed["variants"].splitlines() if line.strip()]
    if len(variants) < 2:
        raise Refused("variants", f"an experiment needs at least 2 variants, one on each line; got {len(variants)}")
    made: dict[str, Any] = {
        "name": typed["name"].strip(),
        "variants": variants,
        "window": whole(typed, "window"),
        "horizon": whole(typed, "horizon") if typed["horizon"].strip() else None,
        "reward_max": number(typed, "reward_max"),
        "policy": typed["policy"],
        "control": typed["control"].strip() or None,
        "season": whole(typed, "season"),
        "confidence": number(typed, "confidence"),
        "seed": whole(typed, "seed"),
        "heartbeat": bool(typed["heartbeat"]),
        "shadow": bool(typed["shadow"]),
        "start": typed["start"] == "now",
    }
    if typed["steps"] == "clock":
        made["step_seconds"] = number(typed, "step_length") * UNITS.get(typed["step_unit"], 1)
    return made | options(typed["options"])


def options(text: str) -> dict[str, int | float | str]:
    """The policy's own settings, `name = value` on each line."""
    made = dict[str, int | float | str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, value = (part.strip() for part in line.partition("="))
        if not sign or not name.isidentifier() or name in ARGUMENTS or name == "name":
            raise Refused("options", f"write each setting of the policy as name = value, got {line!r}")
        made[name] = plain(value)
    return made


def plain(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def whole(typed: Mapping[str, str], name: str) -> int:
    text = typed[name].strip().replace(",", "").replace(" ", "")
    if not text.isascii() or not text.isdecimal() or len(text) > 20:
        raise Refused(name, f"{name} must be a whole number, got {typed[name]!r}")
    if int(text) > LARGEST[name]:
        raise Refused(name, f"{name} must be at most {LARGEST[name]:,}, got {typed[name]!r}")
    return int(text)


def number(typed: Mapping[str, str], name: str) -> float:
    text = typed[name].strip().replace(" ", "")
    try:
        return float(text if "." in text or text.count(",") != 1 else text.replace(",", "."))
    except ValueError as error:
        raise Refused(name, f"{name.replace('_', ' ')} must be a number, got {typed[name]!r}") from error


def beside(error: AfterglowError, typed: Mapping[str, str]) -> dict[str, str]:
    """The refusal under the name of its field; '' where it is about all of them."""
    text = str(error)
    if isinstance(error, Refused):
        return {error.field: text}
    if isinstance(error, Conflict):
        return {"name": text}
    first = text.split(" ", 1)[0]
    if first == typed["policy"]:
        return {"policy": text}
    if text.startswith("no variant named"):
        return {"control": text}
    field = CALLED.get(first, first)
    return {field if field in FRESH else "": text}
