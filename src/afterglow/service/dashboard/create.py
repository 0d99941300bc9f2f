"""A form for a new experiment. What was typed stays; a refusal stands beside the field that it is about."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from afterglow.errors import AfterglowError, BadValue, Conflict
from afterglow.live.domain import limits
from afterglow.live.domain.spec import ARGUMENTS, experiment_name
from afterglow.policies.registry import WHERE, named
from afterglow.service.dashboard.visit import Visit

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
FRESH = {
    "name": "", "variants": "", "window": "", "horizon": "", "reward_max": "", "policy": "trim-ucb", "steps": "clock",
    "step_length": "1", "step_unit": "hours", "control": "", "season": "1", "confidence": "0.95", "seed": "0",
    "heartbeat": "", "shadow": "", "options": "", "start": "now", "starts": "",
}  # fmt: skip
CALLED = {"arms": "variants", "arm": "variants"}  # fields by what refusals call them
LARGEST = {
    "window": limits.WINDOW, "season": limits.SEASON, "horizon": limits.HORIZON, "seed": limits.EXACT,
}  # fmt: skip


def create_page(visit: Visit) -> Response:
    """The empty form; sent back, the experiment is created or the form returns with what to change."""
    if visit.request.method == "GET":
        return form_page(visit, FRESH, {})
    typed = {name: visit.form.get(name, "") for name in FRESH}
    settings, refused = read(typed)
    if refused:
        return form_page(visit, typed, refused)
    if visit.token is not None and not visit.token.knows(settings["name"]):
        return form_page(visit, typed, {"name": "this token may not create an experiment of that name"})
    try:
        experiment = visit.dashboard.experiments.create(**settings)
    except (BadValue, Conflict) as error:
        return form_page(visit, typed, beside(error, typed))
    return visit.go(f"/experiments/{experiment.name}?done=create")


def form_page(visit: Visit, typed: Mapping[str, str], refused: Mapping[str, str]) -> Response:
    policies = [(name, named(name).summary) for name in WHERE if not named(name).privileged]
    given: dict[str, Any] = {"typed": typed, "refused": refused, "policies": policies, "units": list(UNITS)}
    return visit.page("create.html", 422 if refused else 200, **given)


def read(typed: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """What `Experiments.create` takes, and what can't be read, by field."""
    made: dict[str, Any] = {
        "policy": typed["policy"],
        "control": typed["control"].strip() or None,
        "heartbeat": bool(typed["heartbeat"]),
        "shadow": bool(typed["shadow"]),
        "start": typed["start"] in ("now", "at"),
    }
    readers: dict[str, Callable[[Mapping[str, str], str], Any]] = {
        "name": lambda typed, name: experiment_name(typed[name].strip()), "variants": variants, "window": whole,
        "reward_max": number, "season": whole, "confidence": number, "seed": whole, "options": options,
    }  # fmt: skip
    if typed["horizon"].strip():
        readers["horizon"] = whole
    if typed["steps"] == "clock":
        readers["step_length"] = step_seconds
    if typed["start"] == "at" or typed["starts"].strip():
        readers["starts"] = beginning
    refused = dict[str, str]()
    for name, reader in readers.items():
        try:
            made[name] = reader(typed, name)
        except BadValue as error:
            refused[name] = str(error)
    if "step_length" in made:
        made["step_seconds"] = made.pop("step_length")
    return made | made.pop("options", {}), refused


def variants(typed: Mapping[str, str], name: str) -> list[str]:
    found = [line.strip() for line in typed[name].splitlines() if line.strip()]
    if len(found) < 2:
        raise BadValue(f"an experiment needs at least 2 variants, one on each line; got {len(found)}")
    return found


def options(typed: Mapping[str, str], name: str) -> dict[str, int | float | str]:
    """The policy's own settings, `name = value` on each line."""
    made = dict[str, int | float | str]()
    for line in filter(None, map(str.strip, typed[name].splitlines())):
        option, sign, value = (part.strip() for part in line.partition("="))
        if not sign or not option.isidentifier() or option in (*ARGUMENTS, "name"):
            raise BadValue(f"write each setting of the policy as name = value, got {line!r}")
        made[option] = plain(value)
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
        raise BadValue(f"{name} must be a whole number, got {typed[name]!r}")
    if int(text) > LARGEST[name]:
        raise BadValue(f"{name} must be at most {LARGEST[name]:,}, got {typed[name]!r}")
    return int(text)


def number(typed: Mapping[str, str], name: str) -> float:
    text = typed[name].strip().replace(" ", "")
    try:
        return float(text if "." in text or text.count(",") != 1 else text.replace(",", "."))
    except ValueError as error:
        raise BadValue(f"{name.replace('_', ' ')} must be a number, got {typed[name]!r}") from error


def step_seconds(typed: Mapping[str, str], name: str) -> float:
    """The length of a step in seconds."""
    seconds = number(typed, name) * UNITS.get(typed["step_unit"], 1)
    if not limits.SHORTEST <= seconds <= limits.LONGEST:
        least, most = limits.SHORTEST, limits.LONGEST // 86400
        raise BadValue(f"a step lasts from {least:g} seconds to {most} days, got {typed[name]!r}")
    return seconds


def beginning(typed: Mapping[str, str], name: str) -> float:
    """The time that was typed, in UTC unless it says otherwise."""
    if typed["start"] != "at":
        raise BadValue("a time is given but not chosen; choose it, or clear it")
    if typed["steps"] != "clock":
        raise BadValue("only steps by the clock can begin at a time; choose them, or begin now")
    try:
        at = datetime.fromisoformat(typed[name].strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise BadValue(f"write a date and a time such as 2026-11-16 09:00, got {typed[name]!r}") from error


def beside(error: AfterglowError, typed: Mapping[str, str]) -> dict[str, str]:
    """The refusal under the name of its field; '' where it is about all of them."""
    text = str(error)
    if isinstance(error, Conflict):
        return {"name": text}
    first = text.split(" ", 1)[0]
    if first == typed["policy"]:
        return {"policy": text}
    if text.startswith("no variant named"):
        return {"control": text}
    field = CALLED.get(first, first)
    return {field if field in FRESH else "": text}
