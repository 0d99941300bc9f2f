"""Configuration of both clients: address, token, timeouts, buffer."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from afterglow.client.backoff import Backoff
from afterglow.client.calls import Answer, Call
from afterglow.client.outbox import Outbox, Refused
from afterglow.client.variant import Variant
from afterglow.errors import BadValue, OutOfTurn, Unavailable, argument

QUIET = 60.0  # seconds without data on a stream
OnRefused = Callable[[list[Refused]], None]


@dataclass(frozen=True, kw_only=True)
class ClientConfig:
    address: str | Sequence[str]
    token: str = field(repr=False)
    timeout: float = 10.0  # seconds that a call may take
    current_timeout: float = 2.0  # for the current variant
    buffer: int = 10_000  # rewards that may wait
    linger: float = 0.1  # seconds that a reward waits for others
    retry_for: float | None = None  # seconds; None = until it is delivered
    on_refused: OnRefused | None = None
    http: Mapping[str, Any] = field(default_factory=dict)  # more for httpx: verify, proxy, …
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if not self.addresses:
            raise BadValue(f"{argument('address')} must be one address or several, got none")
        for one in self.addresses:
            check_address(one)
        if not self.token or not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise BadValue(
                f"{argument('token')} must be the text that `afterglow token create` printed, got something else"
            )
        for name in ("timeout", "current_timeout", "buffer"):
            if not getattr(self, name) > 0:
                raise BadValue(f"{argument(name)} must be above 0, got {getattr(self, name)!r}")
        if not self.linger >= 0:
            raise BadValue(f"{argument('linger')} must be at least 0 seconds, got {self.linger!r}")

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses of the service."""
        return (self.address,) if isinstance(self.address, str) else tuple(self.address)

    @property
    def shown(self) -> str:
        """The addresses, to be shown."""
        return " or ".join(self.addresses)

    def options(self) -> dict[str, Any]:
        """Arguments of httpx clients."""
        more = {"user-agent": "afterglow-client", **self.http.get("headers", {})}
        headers = {**more, "authorization": f"Bearer {self.token}"}
        return {"timeout": self.timeout, **self.http, "headers": headers}

    def outbox(self) -> Outbox:
        return Outbox(Backoff(self.jitter), self.clock, self.buffer, self.linger, self.retry_for)

    def variant(self, default: str | None) -> Variant:
        return Variant(default, Backoff(self.jitter, 0.5), self.clock)

    def following(self, address: str, experiment: str | None, after: str | None) -> dict[str, Any]:
        """The stream of events as httpx takes it."""
        query = {} if experiment is None else {"experiment": experiment}
        headers = {} if after is None else {"last-event-id": after}
        patience = httpx.Timeout(self.timeout, read=QUIET)
        return {**arguments(address, Call("GET", "/v1/events", query=query), headers), "timeout": patience}

    def open(self, closed: bool) -> None:
        if closed:
            raise OutOfTurn("the client is closed; make a new one")

    def unreachable(self, error: Exception) -> Unavailable:
        """The error for a service that gave no answer."""
        return Unavailable(f"{self.shown} can't be reached ({type(error).__name__}: {error}); try again later")


def check_address(address: object) -> None:
    """Refuse what is no address of a service."""
    try:
        httpx.URL(str(address))
        parts = urlsplit(str(address))
    except (ValueError, httpx.InvalidURL) as error:
        raise BadValue(f"{argument('address')} can't be read: {error}; got {address!r}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadValue(
            f"{argument('address')} must be that of the service, such as https://experiments.example, got {address!r}"
        )


def arguments(address: str, call: Call, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A call as httpx takes it."""
    content = call.content()
    kind = {} if content is None else {"content-type": "application/json"}
    return {
        "method": call.method, "url": address.rstrip("/") + call.path, "params": call.query or None, "content": content,
        "headers": {**kind, **(headers or {})},
    }  # fmt: skip


def answer_of(response: httpx.Response) -> Answer:
    return Answer(response.status_code, response.headers, response.content)
