"""Recognise a reward that is sent again, without ever writing down its key.

A key is turned into a digest with the salt of its step. Digest and salt are erased some steps after theirs has
closed; then nothing links a stored amount, or even the fact that there was one, to a key.
"""

from collections.abc import Iterable
from hashlib import blake2b
from secrets import token_bytes

from afterglow.errors import BadValue, Conflict
from afterglow.live.amounts import units
from afterglow.live.store.contract import Writing

LONGEST = 200


def settle(log: Writing, step: int, remember: int, rewards: Iterable[tuple[str, int]]) -> list[tuple[bytes, int]]:
    """(digest, amount) of the rewards that are new; one whose key came with another amount is refused."""
    salts = {old: salt for old in range(max(0, step - remember), step) if (salt := log.salt(old)) is not None}
    present = salts[step] = log.salt(step) or log.put_salt(step, token_bytes(32))
    new = dict[bytes, int]()
    for key, amount in rewards:
        plain = checked(key)
        digest = digest_of(plain, present)
        before = new.get(digest)
        for old, salt in salts.items():
            if before is None:
                before = log.amount(old, digest if old == step else digest_of(plain, salt))
        if before is None:
            new[digest] = amount
        elif before != amount:
            raise Conflict(
                f"key {key!r} came with amount {units(before):,g} before, now with {units(amount):,g}; "
                "a new reward needs a key of its own"
            )
    return list(new.items())


def checked(key: object) -> bytes:
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST:
        raise BadValue(f"key must be a random string of 1 to {LONGEST} characters, such as a UUID, got {key!r}")
    return key.encode()


def digest_of(key: bytes, salt: bytes) -> bytes:
    return blake2b(key, key=salt, digest_size=16).digest()
