"""Recognise a reward that is sent again, without storing its key.

Only a digest of the key with the salt of its step is stored. Digests and salts are erased some steps after theirs has
closed; then nothing links a stored amount to a key.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from secrets import token_bytes

from afterglow.errors import AfterglowError, BadValue, Conflict, argument
from afterglow.live.domain.amounts import micros, units
from afterglow.live.domain.spec import Spec
from afterglow.live.store.contract import Writing

LONGEST = 200

Batch = Sequence[tuple[bytes, int]]  # keys and amounts


def settle(
    log: Writing, step: int, remember: int, batches: Iterable[Batch | AfterglowError], suspect: bool
) -> list[int | AfterglowError]:
    """Store the new rewards; how many each batch had, or the error that refuses the batch.

    Unless `suspect`, keys of this step are assumed to be new; `Raced` is raised if one of them is not.
    """
    given = list(batches)
    keys = {key: None for batch in given if not isinstance(batch, AfterglowError) for key, _ in batch}
    salts = log.salts(step - remember)
    present = salts.pop(step, None) or log.put_salt(step, token_bytes(32))
    known = dict[bytes, int]()
    if suspect:
        salts[step] = present
    for old, salt in salts.items():
        digests = {digest_of(key, salt): key for key in keys}
        known.update((digests[digest], amount) for digest, amount in log.amounts(old, digests).items())
    taken = list[int | AfterglowError]()
    new = dict[bytes, int]()
    for batch in given:
        if isinstance(batch, AfterglowError):
            taken.append(batch)
            continue
        try:
            fresh = unknown(batch, known)
        except Conflict as refused:
            taken.append(refused)
            continue
        known.update(fresh)
        new.update(fresh)
        taken.append(len(fresh))
    log.put_rewards(step, sorted((digest_of(key, present), amount) for key, amount in new.items()))
    return taken


def unknown(batch: Batch, known: dict[bytes, int]) -> dict[bytes, int]:
    """The rewards of a batch that are new; one whose key came with another amount is refused."""
    fresh = dict[bytes, int]()
    for key, amount in batch:
        before = known.get(key)
        if before is None:
            before = fresh.setdefault(key, amount)
        if before != amount:
            raise Conflict(
                f"{argument('key')} {key.decode()!r} came with amount {units(before):,g} before, now with "
                f"{units(amount):,g}; a new reward needs a key of its own",
                kind="key-reused",
                field="key",
            )
    return fresh


def readable(spec: Spec, rewards: Sequence[tuple[object, object]]) -> Batch | AfterglowError:
    """Keys and amounts in micro-units, or why the whole batch is refused."""
    most = spec.most
    try:
        return [(checked(key), micros("amount", amount, most)) for key, amount in rewards]
    except BadValue as refused:
        return refused


def checked(key: object) -> bytes:
    if isinstance(key, str) and 0 < len(key) <= LONGEST:
        try:
            return key.encode()
        except UnicodeEncodeError:  # half of a pair of surrogates
            pass
    raise BadValue(
        f"{argument('key')} must be a random string of 1 to {LONGEST} characters, such as a UUID, got {key!r}"
    )


def digest_of(key: bytes, salt: bytes) -> bytes:
    return blake2b(key, key=salt, digest_size=16).digest()
