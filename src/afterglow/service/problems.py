"""Refusals of calls as RFC 9457 problems: one table for answers, pages and documents, one for errors by kind."""

import logging
from typing import Any, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from afterglow.errors import AfterglowError
from afterglow.service.logs import Sparing

MEDIA_TYPE = "application/problem+json"
UNREACHABLE = Sparing(logging.getLogger("afterglow.service"), "a call was refused: %s")


class ProblemType(NamedTuple):
    """One type of problem: its name in addresses, its status, what it means and what to do."""

    slug: str
    status: int
    title: str
    remedy: str
    wait: int = 0  # seconds for Retry-After; 0 = sending it again doesn't help


TABLE = (
    ProblemType("malformed", 400, "The body is not JSON, or not JSON in UTF-8.", "Send well-formed JSON."),
    ProblemType(
        "unauthorized", 401, "There is no valid token with the call.",
        "Send `Authorization: Bearer <token>` with a token that is neither expired nor revoked; "
        "`afterglow token create` makes one.",
    ),
    ProblemType(
        "forbidden", 403, "The token may not do this, or not with this experiment.",
        "Use a token with the scope that the call needs and with the experiment in its list.",
    ),
    ProblemType(
        "unknown-experiment", 404, "There is no experiment of that name.",
        "Look for a typing error; `GET /v1/experiments` lists all names.",
    ),
    ProblemType("not-found", 404, "There is nothing at that address.", "See `/docs` for all addresses."),
    ProblemType("method-not-allowed", 405, "The address exists, the method doesn't.", "Use a method named in `Allow`."),
    ProblemType(
        "name-taken", 409, "There is an experiment of that name already.",
        "Take another name; experiments are never replaced.",
    ),
    ProblemType(
        "step-closed", 409, "The step was closed with another total, or its rewards add up to another.",
        "The first total stays. Sending the same total again changes nothing; a wrong step can be voided.",
    ),
    ProblemType(
        "out-of-turn", 409, "The call doesn't fit the state of the experiment: not started, stopped, another step.",
        "Read the experiment's status and act on that.",
    ),
    ProblemType(
        "horizon-reached", 409, "The experiment has played all its steps.",
        "Its recommended variant is served from now on; create a new experiment to go on.",
    ),
    ProblemType(
        "sealed", 409, "A reward was sent before to a step whose keys are erased: nobody can tell whether it counted.",
        "It was not counted again. Keep it aside, or report it with a new key if you know that it was not counted.",
    ),
    ProblemType(
        "unusable", 409, "The experiment's log is damaged, or this release decides differently than the one before.",
        "`detail` says which. Run `afterglow verify`; go back to a backup, or to the release that created it. The "
        "other experiments continue.",
    ),
    ProblemType(
        "too-large", 413, "The body is larger than the limit.", "Send smaller batches, at most 1,000 rewards each."
    ),
    ProblemType(
        "unsupported-media-type", 415, "The body is not JSON.",
        "Send it with `Content-Type: application/json`.",
    ),
    ProblemType(
        "bad-value", 422, "A value is missing, unknown or out of its range; `detail` names it and the rule.",
        "Correct the value; nothing was changed.",
    ),
    ProblemType(
        "attribution-refused", 422, "A reward named a variant, a user or anything else than key and amount.",
        "Send the amount and a random key alone. Rewards are anonymous: they join the total of the step in which they "
        "arrive, whoever and whatever caused them.",
    ),
    ProblemType(
        "key-reused", 422, "A key was sent before, with another amount.",
        "Use a new random key for each reward, and the same one only to send the same reward again.",
    ),
    ProblemType(
        "too-many-requests", 429, "The token makes more calls per second than allowed, or there are too many calls "
        "without a valid token.",
        "Wait, then send it again.", 1,
    ),
    ProblemType(
        "internal", 500, "The service failed; its log has the cause under the id of the request.",
        "Report it, with `X-Request-ID`.",
    ),
    ProblemType(
        "overloaded", 503, "The service is overloaded; nothing of this call was stored.",
        "Send it again after the time in `Retry-After`.", 1,
    ),
    ProblemType(
        "database-unavailable", 503, "The database can't be reached or is full. Nothing was acknowledged; if the "
        "connection failed during a commit, the call may have taken effect.",
        "Send it again after the time in `Retry-After`: rewards with the same keys and steps with the same total count "
        "once, commands that are in force already change nothing.", 2,
    ),
    ProblemType(
        "too-slow", 503, "The call took longer than the limit; it may still take effect.",
        "Send it again after the time in `Retry-After`: rewards with the same keys and steps with the same total count "
        "once, commands that are in force already change nothing.", 2,
    ),
)  # fmt: skip
KINDS = {kind.slug: kind for kind in TABLE}
RENAMED = {"database-away": "database-unavailable"}  # names of earlier releases, and what they are now
OF_ERROR = {  # the problem for each kind of error; other kinds have that of their class, or are internal
    "unknown-experiment": "unknown-experiment",
    "bad-value": "bad-value",
    "name-taken": "name-taken",
    "step-closed": "step-closed",
    "key-reused": "key-reused",
    "sealed": "sealed",
    "out-of-turn": "out-of-turn",
    "horizon-reached": "horizon-reached",
    "unavailable": "database-unavailable",
    "bad-format": "unusable",
    "bad-database": "unusable",
}


class Problem(HTTPException):
    """A refusal, ready to be sent. `error_kind` and `field` are those of the error behind it."""

    def __init__(
        self,
        slug: str,
        detail: str = "",
        *,
        error_kind: str = "",
        field: str = "",
        errors: list[dict[str, str]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.kind = KINDS[slug]
        self.error_kind = error_kind
        self.field = field
        self.errors = errors
        wait = {"Retry-After": str(self.kind.wait)} if self.kind.wait else {}
        challenge = {"WWW-Authenticate": "Bearer"} if self.kind.status == 401 else {}
        super().__init__(self.kind.status, detail or self.kind.title, wait | challenge | (headers or {}))

    def document(self) -> dict[str, Any]:
        kind = self.kind
        made: dict[str, Any] = {
            "type": f"/problems/{kind.slug}", "title": kind.title, "status": kind.status, "detail": self.detail,
        }  # fmt: skip
        more = {"kind": self.error_kind, "field": self.field, "errors": self.errors}
        return made | {name: value for name, value in more.items() if value}

    def response(self) -> Response:
        return Response(msgspec.json.encode(self.document()), self.kind.status, self.headers, MEDIA_TYPE)


def problem_of(error: Exception) -> Problem:
    """The problem for an error of an experiment, by its kind."""
    if isinstance(error, Problem):
        return error
    if not isinstance(error, AfterglowError):
        return Problem("internal")
    kinds = [error.kind, *(each.kind for each in type(error).__mro__ if issubclass(each, AfterglowError))]
    slug = next((OF_ERROR[kind] for kind in kinds if kind in OF_ERROR), "internal")
    if slug == "database-unavailable":
        UNREACHABLE.say(error)  # callers don't see the address of the database
        return Problem(slug)
    return Problem(slug, str(error), error_kind=error.kind, field=error.field)
