"""Sessions of signed-in operators, stored with the tokens: every replica knows them, and they survive restarts.

A session is identified by a cookie with a random secret; only its digest is stored, and the API does not accept it as a
token. A session has the permissions of the token used to sign in, as long as that token is valid. It ends after 12
hours or when the operator signs out. Every form carries a CSRF mark derived from the cookie.
"""

import hmac
import secrets
from dataclasses import dataclass, replace
from hashlib import sha256

from afterglow.live.store.access import Access, TokenRow
from afterglow.service.auth.audit import line
from afterglow.service.auth.tokens import Token, TokenCache

DURATION = 12 * 3600  # seconds
MOST = 20  # sessions of a token; the oldest end first
SEPARATOR = "-"  # separates the token's id from the session's


@dataclass(frozen=True)
class Sessions:
    """`begin`, `find` and `end` may wait for the database."""

    tokens: TokenCache
    rows: Access

    def begin(self, token: Token, now: float) -> str:
        """Store a new session for a token; returns the cookie."""
        id_, secret = f"{token.id}{SEPARATOR}{secrets.token_hex(6)}", secrets.token_urlsafe(32)
        ends = min(now + DURATION, token.expires or now + DURATION)
        names = None if token.experiments is None else " ".join(sorted(token.experiments))
        scopes, label = " ".join(sorted(token.scopes)), f"dashboard, signed in with {token.id}"
        row = TokenRow(id_, label, digest(secret), scopes, names, round(1000 * now), round(1000 * ends), None)
        self.rows.put_session(row, round(1000 * now), MOST, line("signed-in", token.actor(), id_, "", now))
        self.tokens.renew()
        return f"{id_}.{secret}"

    def find(self, cookie: str, now: float) -> Token | None:
        """The token of a session, if both the session and the token are valid."""
        id_, _, secret = cookie.partition(".")
        parent, separator, _ = id_.partition(SEPARATOR)
        if id_ not in self.tokens.known and separator and (parent in self.tokens.known or self.tokens.stale()):
            self.tokens.renew()  # another replica may have just stored it
        session, token = self.tokens.known.get(id_), self.tokens.known.get(parent)
        if session is None or token is None or not separator:
            return None
        if not hmac.compare_digest(session.digest, digest(secret)):
            return None
        valid = all(one.expires is None or now < one.expires for one in (session, token))
        return replace(token, session=id_) if valid else None

    def end(self, cookie: str, token: Token, now: float) -> None:
        """Sign out: delete the session, which invalidates all copies of the cookie."""
        id_ = cookie.partition(".")[0]
        self.rows.drop_token(id_, line("signed-out", token.actor(), id_, "", now))
        self.tokens.renew()


def digest(secret: str) -> bytes:
    """Digest of a session's secret, different from a token's so that a session's secret is not a valid token."""
    return sha256(b"session " + secret.encode()).digest()


def form_mark(cookie: str) -> str:
    """The CSRF mark of a visitor's forms."""
    return hmac.new(cookie.encode(), b"form", sha256).hexdigest()


def own_form(cookie: str, mark: str) -> bool:
    return bool(cookie) and hmac.compare_digest(form_mark(cookie).encode(), mark.encode())
