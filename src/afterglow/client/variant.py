"""The current variant in a client: cached as long as the service allows, with a fallback while it can't be reached.

The service names the seconds for which an answer may be kept, counted from the request. The two clocks are never
compared.
"""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

from afterglow.client.backoff import Backoff
from afterglow.client.calls import Answer, fresh_for, parsed, passes, pause_wanted, refusal
from afterglow.errors import AfterglowError, BadFormat

LOG = logging.getLogger("afterglow.client")


class Current(NamedTuple):
    """What to serve. `fallback` is None for an answer of the service, `"last"` for an earlier one while the service
    can't be reached or refuses, and `"default"` before the first answer; `error` is the reason of a fallback."""

    variant: str
    step: int | None = None
    role: str | None = None
    valid_until: str | None = None  # when the step ends, if a clock ends it
    fallback: str | None = None
    error: AfterglowError | None = None


class Variant:
    """One experiment's variant. Not thread-safe: callers use a lock."""

    def __init__(self, default: str | None, pauses: Backoff, clock: Callable[[], float]) -> None:
        self.default = default
        self._pauses = pauses
        self._clock = clock
        self._last: Current | None = None
        self._etag: str | None = None
        self._until = self._quiet = self._changed = float("-inf")
        self.asked = self._heard = 0  # requests sent, and the last one that was answered
        self._error: AfterglowError | None = None

    def ready(self, asked: int) -> Current | None:
        """What can be served without asking: an answer that still holds, or to a request that was sent after the first
        `asked`, or a fallback shortly after a failure."""
        now = self._clock()
        if self._last is not None and self._error is None and (now < self._until or self._heard > asked):
            return self._last
        return self.fallback() if self._error is not None and now < self._quiet else None

    def ask(self) -> float:
        """A request is sent now."""
        self.asked += 1
        return self._clock()

    def headers(self) -> dict[str, str]:
        return {} if self._etag is None else {"if-none-match": self._etag}

    def answered(self, answer: Answer, asked: float) -> Current:
        """Take in what came back for the last request, which was sent at `asked`."""
        if answer.status == 304 and self._last is not None:
            current = self._last
        elif answer.status == 200:
            body = parsed(answer) or {}
            if not isinstance(body.get("variant"), str):
                return self.failed(BadFormat("the current variant came without its name; is the address right?"))
            current = self._last = read_current(body)
            self._etag = answer.headers.get("etag")
        else:
            return self.failed(refusal(answer), pause_wanted(answer.headers), passes(answer))
        self._heard = self.asked
        self._until = asked + fresh_for(answer.headers) if asked > self._changed else float("-inf")
        self._error = None
        self._pauses.over()
        return current

    def failed(self, error: AfterglowError, at_least: float = 0.0, passing: bool = True) -> Current:
        """The service can't be reached, or refuses. It isn't asked again for a while."""
        self._error = error
        self._quiet = self._clock() + self._pauses.next(at_least)
        if not passing and self._last is None:
            self._quiet = float("-inf")  # a wrong name or token must be seen, not served around
            raise error
        served = self.fallback()
        LOG.warning("the %s variant %r is served: %s", served.fallback, served.variant, error)
        return served

    def fallback(self) -> Current:
        """The last variant heard of, else the default, else the error."""
        if self._last is not None:
            return self._last._replace(fallback="last", error=self._error)
        if self.default is not None:
            return Current(self.default, fallback="default", error=self._error)
        raise self._error or BadFormat("no variant is known")

    def forget(self) -> None:
        """The step was closed, or a command given: ask again, whatever was said about how long the answer holds, and
        don't keep the answer to a request that is on its way."""
        self._until, self._changed = float("-inf"), self._clock()


def read_current(body: dict[str, Any]) -> Current:
    return Current(body["variant"], body.get("step"), body.get("role"), body.get("valid_until"))
