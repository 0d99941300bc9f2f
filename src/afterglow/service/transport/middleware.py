"""Outermost ASGI middleware: request ids, authentication, body limits, access log and metrics for every call."""

import logging
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from secrets import token_hex
from time import perf_counter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterglow.service.auth.scopes import Authenticator, is_local
from afterglow.service.metrics import Metrics
from afterglow.service.problems import Problem
from afterglow.service.settings import ServiceSettings
from afterglow.service.transport.request_bodies import Body, BodyBudget

LOG = logging.getLogger("afterglow.service.api.dependencies")
GUARDED = ("/v1/", "/ofrep/")
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
FREQUENT = frozenset({"current", "rewards"})  # frequent calls: logged only on errors, unless the level is debug
FORM, FORMS = 1 << 16, 1 << 22  # maximum bytes of a page's form, and of all forms at the same time
UPLOAD_PATH = "/plan"  # the page whose form has a file
UPLOAD, UPLOADS = 4 << 20, 1 << 24  # the same for it
HEADERS = (
    b"accept",
    b"authorization",
    b"content-length",
    b"content-type",
    b"expect",
    b"host",
    b"x-request-id",
    b"if-none-match",
    b"origin",
    b"sec-fetch-site",
    b"x-forwarded-for",
)
LONGEST = 300  # characters of a path in the log
PLAIN_ID = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:")


class ResponseSender:
    """Forwards messages, records the status and adds the headers of every response."""

    __slots__ = ("id", "send", "status")

    def __init__(self, send: Send, id_: bytes) -> None:
        self.send = send
        self.id = id_
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *message.get("headers", ()), (b"x-request-id", self.id), (b"x-content-type-options", b"nosniff"),
            ]  # fmt: skip
        await self.send(message)


class Middleware:
    """Wraps the whole application."""

    def __init__(
        self,
        inner: ASGIApp,
        authenticator: Authenticator,
        settings: ServiceSettings,
        metrics: Metrics,
        has_route: Callable[[Scope], bool],
    ) -> None:
        self.inner = inner
        self.has_route = has_route
        self.authenticator = authenticator
        self.settings = settings
        self.metrics = metrics
        self.bodies = BodyBudget(settings.body_limit, settings.bodies, settings.time_limit)
        self.forms = BodyBudget(FORM, FORMS, settings.time_limit)  # unauthenticated, so they have a budget of their own
        self.uploads = BodyBudget(UPLOAD, UPLOADS, settings.time_limit)
        self.prefix = token_hex(4)
        self.numbers = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        began = perf_counter()
        sent = headers_of(scope["headers"])
        given = sent.get(b"x-request-id", b"")
        known = 0 < len(given) <= 100 and PLAIN_ID.issuperset(given)
        id_ = given if known else f"{self.prefix}-{next(self.numbers):x}".encode()
        scope["request_id"] = id_.decode("ascii")
        scope["sent"] = sent
        answer = ResponseSender(send, id_)
        try:
            await self.pass_on(scope, receive, answer)
        except Problem as problem:
            await self.refuse(scope, receive, answer, problem)
        except Exception:
            LOG.exception("a call failed", extra={"request": scope["request_id"]})
            await self.refuse(scope, receive, answer, Problem("internal"))
        finally:
            self.note(scope, answer.status, perf_counter() - began)

    async def pass_on(self, scope: Scope, receive: Receive, send: ResponseSender) -> None:
        path = scope["path"]
        guarded = path.startswith(GUARDED)
        if (guarded and not self.astray(scope)) or (path == "/metrics" and self.hides_metrics(scope["sent"])):
            scope["token"] = await self.authenticator.enter(scope)
        if scope["method"] not in WRITES:
            await self.inner(scope, receive, send)
            return
        budget = self.bodies if guarded else self.uploads if path == UPLOAD_PATH else self.forms
        body = Body(receive, scope, budget, json=guarded)
        try:
            await self.inner(scope, body, send)
        finally:
            body.leave()

    def hides_metrics(self, sent: Mapping[bytes, bytes]) -> bool:
        """Whether metrics need a token: on loopback too, if a proxy or a page of another name asks."""
        if self.settings.metrics == "auto" and (b"x-forwarded-for" in sent or not is_local(sent.get(b"host", b""))):
            return True
        return self.settings.metrics_need_token

    def astray(self, scope: Scope) -> bool:
        """Whether a browser has opened an address at which there is nothing, for which no token is needed."""
        sent = scope["sent"]
        browser = scope["method"] == "GET" and b"authorization" not in sent and b"text/html" in sent.get(b"accept", b"")
        return browser and not self.has_route(scope)

    async def refuse(self, scope: Scope, receive: Receive, answer: ResponseSender, problem: Problem) -> None:
        if not answer.status:
            await problem.response()(scope, receive, answer)

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        endpoint = scope.get("endpoint")
        call = getattr(endpoint, "__name__", None) or "none"
        self.metrics.called(call, status, seconds)
        level = logging.DEBUG if call in FREQUENT and status < 500 else logging.INFO
        if LOG.isEnabledFor(level):
            token = scope.get("token")
            more: dict[str, Any] = {
                "request": scope["request_id"], "method": scope["method"], "path": shortened(scope["path"]),
                "call": call, "status": status, "ms": round(1000 * seconds, 3), "token": token.id if token else None,
                **({"session": token.session} if token and token.session else {}),
            }  # fmt: skip
            LOG.log(level, "called", extra=more)


def shortened(path: str) -> str:
    """A path for a log line or a message: a caller without a token may send a very long one."""
    return path if len(path) <= LONGEST else f"{path[:LONGEST]}… ({len(path):,} characters)"


def headers_of(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """The headers that the service uses."""
    return {name: value for name, value in headers if name in HEADERS}
