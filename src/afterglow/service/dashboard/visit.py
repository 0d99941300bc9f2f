"""One request to the dashboard: its token, session and form, and the ways to respond."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote

from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from afterglow.errors import UnknownName
from afterglow.live import Actor, Experiment, Experiments
from afterglow.live.domain.status import Explanation
from afterglow.live.verdict_history import VerdictPoint
from afterglow.service.auth.scopes import Authenticator, unknown_experiment
from afterglow.service.auth.sessions import Sessions, form_mark
from afterglow.service.auth.tokens import Token
from afterglow.service.background.plan_jobs import PlanJobs
from afterglow.service.dashboard.recent_log import RecentLog
from afterglow.service.dashboard.rendering import HEADERS, render, respond
from afterglow.service.dashboard.standing import ListedState
from afterglow.service.problems import Problem
from afterglow.service.webhook_registry import WebhookRegistry

SAFE = ":/%#?=@[]!$&'()*+,;~"  # characters that stay as they are in an address
DIGITS = 15  # maximum digits of a number in an address


def whole_number(text: str) -> int | None:
    """A whole number that was written in an address, or None."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= DIGITS else None


class RunInThread(Protocol):
    """Run a function that may wait for the database in a worker thread."""

    def __call__(self, function: Callable[[], Response], /) -> Awaitable[Response]: ...


@dataclass
class ExperimentCache:
    """What pages of one experiment share: its recent log, the plan of its current step, verdicts of the past."""

    log: RecentLog = field(default_factory=RecentLog)
    plan: Explanation | None = None
    standing: ListedState | None = None
    history: list[VerdictPoint] | None = None
    history_step: int = 0


@dataclass(frozen=True)
class Dashboard:
    """What all pages share. Without `auth` every visitor on this machine may do everything."""

    experiments: Experiments
    sessions: Sessions
    call: RunInThread
    authenticator: Authenticator
    webhooks: WebhookRegistry
    plans: PlanJobs
    auth: bool = True
    max_age: int = 60  # seconds for which clients may use an answer
    clock: Callable[[], float] = time.time
    caches: dict[str, ExperimentCache] = field(default_factory=dict)  # by name

    def cache(self, name: str) -> ExperimentCache:
        return self.caches.setdefault(name, ExperimentCache())


@dataclass(frozen=True)
class Visit:
    """`cookie` is the session cookie, or a random one for visitors who have not signed in."""

    dashboard: Dashboard
    request: Request
    token: Token | None
    cookie: str
    form: Mapping[str, str]

    @property
    def now(self) -> float:
        return self.dashboard.clock()

    @property
    def partial(self) -> bool:
        """Whether htmx requests a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    @property
    def secure(self) -> bool:
        """Whether the connection uses TLS, possibly terminated by a proxy."""
        headers = self.request.headers
        proto, origin = headers.get("x-forwarded-proto", ""), headers.get("origin", "")
        return "https" in (self.request.url.scheme, proto.lower()) or origin.lower().startswith("https://")

    def may(self, scope: str) -> bool:
        return self.token is not None and self.token.may(scope)

    def actor(self) -> Actor | None:
        return None if self.token is None else self.token.actor()

    def required_actor(self) -> Actor:
        """Who acts, on pages that need a token."""
        return Actor("unknown") if self.token is None else self.token.actor()

    def experiment(self, name: str | None = None) -> Experiment:
        """The experiment named in the path, or another one."""
        name = self.request.path_params["name"] if name is None else name
        if self.token is None or not self.token.knows(name):
            raise Problem("forbidden", f"this token has no access to experiment {name!r}")
        try:
            return self.dashboard.experiments.get(name)
        except UnknownName as error:
            raise unknown_experiment(error, name, self.token) from error

    def number(self, name: str) -> int | None:
        """A whole number in the query string, or None."""
        return whole_number(self.request.query_params.get(name, ""))

    def text(self, template: str, **given: Any) -> str:
        return render(
            template, visit=self, now=self.now, mark=form_mark(self.cookie), auth=self.dashboard.auth, **given
        )

    def page(self, template: str, code: int = 200, **given: Any) -> HTMLResponse:
        return respond(self.text(template, **given), code)

    def go(self, address: str) -> Response:
        """Redirect to another page."""
        if self.partial:
            return Response(status_code=204, headers=HEADERS | {"HX-Redirect": quote(address, SAFE)})
        return RedirectResponse(address, 303, HEADERS)

    def sign_in(self) -> Response:
        """Redirect to the sign-in page, which returns to this page."""
        url = self.request.url
        if self.partial:
            url = URL(self.request.headers.get("hx-current-url", "/"))
        elif self.request.method != "GET":
            url = URL("/")
        back = url.path + (f"?{url.query}" if url.query else "")
        return self.go("/sign-in" if back in ("", "/") else f"/sign-in?next={quote(back)}")
