"""Signatures of webhooks: `Afterglow-Signature: t=<seconds since 1970>,v1=<hex HMAC-SHA256 of "t.body">`.

The time is part of what is signed, so that an old delivery can't be played back later.
"""

import hmac
import time
from hashlib import sha256

from afterglow.errors import NotAllowed

HEADER = "Afterglow-Signature"
OLDEST = 300.0  # seconds


def signature(secret: str, body: bytes, at: float) -> str:
    """What the header says."""
    return f"t={int(at)},v1={digest(secret, body, str(int(at)))}"


def check_signature(secret: str, body: bytes, header: str, *, oldest: float = OLDEST, now: float | None = None) -> None:
    """Refuse (`NotAllowed`) a delivery that was not signed with the secret, or longer ago than `oldest` seconds.

    `body` is what arrived, byte for byte.
    """
    parts = dict(part.strip().partition("=")[::2] for part in header.split(","))
    at, sent = parts.get("t", ""), parts.get("v1", "")
    same = hmac.compare_digest(digest(secret, body, at).encode(), sent.encode())
    if not same or not at.isdigit():
        raise NotAllowed("the delivery is not signed with this secret; don't act on it")
    age = (time.time() if now is None else now) - int(at)
    if abs(age) > oldest:
        raise NotAllowed(f"the delivery was signed {age:,.0f} s ago, more than {oldest:,.0f} s; don't act on it")


def digest(secret: str, body: bytes, at: str) -> str:
    return hmac.new(secret.encode(), at.encode() + b"." + body, sha256).hexdigest()
