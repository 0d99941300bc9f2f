"""The log of an experiment: all events in order, chained by hashes.

A record's hash covers the hash before it, so nothing can be changed, left out or put in between without changing all
that follow. Bodies are JSON in its plainest writing; what is hashed is the text as it is stored.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

Body = Mapping[str, Any]  # of a record, as it is read
NOTHING = bytes(32)  # the hash before the first record


class Record(NamedTuple):
    seq: int  # 0, 1, 2, …
    at: int  # milliseconds since 1970, by the clock of the experiment
    kind: str
    body: str
    hash: bytes


class Place(NamedTuple):
    """The place of a record in a log: two logs that have the same place have the same records up to it."""

    seq: int  # -1 before the first
    at: int
    hash: bytes

    def is_of(self, record: Record) -> bool:
        """Whether a record is the one at this place; of its hash a beginning is enough."""
        return record.seq == self.seq and record.hash.startswith(self.hash)

    def is_at(self, other: "Place") -> bool:
        """Whether another place is the same; of this one's hash a beginning is enough."""
        return other.seq == self.seq and other.hash.startswith(self.hash)


BEGINNING = Place(-1, 0, NOTHING)


DECODE = json.JSONDecoder().raw_decode


def read_body(body: str) -> dict[str, Any]:
    """The values of a body, which has no space around it."""
    values: dict[str, Any] = DECODE(body)[0]
    return values


def body_of(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"), sort_keys=True, allow_nan=False)


def chained(before: bytes, seq: int, at: int, kind: str, body: str) -> bytes:
    """The hash of a record."""
    return sha256(before + f"{seq}\n{at}\n{kind}\n{body}".encode()).digest()
