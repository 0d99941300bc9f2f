"""Signatures of webhooks, after the Standard Webhooks specification.

A delivery has the headers `webhook-id`, `webhook-timestamp` (seconds since 1970) and `webhook-signature`: `v1,` and the
base64 of the HMAC-SHA256 of `id.timestamp.body`. A secret is `whsec_` and the base64 of the key; the key of an older
secret is its text. The time is part of what is signed, so that an old delivery can't be played back later.
"""

import hmac
import time
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from hashlib import sha256

from afterglow.errors import BadValue, NotAllowed, argument

ID, TIME, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
PREFIX = "whsec_"
OLDEST = 300.0  # seconds


def new_secret(key: bytes) -> str:
    return PREFIX + b64encode(key).decode()


def signed(secret: str, body: bytes, id_: str, at: float) -> dict[str, str]:
    """The headers of a delivery."""
    when = str(int(at))
    return {ID: id_, TIME: when, SIGNATURE: f"v1,{digest(secret, body, id_, when)}"}


def with_old_header(secret: str, body: bytes, headers: dict[str, str]) -> dict[str, str]:
    """The same headers; webhooks of release 0.1.0 get theirs too, so that receivers can change over later."""
    if secret.startswith(PREFIX):
        return headers
    old = hmac.new(secret.encode(), headers[TIME].encode() + b"." + body, sha256).hexdigest()
    return headers | {"afterglow-delivery": headers[ID], "afterglow-signature": f"t={headers[TIME]},v1={old}"}


def check_signature(
    secret: str, body: bytes, headers: Mapping[str, str], *, oldest: float = OLDEST, now: float | None = None
) -> None:
    """Refuse (`NotAllowed`) a delivery that was not signed with the secret, or longer ago than `oldest` seconds.

    `body` is what arrived, byte for byte; `headers` are those of the request.
    """
    found = {name.lower(): value for name, value in headers.items()}
    id_, at = found.get(ID, ""), found.get(TIME, "")
    own = digest(secret, body, id_, at).encode()
    sent = [one.partition(",") for one in found.get(SIGNATURE, "").split()]
    same = any(version == "v1" and hmac.compare_digest(own, given.encode()) for version, _, given in sent)
    if not same or not at.isascii() or not at.isdigit():
        raise NotAllowed("the delivery is not signed with this secret; don't act on it")
    age = (time.time() if now is None else now) - int(at)
    if abs(age) > oldest:
        raise NotAllowed(f"the delivery was signed {age:,.0f} s ago, more than {oldest:,.0f} s; don't act on it")


def digest(secret: str, body: bytes, id_: str, at: str) -> str:
    content = f"{id_}.{at}.".encode() + body
    return b64encode(hmac.new(key_of(secret), content, sha256).digest()).decode()


def key_of(secret: str) -> bytes:
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        return b64decode(secret.removeprefix(PREFIX), validate=True)
    except Error as error:
        raise BadValue(f"{argument('secret')} must be {PREFIX} and base64, as the service gave it") from error
