"""The form for a new experiment, made from the declaration of its settings; refusals are shown next to their fields."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from re import fullmatch
from typing import Any

from starlette.responses import Response

from afterglow.checks import number_of
from afterglow.errors import AfterglowError, BadValue, Conflict, argument
from afterglow.live.domain import limits
from afterglow.live.domain.arguments import REQUIRED, Argument, Kind
from afterglow.live.domain.settings_table import BY_NAME, SETTINGS
from afterglow.policies.registry import DEFAULT, WHERE, named
from afterglow.service.dashboard.forms import decimal_number, seconds_in, whole_number
from afterglow.service.dashboard.pages.plan import planned_settings
from afterglow.service.dashboard.prefill import UNITS, settings_of
from afterglow.service.dashboard.visit import Visit

Typed = Mapping[str, str]
OWN = {"steps": "clock", "step_length": "1", "step_unit": "hours", "start": "now", "starts": ""}  # no plain fields
RECOMMENDED = (DEFAULT, "lean-ucb", "random-turns", "switchback", "auto-wash")  # as the guide of policies does
MADE_OF = {"step_seconds": "step_length"}  # settings that other fields ask for


LONGEST_LINE = 300  # of a guard: the time of a match grows faster than the line
NUMBERS = (Kind.WHOLE, Kind.NUMBER)
GUARD = r"(?:(.+?):\s+)?(.+?)\s+at\s+(most|least)\s+(\S+)(?:\s+against\s+(?:the\s+)?(\S+))?"


def shown_first(one: Argument) -> str:
    """What a field shows in an empty form."""
    if one.initial is not None:
        return one.initial
    return str(one.default) if one.kind in (*NUMBERS, Kind.POLICY) and one.default not in (REQUIRED, None) else ""


FIELDS = [one for one in SETTINGS if one.name not in (*MADE_OF, "start", "starts")]
FRESH = {one.name: shown_first(one) for one in FIELDS} | OWN


def create_page(visit: Visit) -> Response:
    """The form, empty or filled in; sent back, the experiment is created or the form returns with what to change."""
    if visit.request.method == "GET":
        return form_page(visit, FRESH | filled_in(visit), {})
    typed = {name: visit.form.get(name, "") for name in FRESH}
    settings, refused = read(typed)
    if refused:
        return form_page(visit, typed, refused)
    if visit.token is not None and not visit.token.knows(settings["name"]):
        return form_page(visit, typed, {"name": "this token may not create an experiment of that name"})
    try:
        experiment = visit.dashboard.experiments.create(**settings, by=visit.actor())
    except (BadValue, Conflict) as error:
        return form_page(visit, typed, placed(error))
    return visit.go(f"/experiments/{experiment.name}?done=create")


def filled_in(visit: Visit) -> dict[str, str]:
    """What the form shows first: with `like`, the settings of another experiment, with `plan` those of a plan."""
    asked = visit.request.query_params
    if like := asked.get("like"):
        known = [name for name in visit.dashboard.experiments.names() if visit.token and visit.token.knows(name)]
        return settings_of(visit.experiment(like).spec, known)
    return planned_settings(visit, plan) if (plan := asked.get("plan")) else {}


def form_page(visit: Visit, typed: Typed, refused: Mapping[str, str]) -> Response:
    others = [name for name in WHERE if name not in RECOMMENDED and not named(name).privileged]
    groups = {"Recommended": RECOMMENDED, "Others": others}
    policies = [(label, [(name, named(name).summary) for name in names]) for label, names in groups.items()]
    given: dict[str, Any] = {
        "typed": typed, "refused": refused, "policies": policies, "units": list(UNITS), "settings": BY_NAME,
        "filled": bool({"plan", "like"} & visit.request.query_params.keys()),
        "main": [one for one in SETTINGS if not one.advanced and one.name not in ("start", "starts")],
        "more": [one for one in SETTINGS if one.advanced],
    }  # fmt: skip
    return visit.page("create.html", 422 if refused else 200, **given)


def read(typed: Typed) -> tuple[dict[str, Any], dict[str, str]]:
    """What `Experiments.create` takes, and what can't be read, by field."""
    made: dict[str, Any] = {"start": typed["start"] in ("now", "at")}
    readers = {
        one.name: reader_of(one) for one in FIELDS if one.required or one.kind is Kind.FLAG or written(one, typed)
    }
    if typed["steps"] == "clock":
        readers["step_length"] = step_seconds
    if typed["start"] == "at" or typed["starts"].strip():
        readers["starts"] = start_time
    refused = dict[str, str]()
    for name, reader in readers.items():
        try:
            made[name] = reader(typed, name)
        except BadValue as error:
            refused[name] = worded(error)
    for setting, field in MADE_OF.items():
        if field in made:
            made[setting] = made.pop(field)
    return made, refused


def written(one: Argument, typed: Typed) -> bool:
    """Whether something was entered; empty fields without a default of None are refused like wrong ones."""
    if one.name == "reward_max" and typed["units"].strip():
        return bool(typed[one.name].strip())  # units have none
    return bool(typed[one.name].strip()) or (one.kind in NUMBERS and one.default is not None)


def reader_of(one: Argument) -> Callable[[Typed, str], Any]:
    """How the text of a field becomes a checked value."""
    readers: dict[Kind, Callable[[Typed, str], Any]] = {
        Kind.WHOLE: lambda typed, name: whole_number(name, typed[name]),
        Kind.NUMBER: lambda typed, name: decimal_number(name, typed[name]),
        Kind.FLAG: lambda typed, name: bool(typed[name]),
        Kind.NUMBERS: numbers,
        Kind.TIME: time_in_utc,
        Kind.VARIANTS: variants,
        Kind.UNITS: variants,
        Kind.LEVELS: levels,
        Kind.OPTIONS: options,
        Kind.GUARDS: guards,
    }
    reader = readers.get(one.kind, text)
    if one.name == "remember":
        reader = duration
    return lambda typed, name: one.read(reader(typed, name))


def duration(typed: Typed, name: str) -> float:
    seconds = seconds_in(name, typed[name])
    if seconds > limits.REMEMBER:
        raise BadValue(f"{argument(name)} must be at most {limits.REMEMBER // 86400} days, got {typed[name]!r}")
    return seconds


def text(typed: Typed, name: str) -> str:
    return typed[name].strip()


def variants(typed: Typed, name: str) -> list[str]:
    found = [line.strip() for line in typed[name].splitlines() if line.strip()]
    if len(found) < 2:
        raise BadValue(f"{argument(name)} must be at least 2, one per line, got {len(found)}")
    return found


def numbers(typed: Typed, name: str) -> list[float]:
    """Numbers between spaces, lines or semicolons."""
    return [decimal_number(name, word) for word in typed[name].replace(";", " ").split()]


def options(typed: Typed, name: str) -> dict[str, int | float | str]:
    """The policy's settings, `name = value` on each line."""
    made = dict[str, int | float | str]()
    for line in filter(None, map(str.strip, typed[name].splitlines())):
        option, sign, value = (part.strip() for part in line.partition("="))
        if not sign or not option.isidentifier():
            raise BadValue(f"{argument(name)} must be written as name = value, one per line, got {line!r}")
        made[option] = number_of(value)
    return made


def levels(typed: Typed, name: str) -> dict[str, float]:
    """A number for each unit, `name = value` on each line."""
    made = dict[str, float]()
    for line in filter(None, map(str.strip, typed[name].splitlines())):
        unit, sign, value = (part.strip() for part in line.rpartition("="))
        if not sign:
            raise BadValue(f"{argument(name)} must be written as unit = mean total, one per line, got {line!r}")
        made[unit] = decimal_number(name, value)
    return made


def guards(typed: Typed, name: str) -> dict[str, dict[str, Any]]:
    """Limits, `complaints at most +10%` on each line; `name: ` before it and `against 20` behind it are optional."""
    made = dict[str, dict[str, Any]]()
    for line in filter(None, (" ".join(one.split()) for one in typed[name].splitlines())):
        if len(line) > LONGEST_LINE:
            raise BadValue(f"{argument(name)} must have at most {LONGEST_LINE} characters a line, got {len(line):,}")
        found = fullmatch(GUARD, line)
        if found is None:
            raise BadValue(f"{argument(name)} must be written as complaints at most +10%, one per line, got {line!r}")
        own, metric, side, value, against = found.groups()
        guard = own or (metric if metric not in made else f"{metric} at {side}")
        if guard in made:
            raise BadValue(f"{argument(name)} must have a name each, got {guard!r} twice; write name: before one")
        limit = {f"at_{side}": value if value[0] in "+-" else number_of(value)}
        made[guard] = {"metric": metric} | limit | ({} if against is None else {"against": number_of(against)})
    return made


def step_seconds(typed: Typed, name: str) -> float:
    """The length of a step in seconds."""
    seconds = decimal_number(name, typed[name]) * UNITS.get(typed["step_unit"], 1)
    if not limits.SHORTEST <= seconds <= limits.LONGEST:
        least, most = limits.SHORTEST, limits.LONGEST // 86400
        raise BadValue(f"{argument(name)} must be {least:g} seconds to {most} days, got {typed[name]!r}")
    return seconds


def start_time(typed: Typed, name: str) -> float:
    """The time that was entered, in UTC unless it has its own offset."""
    if typed["start"] != "at":
        raise BadValue("a time is entered but not chosen; choose it, or clear it", field=name)
    if typed["steps"] != "clock":
        raise BadValue("only steps on a schedule can start at a time; choose a schedule, or start now", field=name)
    return float(BY_NAME[name].read(time_in_utc(typed, name)))


def time_in_utc(typed: Typed, name: str) -> float:
    """A date and a time as seconds since 1970."""
    try:
        at = datetime.fromisoformat(typed[name].strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise BadValue(
            f"{argument(name)} must be a date and a time such as 2026-11-16 09:00, got {typed[name]!r}"
        ) from error


def placed(error: AfterglowError) -> dict[str, str]:
    """A refusal under the name of its field; '' if it has none."""
    field = MADE_OF.get(error.field, error.field)
    return {field if field in FRESH else "": worded(error)}


def worded(error: AfterglowError) -> str:
    """The sentence with the labels of fields."""
    labels = {one.name: one.label.partition(",")[0].lower() for one in SETTINGS} | {
        "step_length": "the length of a step"
    }
    return error.worded(lambda name, value: labels.get(name, name))
