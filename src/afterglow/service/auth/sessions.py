"""Sessions of signed-in operators: rows among the tokens, so that every replica knows them and a restart ends none.

A session is shown by a cookie with a random secret of its own; only a digest is kept, which no call of the API takes
for a token. It grants what the token grants that was used to sign in, as long as that one is valid, and ends after a
working day or when the operator signs out. Every form carries a mark that is made from the cookie, which another site
can neither read nor guess.
"""

import hmac
import secrets
from dataclasses import dataclass
from hashlib import sha256

from afterglow.live.store.access import Access, TokenRow
from afterglow.service.auth.tokens import Token, TokenCache

LASTS = 12 * 3600  # seconds
SIGN = "-"  # between the token's id and the session's


@dataclass(frozen=True)
class Sessions:
    """`begin`, `find` and `end` may wait for the database."""

    tokens: TokenCache
    rows: Access

    def begin(self, token: Token, now: float) -> str:
        """A cookie for somebody who has shown a token."""
        self.tidy(round(1000 * now))
        id_, secret = f"{token.id}{SIGN}{secrets.token_hex(6)}", secrets.token_urlsafe(32)
        ends = min(now + LASTS, token.expires or now + LASTS)
        names = None if token.experiments is None else " ".join(sorted(token.experiments))
        scopes, label = " ".join(sorted(token.scopes)), f"dashboard, signed in with {token.id}"
        self.rows.put_token(
            TokenRow(id_, label, digest(secret), scopes, names, round(1000 * now), round(1000 * ends), None)
        )
        self.tokens.renew()
        return f"{id_}.{secret}"

    def find(self, cookie: str, now: float) -> Token | None:
        """The token that somebody has signed in with, if the session and the token are in force."""
        id_, _, secret = cookie.partition(".")
        parent, sign, _ = id_.partition(SIGN)
        if id_ not in self.tokens.known and sign and (parent in self.tokens.known or self.tokens.stale()):
            self.tokens.renew()  # another replica may have begun it a moment ago
        session, token = self.tokens.known.get(id_), self.tokens.known.get(parent)
        if session is None or token is None or not sign:
            return None
        if not hmac.compare_digest(session.digest, digest(secret)):
            return None
        return token if all(one.expires is None or now < one.expires for one in (session, token)) else None

    def end(self, cookie: str) -> None:
        """Sign out: the cookie is worth nothing from now on, copies of it too."""
        self.rows.drop_token(cookie.partition(".")[0])
        self.tokens.renew()

    def tidy(self, now: int) -> None:
        """Forget the sessions that are over, at `now` in milliseconds."""
        for row in self.rows.tokens():
            over = row.revoked is not None or (row.expires is not None and row.expires <= now)
            if SIGN in row.id and over:
                self.rows.drop_token(row.id)


def digest(secret: str) -> bytes:
    """Another one than a token's, so that a session's secret is no token."""
    return sha256(b"session " + secret.encode()).digest()


def form_mark(cookie: str) -> str:
    """What a form carries to show that it comes from a page of this visitor."""
    return hmac.new(cookie.encode(), b"form", sha256).hexdigest()


def own_form(cookie: str, mark: str) -> bool:
    return bool(cookie) and hmac.compare_digest(form_mark(cookie).encode(), mark.encode())
