"""The OpenFeature Remote Evaluation Protocol: every OpenFeature SDK reads variants here.

An experiment is a flag: its key is the experiment's name, its value the name of the current variant. Of the context
that a provider sends, `unit` is read, for experiments with units; nothing is stored. Where it is missing or unknown the
control is served, and the metadata say so. Errors that the protocol defines (400 and 404) have its format; all others
are problems.
"""

import asyncio
from hashlib import blake2b
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from afterglow.live import Decision, Experiment
from afterglow.service.api.base_models import Answered, Moment
from afterglow.service.api.fast_routes import lower, matches
from afterglow.service.api.openapi import Answers, answers
from afterglow.service.auth.scopes import allow
from afterglow.service.auth.tokens import Token
from afterglow.service.problems import Problem, problem_of
from afterglow.service.service import Service
from afterglow.service.views import moment

router = APIRouter(prefix="/ofrep/v1/evaluate", tags=["openfeature"])
AT_ONCE = 200  # flags, then other calls have their turn
ASSIGNED = frozenset({"plan", "washout"})  # roles of steps in which the policy chose what is served


class EvaluationRequest(msgspec.Struct):
    context: dict[str, Any] | None = None


class Metadata(Answered):
    step: int
    role: str
    valid_until: Annotated[
        Moment | None, Field(description="When the step ends, or the experiment begins; absent without a schedule.")
    ] = None
    unit: Annotated[str | None, Field(description="Of an experiment with units; absent otherwise.")] = None
    note: Annotated[str | None, Field(description="Why the control is served; absent otherwise.")] = None


class Flag(Answered):
    """A successful evaluation."""

    key: str
    value: str
    variant: str
    reason: Literal["SPLIT", "STATIC", "DEFAULT"]
    metadata: Metadata


class FlagRefused(Answered):
    """A failed evaluation."""

    key: str
    errorCode: Literal["FLAG_NOT_FOUND", "PARSE_ERROR", "INVALID_CONTEXT", "GENERAL"]  # noqa: N815  as the protocol has it
    errorDetails: str  # noqa: N815


class Flags(Answered):
    flags: list[Flag | FlagRefused]


class FlagsRefused(Answered):
    """A failed evaluation of all flags."""

    errorCode: Literal["PARSE_ERROR", "INVALID_CONTEXT"]  # noqa: N815
    errorDetails: str  # noqa: N815


DECODER = msgspec.json.Decoder(EvaluationRequest)
BODY: dict[str, Any] = {
    "requestBody": {
        "required": False,
        "description": "The context of OpenFeature. `unit` is read, for experiments with units. Nothing is stored.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"context": {"anyOf": [{"type": "object"}, {"type": "null"}]}},
                },
                "example": {"context": {"unit": "north"}},
            }
        },
    }
}
FAILED = {
    "unknown-experiment": ("FLAG_NOT_FOUND", 404),
    "unusable": ("GENERAL", 400),
}  # problems as error codes of the protocol
IF_CHANGED: dict[str, Any] = {
    "parameters": [{"name": "If-None-Match", "in": "header", "required": False, "schema": {"type": "string"}}]
}


def refusals(shape: type[Answered], statuses: dict[int, str]) -> Answers:
    """Problems, and beside them the protocol's own shapes."""
    made = answers("malformed")
    for status, said in statuses.items():
        made[status] = made.get(status, {}) | {"description": said, "model": shape}
    return made


@router.post(
    "/flags/{key}",
    response_model=Flag,
    summary="The current variant as a flag",
    responses=refusals(
        FlagRefused,
        {
            400: "The body is not what OpenFeature sends, or the experiment can't be used.",
            404: "There is no experiment of that name.",
        },
    ),
    openapi_extra=BODY,
)
async def evaluate_flag(key: str, request: Request) -> Response:
    """`value` and `variant` are the variant's name; `reason` is `SPLIT` where the policy chose it, `DEFAULT` where the
    control is served because the context names no unit of the experiment, else `STATIC`."""
    service: Service = request.app.state.service
    allow(request.scope["token"], "decide", key)
    try:
        unit = unit_in(await request.body())
        experiment = await service.experiment(key, request.scope["token"])
        made, decision = await evaluated(service, experiment, unit)
        return answer(made, fresh=service.freshness(decision, experiment.age()))
    except Unreadable as error:
        return answer({"key": key, "errorCode": error.code, "errorDetails": error.details}, 400)
    except Problem as problem:
        if problem.kind.slug not in FAILED:
            raise
        code, status = FAILED[problem.kind.slug]
        return answer({"key": key, "errorCode": code, "errorDetails": problem.detail}, status)


@router.post(
    "/flags",
    response_model=Flags,
    summary="All current variants as flags",
    responses=refusals(FlagsRefused, {400: "The body is not what OpenFeature sends."})
    | {
        200: {"headers": {"ETag": {"description": "Changes with any step.", "schema": {"type": "string"}}}},
        304: {"description": "Not changed."},
    },
    openapi_extra=BODY | IF_CHANGED,
)
async def evaluate_flags(request: Request) -> Response:
    """Those of the experiments that the token is for."""
    service: Service = request.app.state.service
    token: Token = request.scope["token"]
    allow(token, "decide")
    try:
        unit = unit_in(await request.body())
    except Unreadable as error:
        return answer({"errorCode": error.code, "errorDetails": error.details}, 400)
    names = [name for name in await service.ask(service.experiments.names) if token.knows(name)]
    flags = list[dict[str, Any]]()
    for name in names:
        flags.append(await one_of_many(service, name, token, unit))
        if not len(flags) % AT_ONCE:
            await asyncio.sleep(0)
    body = msgspec.json.encode({"flags": flags})
    tag = b'"%s"' % blake2b(body, digest_size=12).hexdigest().encode()
    known = request.scope["sent"].get(b"if-none-match")
    headers = {"ETag": tag.decode(), "Cache-Control": "no-cache"}
    if known is not None and matches(known, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


async def one_of_many(service: Service, name: str, token: Token, unit: object) -> dict[str, Any]:
    """One flag; an experiment that can't be used doesn't hide the others."""
    try:
        return (await evaluated(service, await service.experiment(name, token), unit))[0]
    except Exception as error:
        problem = problem_of(error)
        if problem.kind.wait:  # the experiment itself is fine
            raise
        return {"key": name, "errorCode": "GENERAL", "errorDetails": problem.detail}


class Unreadable(Exception):
    """A body that is no request of the protocol."""

    def __init__(self, code: str, details: str) -> None:
        self.code = code
        self.details = details


def unit_in(body: bytes) -> object:
    """`unit` of the context; what is not a request of the protocol is refused. Nothing of it is stored."""
    if not body.strip():
        return None
    try:
        return (DECODER.decode(body).context or {}).get("unit")
    except msgspec.ValidationError as error:
        raise Unreadable("INVALID_CONTEXT", "context must be an object or null, in a JSON object") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable("PARSE_ERROR", f"the body is not JSON: {lower(str(error))}") from error
    except RecursionError as error:
        raise Unreadable("PARSE_ERROR", "the body is nested too deeply") from error


async def evaluated(service: Service, experiment: Experiment, unit: object) -> tuple[dict[str, Any], Decision]:
    """The flag of an experiment; the control where it has units and the context names none of them."""
    units, note = experiment.spec.units, None
    named = unit if isinstance(unit, str) and unit in units else None
    if units and named is None:
        named = units[0]
        note = "the context has no unit" if unit is None else f"the experiment has no unit {unit!r:.100}"
    known = experiment.glance(named)
    decision = known if known is not None else await service.lane.decision(experiment, named)
    if note is not None and decision.role != "over":
        control = experiment.variants[experiment.spec.control]
        decision = decision._replace(variant=control, planned=control, unit=None)
    return flag(experiment.name, decision, None if decision.role == "over" else note), decision


def flag(name: str, decision: Decision, note: str | None = None) -> dict[str, Any]:
    """A successful evaluation; `note` says why the control is served."""
    more: dict[str, str] = {} if decision.valid_until is None else {"valid_until": moment(decision.valid_until)}
    more |= {} if decision.unit is None else {"unit": decision.unit}
    more |= {} if note is None else {"note": f"{note}, so the control is served"}
    reason = "SPLIT" if decision.role in ASSIGNED else "STATIC"
    return {
        "key": name, "value": decision.variant, "variant": decision.variant,
        "reason": reason if note is None else "DEFAULT",
        "metadata": {"step": decision.step, "role": decision.role, **more},
    }  # fmt: skip


def answer(value: dict[str, Any], status: int = 200, fresh: str = "no-store") -> Response:
    return Response(msgspec.json.encode(value), status, {"Cache-Control": fresh}, "application/json")
