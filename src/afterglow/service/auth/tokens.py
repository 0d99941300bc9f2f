"""API tokens: stored as digests, and read again every second so that revocations take effect.

A token is `ag_<id>_<secret>`. The id is the key of the row. The secret has 256 random bits, so a plain SHA-256 digest
is sufficient; digests are compared in constant time.
"""

import hmac
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

from afterglow.checks import choice
from afterglow.errors import BadValue
from afterglow.live import Actor
from afterglow.live.store.access import TokenRow

SCOPES = ("read", "decide", "report", "operate", "admin")  # admin may do everything
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
DIGITS = 20  # maximum digits of a lifetime
PAUSE = 0.25  # minimum seconds between reads caused by unknown tokens


@dataclass(frozen=True, slots=True)
class Token:
    """What a caller may do. `experiments` is None for all of them."""

    id: str
    digest: bytes
    scopes: frozenset[str]
    experiments: frozenset[str] | None = None
    expires: float | None = None  # seconds since 1970
    label: str = ""
    session: str = ""  # of an operator who has signed in with it

    def actor(self) -> Actor:
        """Who acts with it, for the log."""
        return Actor(self.id, self.label, self.session)

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    def knows(self, experiment: str) -> bool:
        return self.experiments is None or experiment in self.experiments


ANYBODY = Token("anybody", b"", frozenset(SCOPES))  # used where authentication is off


def new_token(
    scopes: Iterable[str], experiments: Iterable[str] | None, label: str, now: float, expires: float | None = None
) -> tuple[str, TokenRow]:
    """A new token and the row to store; the token itself is not stored."""
    wanted = sorted({choice("scope", scope, SCOPES) for scope in scopes}, key=SCOPES.index)
    if not wanted:
        raise BadValue(f"a token needs a scope; available: {', '.join(SCOPES)}")
    if len(label) > 200 or not label.isprintable():
        raise BadValue(f"label must be at most 200 printable characters, got {label!r}")
    names = None if experiments is None else " ".join(sorted(set(experiments)))
    id_, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    ends = None if expires is None else round(1000 * (now + expires))
    return f"ag_{id_}_{secret}", TokenRow(
        id_, label, digest(secret), " ".join(wanted), names, round(1000 * now), ends, None
    )


def digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def lifetime(text: str) -> float:
    """Seconds in `30d`, `12h`, `90m`, `45s` or `2w`."""
    number, unit = text[:-1], text[-1:]
    written = unit in UNITS and number.isdecimal() and len(number) <= DIGITS
    if not written or not 0 < int(number) * UNITS[unit] <= 100 * 366 * 86400:
        shown = text if len(text) <= 2 * DIGITS else f"{text[:DIGITS]}…"
        raise BadValue(f"a lifetime is a number and s, m, h, d or w, such as 30d, at most 100 years; got {shown!r}")
    return int(number) * UNITS[unit]


def token_of(row: TokenRow) -> Token:
    names = None if row.experiments is None else frozenset(row.experiments.split())
    return Token(
        row.id, bytes(row.digest), frozenset(row.scopes.split()), names,
        None if row.expires is None else row.expires / 1000, row.label,
    )  # fmt: skip


class TokenCache:
    """All tokens that are not revoked, in memory."""

    def __init__(self, rows: Callable[[], list[TokenRow]], version: Callable[[], object] | None = None) -> None:
        self.rows = rows
        self.version = version  # another value after every change
        self.known_version: object = None
        self.known: dict[str, Token] = {}
        self.read = -PAUSE  # when the last read began
        self.sure = False  # whether the last read succeeded
        self.turn = Lock()

    def renew(self) -> None:
        """Read all rows again if any has changed; call it from a worker thread."""
        with self.turn:
            began, worked = time.monotonic(), False
            try:
                version = self.version() if self.version is not None else object()
                if version != self.known_version:
                    rows = self.rows()
                    self.known = {row.id: token_of(row) for row in rows if row.revoked is None}
                    self.known_version = version
                worked = True
            finally:  # after `known` is set: waiting calls rely on `read`
                self.sure, self.read = worked, began

    def stale(self) -> bool:
        """Whether the rows may be read again for an unknown token."""
        return self.pause() == 0

    def pause(self) -> float:
        """Seconds until the rows may be read again for an unknown token."""
        return max(0.0, self.read + PAUSE - time.monotonic())

    def find(self, text: str, now: float) -> Token | None:
        """The token that was sent, if it is valid now."""
        token = self.held(text)
        return token if token is not None and (token.expires is None or now < token.expires) else None

    def held(self, text: str) -> Token | None:
        """The token that was sent, valid or expired."""
        _, _, rest = text.partition("_")
        id_, _, secret = rest.partition("_")
        token = self.known.get(id_)
        if token is None or not text.startswith("ag_"):
            return None
        return token if hmac.compare_digest(token.digest, digest(secret)) else None
