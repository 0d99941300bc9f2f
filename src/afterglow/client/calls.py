"""Calls of the service as values, and how answers are read. No network access."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from afterglow.errors import (
    AfterglowError,
    BadFormat,
    BadValue,
    Conflict,
    HorizonReached,
    NotAllowed,
    OutOfTurn,
    Unavailable,
    UnknownName,
)

KINDS: Mapping[str, type[AfterglowError]] = {
    "unauthorized": NotAllowed,
    "forbidden": NotAllowed,
    "unknown-experiment": UnknownName,
    "not-found": UnknownName,
    "name-taken": Conflict,
    "step-closed": Conflict,
    "key-reused": Conflict,
    "sealed": Conflict,
    "out-of-turn": OutOfTurn,
    "horizon-reached": HorizonReached,
    "unusable": BadFormat,
    "too-many-requests": Unavailable,
    "database-unavailable": Unavailable,
}
RENAMED = {"database-away": "database-unavailable"}  # names of earlier releases, and what they are now
BY_STATUS: Mapping[int, type[AfterglowError]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: UnknownName,
    409: OutOfTurn,
    429: Unavailable,
}


@dataclass(frozen=True, slots=True)
class Call:
    """A request; `pick` names the part of the answer that is wanted."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    pick: str | None = None

    def content(self) -> bytes | None:
        if self.body is None:
            return None
        try:
            return json.dumps(self.body, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise BadValue(f"the call {self.path} can't be written as JSON: {error}") from error


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]  # by lower-case names
    content: bytes


def read(call: Call, answer: Answer) -> Any:
    """What the service answered, or its refusal as an error."""
    if answer.status >= 300:
        raise refusal(answer)
    if not answer.content:
        return {}
    value = parsed(answer)
    if value is None or (call.pick and call.pick not in value):
        raise BadFormat(f"{call.path} answered with something else than the service's JSON; is the address right?")
    return value[call.pick] if call.pick else value


def parsed(answer: Answer) -> dict[str, Any] | None:
    try:
        value = json.loads(answer.content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def refusal(answer: Answer) -> AfterglowError:
    """The error for a refusal, with the sentence, kind and field that the service gave."""
    problem = parsed(answer) or {}
    slug = str(problem.get("type", "")).rpartition("/")[2]
    slug = RENAMED.get(slug, slug)
    usual = Unavailable if answer.status >= 500 else BY_STATUS.get(answer.status, BadValue)
    kind = KINDS.get(slug, usual)
    sentence = str(problem.get("detail") or problem.get("title") or f"the service answered {answer.status}")
    error = kind.__new__(kind, sentence)  # some classes are made from other arguments than a sentence
    AfterglowError.__init__(error, sentence, kind=str(problem.get("kind") or slug), field=str(problem.get("field", "")))
    return error


def passes(answer: Answer) -> bool:
    """Whether the same call may work later: by its status, or because the answer is not the service's own."""
    own = "/problems/" in str((parsed(answer) or {}).get("type", ""))
    return answer.status == 429 or answer.status >= 500 or not own


def pause_wanted(headers: Mapping[str, str]) -> float:
    """The seconds of Retry-After; a date in it is compared with the service's own clock, not with ours."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        later = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, later.total_seconds())


def fresh_for(headers: Mapping[str, str]) -> float:
    """For how many seconds an answer may be used, by Cache-Control."""
    rules = [rule.strip().lower() for rule in headers.get("cache-control", "").split(",")]
    if "no-cache" in rules or "no-store" in rules:
        return 0.0
    ages = [rule[8:] for rule in rules if rule.startswith("max-age=")]
    spent = headers.get("age", "0")
    if not ages or not ages[0].isdigit() or not spent.isdigit():
        return 0.0
    return max(0.0, float(ages[0]) - float(spent))


# The calls


def of(name: str, *parts: str) -> str:
    """The path of an experiment, or of a part of it."""
    return "/".join(["/v1/experiments", quote(name, safe=""), *(quote(part, safe="") for part in parts)])


def page(path: str, after: object | None, limit: int) -> Call:
    query = {"limit": str(limit)} if after is None else {"limit": str(limit), "after": str(after)}
    return Call("GET", path, query=query)


def command(name: str, address: str, arguments: Mapping[str, object]) -> Call:
    """A command of operators; arguments that are None are left out."""
    return Call("POST", of(name, address), {key: value for key, value in arguments.items() if value is not None})


Amount = float | Decimal | None
Totals = Amount | Mapping[str, Amount]  # the second with units
# key, amount, step, metric, unit
SentReward = tuple[str, float, int | None, str | None] | tuple[str, float, int | None, str | None, str | None]


Metrics = Mapping[str, float | Decimal | Mapping[str, Amount]]  # by name, and by unit with units


def close(name: str, step: int, total: Totals, metrics: Metrics | None) -> Call:
    """The end of a step, with totals by unit in an experiment with units; `metrics` are left out if there are none, so
    that earlier services take the call."""
    body: dict[str, Any] = {}
    if isinstance(total, Mapping):
        body["totals"] = {unit: plain(one) for unit, one in total.items()}
    else:
        body["total"] = plain(total)
    if metrics:
        body["metrics"] = {
            key: {unit: plain(each) for unit, each in one.items()} if isinstance(one, Mapping) else plain(one)
            for key, one in metrics.items()
        }
    return Call("POST", of(name, "steps", str(step)), body)


def plain(amount: Amount) -> float | None:
    return float(amount) if isinstance(amount, Decimal) else amount


def rewards(name: str, given: Sequence[SentReward]) -> Call:
    """Rewards; one that is sent again has the step of the first try. None at all asks for the current step."""
    body = list[dict[str, Any]]()
    for key, amount, step, metric, *unit in given:
        made: dict[str, Any] = {"key": key, "amount": amount}
        more = (("step", step), ("metric", metric), ("unit", unit[0] if unit else None))
        body.append(made | {field: one for field, one in more if one is not None})
    return Call("POST", of(name, "rewards"), body)
