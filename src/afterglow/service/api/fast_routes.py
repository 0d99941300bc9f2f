"""The two most frequent calls: the current variant, from memory, and rewards, through the reward writer.

Plain ASGI: no request object, no validation library but msgspec.
"""

from hashlib import blake2b
from typing import Annotated, NamedTuple
from urllib.parse import parse_qs

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from afterglow.checks import is_number, whole
from afterglow.errors import BadValue, argument
from afterglow.live import Decision, Experiment
from afterglow.live.domain.amounts import FULL, micros
from afterglow.live.domain.amounts import MOST as LARGEST
from afterglow.live.domain.arguments import LONGEST_NAME
from afterglow.live.domain.guards.settings import LONGEST as LONGEST_METRIC
from afterglow.live.domain.limits import at_most
from afterglow.live.reward_keys import LONGEST, checked
from afterglow.service.auth.scopes import allow
from afterglow.service.problems import Problem, problem_of
from afterglow.service.service import Service
from afterglow.service.transport.request_bodies import refuse_duplicates
from afterglow.service.views import current_view

BATCH = 1000
MOST = 2**63 - 1  # of a step
BEFORE = "/v1/experiments/"
FAST = frozenset({"current", "rewards"})
JSON = (b"content-type", b"application/json")
REWARD_FIELDS, OPTIONAL = ("key", "amount"), ("step", "metric", "unit")
QUOTED = tuple(f'"{name}"'.encode() for name in (*REWARD_FIELDS, *OPTIONAL))


class RewardBody(msgspec.Struct, forbid_unknown_fields=True):
    """A reward: an amount under a key of its own."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST, description="Random, such as a UUID.")]
    amount: Annotated[float, msgspec.Meta(ge=-LARGEST, description="At least 0, but in an experiment with units.")]
    step: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=MOST)] | None,
        msgspec.Meta(description="The step to which it was sent before, if this is another try."),
    ] = None
    metric: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_METRIC)] | None,
        msgspec.Meta(
            description="The secondary total that it belongs to, one that a guard watches; null for the reward. "
            "Keys of a metric are apart from those of rewards."
        ),
    ] = None
    unit: Annotated[
        Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)] | None,
        msgspec.Meta(description="The unit whose total it joins, in an experiment with units."),
    ] = None


class ReceiptBody(msgspec.Struct):
    """Rewards that are stored, or were before."""

    step: Annotated[int, msgspec.Meta(description="The step whose total they joined.")]
    accepted: int
    duplicates: Annotated[int, msgspec.Meta(description="Received before, with the same amount.")]


SENT = RewardBody | Annotated[list[RewardBody], msgspec.Meta(max_length=BATCH)]
DECODER = msgspec.json.Decoder(SENT)


class CachedView(NamedTuple):
    """An answer, cached as long as the decision is the same."""

    decision: Decision
    body: bytes
    tag: bytes


def view_of(experiment: Experiment, decision: Decision) -> CachedView:
    """The tag has a digest too: a command may change the role of a step, and a start its end."""
    number = experiment.variants.index(decision.variant)
    body = msgspec.json.encode(current_view(experiment.name, decision))
    digest = blake2b(body, digest_size=4).hexdigest()
    return CachedView(decision, body, f'"{decision.step}-{number}-{digest}"'.encode())


class CurrentRoute:
    """`GET /v1/experiments/{name}/current`."""

    __name__ = "current"

    def __init__(self, service: Service) -> None:
        self.service = service
        self.views: dict[tuple[str, str | None], CachedView] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refuse_other_methods(scope["method"], "GET", "HEAD")
        service, name = self.service, scope["path_params"]["name"]
        allow(scope["token"], "decide", name)
        experiment = service.experiments.opened(name) or await service.experiment(name, scope["token"])
        unit = asked_unit(scope["query_string"]) if scope["query_string"] else None
        known = experiment.glance(unit)
        decision = await service.lane.decision(experiment, unit) if known is None else known
        age = experiment.age() if known is None else 0.0
        view = self.views.get((name, unit))
        if view is None or view.decision != decision:
            view = self.views[name, unit] = view_of(experiment, decision)
        headers = [(b"etag", view.tag), (b"cache-control", service.freshness(decision, age).encode())]
        asked = scope["sent"].get(b"if-none-match")
        if asked is not None and matches(asked, view.tag):
            await send({"type": "http.response.start", "status": 304, "headers": headers})
            await send({"type": "http.response.body"})
            return
        headers += [JSON, (b"content-length", str(len(view.body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else view.body})


def asked_unit(query: bytes) -> str | None:
    """`unit` of a query; the last, if there are several."""
    found = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("unit")
    return found[-1] if found else None


def matches(known: bytes, tag: bytes) -> bool:
    return known.strip() == b"*" or tag in (one.strip().removeprefix(b"W/") for one in known.split(b","))


class Rewards:
    """`POST /v1/experiments/{name}/rewards`."""

    __name__ = "rewards"

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refuse_other_methods(scope["method"], "POST")
        service, name = self.service, scope["path_params"]["name"]
        allow(scope["token"], "report", name)
        batch = rewards_in((await receive())["body"])
        experiment = service.experiments.opened(name) or await service.experiment(name, scope["token"])
        receipt = await service.reward_writer.put(experiment, batch)
        body = msgspec.json.encode(ReceiptBody(*receipt))
        headers = [JSON, (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def rewards_in(body: bytes) -> list[tuple[str, float, int | None, str | None, str | None]]:
    """One reward or a list, as they were sent. An empty list stores nothing and is answered with the current step."""
    try:
        sent = DECODER.decode(body)
    except msgspec.ValidationError as error:
        raise refused(body) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem("malformed", lower(str(error))) from error
    rewards = sent if isinstance(sent, list) else [sent]
    if b"\\" in body or any(body.count(name) > len(rewards) for name in QUOTED):
        refuse_duplicates(body)  # which takes longer; names may be written with escapes
    return [(one.key, one.amount, one.step, one.metric, one.unit) for one in rewards]


def refused(body: bytes) -> Problem:
    """Why rewards are refused; they are decoded again, since the decoder gives no structured error."""
    try:
        sent = msgspec.json.decode(body)
        for one in sent if isinstance(sent, list) else [sent]:
            check_reward(one)
        count = len(sent) if isinstance(sent, list) else 1
        raise BadValue(f"a call must have at most {BATCH:,} rewards, got {count:,}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Problem("malformed", lower(str(error)))
    except Problem as problem:
        return problem
    except BadValue as error:
        return problem_of(error)


def check_reward(sent: object) -> None:
    """Refuse what is no reward."""
    if not isinstance(sent, dict):
        raise BadValue(f"a reward must be an object with key and amount, got {sent!r:.100}")
    for name in sent:
        if name not in (*REWARD_FIELDS, *OPTIONAL):
            raise Problem(
                "attribution-refused",
                "a reward has a key, an amount, the name of a metric, its unit and the step of an earlier try, got "
                f"{name!r:.100}; it belongs to the step in which it arrives, and to no variant, user or decision",
                error_kind="unknown-field", field=name,
            )  # fmt: skip
    for name in REWARD_FIELDS:
        if name not in sent:
            raise BadValue(f"{argument(name)} is missing; a reward has a key and an amount")
    checked(sent["key"])
    if sent.get("step") is not None:
        at_most("step", whole("step", sent["step"], 0), MOST)
    if sent.get("unit") is not None and not (isinstance(sent["unit"], str) and 0 < len(sent["unit"]) <= LONGEST_NAME):
        rule = f"{argument('unit')} must be a name of at most {LONGEST_NAME} characters"
        raise BadValue(f"{rule}, got {sent['unit']!r:.100}")
    metric = sent.get("metric")
    if metric is not None and not (isinstance(metric, str) and 0 < len(metric) <= LONGEST_METRIC):
        raise BadValue(f"{argument('metric')} must be the name of a total that a guard watches, got {metric!r:.100}")
    if not is_number(sent["amount"]) or abs(sent["amount"]) > LARGEST:
        micros("amount", sent["amount"], FULL)


def lower(text: str) -> str:
    return text if text[:2].isupper() else text[:1].lower() + text[1:]  # JSON stays JSON


def refuse_other_methods(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise Problem("method-not-allowed", headers={"Allow": ", ".join(allowed)})


class FastRoutes:
    """Passes the two calls to their handlers and all others to the other routes."""

    def __init__(self, service: Service, others: ASGIApp) -> None:
        self.calls: dict[str, CurrentRoute | Rewards] = {"current": CurrentRoute(service), "rewards": Rewards(service)}
        self.others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        called = self.call_at(scope.get("path", ""))
        if called is None:
            await self.others(scope, receive, send)
            return
        name, call = called
        found = self.calls[call]
        scope["path_params"], scope["endpoint"] = {"name": name}, found
        await found(scope, receive, send)

    @staticmethod
    def call_at(path: str) -> tuple[str, str] | None:
        """Experiment and call of an address; None if it is of other routes."""
        if not path.startswith(BEFORE):
            return None
        name, _, call = path[len(BEFORE) :].partition("/")
        return (name, call) if name and call in FAST else None
