"""Authentication by bearer token, authorisation by scope and experiment, and rate limits."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from time import monotonic

from starlette.types import Scope

from afterglow.errors import UnknownName
from afterglow.service.auth.client_address import Proxies
from afterglow.service.auth.tokens import ANYBODY, Token, TokenCache
from afterglow.service.problems import Problem, problem_of
from afterglow.service.settings import loopback

ADDRESS = 50.0  # unauthenticated calls per second, and page visits, from one address; bursts of twice that
STRANGERS = 400.0  # the same from all addresses together
MOST = 10_000  # addresses and tokens whose calls are counted
OTHER_SITES = (b"cross-site", b"same-site")  # values of Sec-Fetch-Site for what pages of other sites send


class Authenticator:
    """Find the token of a call and apply its rate limit."""

    def __init__(
        self,
        tokens: TokenCache,
        auth: bool,
        rate: float,
        now: Callable[[], float],
        renew: Callable[[], Awaitable[None]],
        proxies: Proxies | None = None,
    ) -> None:
        self.tokens = tokens
        self.auth = auth
        self.now = now
        self.renew = renew  # reads the tokens again, in a worker thread
        self.looking = asyncio.Lock()
        self.buckets = Buckets(rate)
        self.since = now()
        self.used = dict[str, float]()  # when each token was last used in this process, seconds since 1970
        self.proxies = proxies or Proxies()
        self.addresses = Buckets(ADDRESS)
        self.strangers = Buckets(STRANGERS)

    async def enter(self, scope: Scope) -> Token:
        """The token that was sent; a problem if it is not valid or over its rate limit."""
        sent = scope["sent"]
        if not self.auth:
            refuse_strangers(sent.get(b"host", b""))
            refuse_other_sites(sent)
            token: Token | None = ANYBODY
        else:
            token = await self.find(sent.get(b"authorization", b""), scope)
        if token is None:
            raise Problem("unauthorized")
        if not self.buckets.take(token.id):
            raise Problem("too-many-requests", f"more than {self.buckets.rate:,g} calls per second")
        self.used[token.id] = self.now()
        return token

    def valid(self, token: Token) -> bool:
        """Whether a token that was accepted earlier is still valid."""
        known = token is ANYBODY or self.tokens.known.get(token.id) == token
        return known and (token.expires is None or self.now() < token.expires)

    async def find(self, authorization: bytes, scope: Scope) -> Token | None:
        scheme, _, sent = authorization.partition(b" ")
        if scheme.lower() != b"bearer" or not sent.isascii():
            return None
        text = sent.strip().decode("ascii")
        token = self.tokens.held(text)
        if token is None:
            return await self.look_for(text, scope)
        if token.expires is not None and token.expires <= self.now():
            when = f"{datetime.fromtimestamp(token.expires, UTC):%Y-%m-%d %H:%M:%S} UTC"
            raise Problem("unauthorized", f"the token expired at {when}; `afterglow token create` makes another")
        return token

    async def look_for(self, text: str, scope: Scope | None = None) -> Token | None:
        """A token by its text; an unknown one may have just been created, so the tokens are read again."""
        token = self.tokens.find(text, self.now())
        if token is None and text.startswith("ag_"):
            self.brake("calls with unknown tokens", scope)
            since = monotonic()
            await self.look_again(since)
            token = self.tokens.find(text, self.now())
            if token is None and not (self.tokens.sure and self.tokens.read >= since):
                raise Problem("database-unavailable", "the token is unknown, and the list of tokens can't be read now")
        return token

    def brake(self, what: str, scope: Scope | None = None) -> None:
        """A problem if there are too many unauthenticated calls of a kind, from one address or from all."""
        if scope is not None and not self.addresses.take(f"{what} {self.proxies.caller(scope)}"):
            raise Problem("too-many-requests", f"more than {ADDRESS:g} {what} per second from one address")
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

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self.rate = rate
        self.clock = clock
        self.full = 2 * rate
        self.levels: dict[str, tuple[float, float]] = {}  # token: permits, when

    def take(self, token: str) -> bool:
        if not self.rate:
            return True
        now = self.clock()
        level, then = self.levels.get(token, (self.full, now))
        level = min(self.full, level + (now - then) * self.rate)
        if level < 1:
            return False
        self.levels[token] = (level - 1, now)
        if len(self.levels) > MOST:
            self.forget(now)
        return True

    def forget(self, now: float) -> None:
        """Drop those that are full again, and the oldest half if there are too many still."""
        kept = [(one, at) for one, at in self.levels.items() if at[0] + (now - at[1]) * self.rate < self.full]
        self.levels = dict(kept if len(kept) <= MOST // 2 else kept[len(kept) - MOST // 2 :])


def refuse_strangers(host: bytes) -> None:
    """Without tokens, accept only loopback names in `Host`, as a protection against DNS rebinding."""
    if not is_local(host):
        name = name_of(host)
        raise Problem("forbidden", f"without tokens the host must be 127.0.0.1, [::1] or localhost, got {name!r}")


def is_local(host: bytes) -> bool:
    """Whether `Host` is a loopback address, as it is for callers on this machine."""
    return loopback(name_of(host))


def name_of(host: bytes) -> str:
    """`Host` without the port."""
    name = host.decode("latin-1")
    return name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() and not name.endswith("]") else name


def refuse_other_sites(sent: Mapping[bytes, bytes]) -> None:
    """Without tokens, refuse what a browser sends for a page of another site: it needs no permission to send."""
    origin, host = sent.get(b"origin"), sent.get(b"host", b"")
    foreign = origin is not None and origin.partition(b"://")[2].lower() != host.lower()
    if foreign or sent.get(b"sec-fetch-site") in OTHER_SITES:
        raise Problem("forbidden", "the call was sent by a page of another site; without tokens that is refused")


def unknown_experiment(error: UnknownName, name: str, token: Token | None) -> Problem:
    """The problem of a name; a token for some experiments is told no names of others."""
    if token is not None and token.experiments is None:
        return problem_of(error)
    return Problem("unknown-experiment", f"no experiment named {name!r}", error_kind=error.kind, field=error.field)


def allow(token: Token, scope: str, experiment: str | None = None) -> None:
    """A problem unless the token has the scope, and access to the experiment."""
    if not token.may(scope):
        raise Problem("forbidden", f"the call needs scope {scope!r}, the token has {', '.join(sorted(token.scopes))}")
    if experiment is not None and not token.knows(experiment):
        raise Problem("forbidden", f"the token has no access to experiment {experiment!r}")
