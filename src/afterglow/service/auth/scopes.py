"""Authentication by bearer token, authorisation by scope and experiment, and rate limits."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from time import monotonic

from afterglow.service.auth.tokens import ANYBODY, Token, TokenCache
from afterglow.service.problems import Problem
from afterglow.service.settings import loopback

STRANGERS = 50.0  # unauthenticated calls per second, and page visits, of all callers together; bursts of twice that


class Authenticator:
    """Find the token of a call and apply its rate limit."""

    def __init__(
        self,
        tokens: TokenCache,
        auth: bool,
        rate: float,
        now: Callable[[], float],
        renew: Callable[[], Awaitable[None]],
    ) -> None:
        self.tokens = tokens
        self.auth = auth
        self.now = now
        self.renew = renew  # reads the tokens again, in a worker thread
        self.looking = asyncio.Lock()
        self.buckets = Buckets(rate)
        self.strangers = Buckets(STRANGERS)

    async def enter(self, authorization: bytes, host: bytes) -> Token:
        """The token that was sent; a problem if it is not valid or over its rate limit."""
        if not self.auth:
            refuse_strangers(host)
            token: Token | None = ANYBODY
        else:
            token = await self.find(authorization)
        if token is None:
            raise Problem("unauthorized")
        if not self.buckets.take(token.id):
            raise Problem("too-many-requests", f"more than {self.buckets.rate:,g} calls per second")
        return token

    def valid(self, token: Token) -> bool:
        """Whether a token that was accepted earlier is still valid."""
        known = token is ANYBODY or self.tokens.known.get(token.id) == token
        return known and (token.expires is None or self.now() < token.expires)

    async def find(self, authorization: bytes) -> Token | None:
        scheme, _, sent = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not sent.isascii():
            return None
        text = sent.strip().decode("ascii")
        token = self.tokens.held(text)
        if token is None:
            return await self.look_for(text)
        if token.expires is not None and token.expires <= self.now():
            when = f"{datetime.fromtimestamp(token.expires, UTC):%Y-%m-%d %H:%M:%S} UTC"
            raise Problem("unauthorized", f"the token expired at {when}; `afterglow token create` makes another")
        return token

    async def look_for(self, text: str) -> Token | None:
        """A token by its text; an unknown one may have just been created, so the tokens are read again."""
        token = self.tokens.find(text, self.now())
        if token is None and text.startswith("ag_"):
            self.brake("calls with unknown tokens")
            since = monotonic()
            await self.look_again(since)
            token = self.tokens.find(text, self.now())
            if token is None and not (self.tokens.sure and self.tokens.read >= since):
                raise Problem("database-unavailable", "the token is unknown, and the list of tokens can't be read now")
        return token

    def brake(self, what: str) -> None:
        """A problem if there are too many unauthenticated calls of a kind."""
        if not self.strangers.take(what):
            raise Problem("too-many-requests", f"more than {STRANGERS:g} {what} per second")

    async def look_again(self, since: float) -> None:
        """Read the tokens again, once for all callers that wait, at a limited rate."""
        async with self.looking:
            if self.tokens.read < since:
                await asyncio.sleep(self.tokens.pause())
                if self.tokens.read < since:
                    await self.renew()


class Buckets:
    """Token bucket rate limiter: `rate` permits per second, bursts of twice that."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.full = 2 * rate
        self.levels: dict[str, tuple[float, float]] = {}  # token: permits, when

    def take(self, token: str) -> bool:
        if not self.rate:
            return True
        now = monotonic()
        level, then = self.levels.get(token, (self.full, now))
        level = min(self.full, level + (now - then) * self.rate)
        if level < 1:
            return False
        self.levels[token] = (level - 1, now)
        return True


def refuse_strangers(host: bytes) -> None:
    """Without tokens, accept only loopback names in `Host`, as a protection against DNS rebinding."""
    name = host.decode("latin-1")
    name = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() and not name.endswith("]") else name
    if not loopback(name):
        raise Problem("forbidden", f"without tokens the host must be 127.0.0.1, [::1] or localhost, got {name!r}")


def allow(token: Token, scope: str, experiment: str | None = None) -> None:
    """A problem unless the token has the scope, and access to the experiment."""
    if not token.may(scope):
        raise Problem("forbidden", f"the call needs scope {scope!r}, the token has {', '.join(sorted(token.scopes))}")
    if experiment is not None and not token.knows(experiment):
        raise Problem("forbidden", f"the token has no access to experiment {experiment!r}")
