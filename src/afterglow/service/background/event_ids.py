"""Ids of events in a stream: where its reader goes on after an interruption.

An id has the place in every log of the stream. With more than `MOST` experiments it names the newest places only, and
of all others what they have in common: how many they are, how many records they have, and a time after which none of
them had any. A reader that goes on gets what is later. If the others have another number of records up to that time,
records were lost or added behind its back, and it is told so for each of them. The id of a reader of some experiments
has a mark of which they are: only a reader of the same ones can compare.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Mapping
from hashlib import sha256
from itertools import islice
from typing import Annotated

import msgspec

from afterglow.errors import BadValue, argument
from afterglow.live import Experiments
from afterglow.live.domain.log import BEGINNING, Place

MOST = 200  # experiments in an id: it has to fit into a header
MARGIN = 2000  # milliseconds by which records may be read out of order
OTHERS = ""  # instead of a name
MARK = 6  # bytes of a hash in an id
COUNT = 4  # of these, for the others, their number
Number = Annotated[int, msgspec.Meta(ge=-1, le=2**53 - 1)]


class Places(dict[str, Place]):
    """The last record of each experiment; those that `move` has changed come last."""

    def __init__(self, places: Mapping[str, Place], only: Collection[str] | None = None) -> None:
        super().__init__(sorted(places.items(), key=lambda one: one[1].at))
        self.choice = choice_mark(only)
        self.records = sum(place.seq + 1 for place in self.values())

    def move(self, name: str, place: Place) -> None:
        self.records += place.seq - self.pop(name, BEGINNING).seq
        self[name] = place

    def named(self) -> Mapping[str, Place]:
        """The places that an id has."""
        if len(self) <= MOST:
            return self
        since = max(place.at for place in islice(reversed(self.values()), MOST)) - MARGIN
        found = dict[str, Place]()
        for name in islice(reversed(self), 2 * MOST):
            if len(found) == MOST:
                since = max(since, self[name].at)
                break
            if self[name].at > since:
                found[name] = self[name]
        records = self.records - sum(place.seq + 1 for place in found.values())
        return found | {OTHERS: Place(records, since, (len(self) - len(found)).to_bytes(COUNT) + self.choice)}


def choice_mark(only: Collection[str] | None) -> bytes:
    """A mark of the experiments that a reader has chosen or may read; empty for all."""
    return b"" if only is None else sha256(msgspec.json.encode(sorted(only))).digest()[: MARK - COUNT]


class Position(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A place in a log as an id has it."""

    seq: Number
    at: Number
    mark: str  # hexadecimal

    def place(self) -> Place:
        return Place(self.seq, self.at, bytes.fromhex(self.mark))


POSITIONS = msgspec.json.Decoder(dict[str, Position])
NUMBERS = msgspec.json.Decoder(dict[str, Number])  # as in release 0.1


def cursor(seen: Places) -> bytes:
    """The id of an event: the place in every log of the stream."""
    named = {name: (seq, at, mark[:MARK].hex()) for name, (seq, at, mark) in seen.named().items()}
    return urlsafe_b64encode(msgspec.json.encode(named))


def positions(text: str) -> dict[str, Place]:
    """The places that an id has."""
    try:
        sent = urlsafe_b64decode(text)
        try:
            return {name: Place(seq, 0, b"") for name, seq in NUMBERS.decode(sent).items()}
        except msgspec.ValidationError:
            return {name: one.place() for name, one in POSITIONS.decode(sent).items()}
    except (ValueError, msgspec.MsgspecError) as error:
        raise BadValue(f"{argument('Last-Event-ID')} must be the id of an event of this stream") from error


def resumed(
    experiments: Experiments, named: Mapping[str, Place], only: Collection[str] | None
) -> tuple[Places, list[str]]:
    """Where a reader goes on, and the experiments that it may have lost records of."""
    known = {name: place for name, place in named.items() if name != OTHERS and (only is None or name in only)}
    others = named.get(OTHERS)
    if others is None:
        return Places(known, only), []
    found = dict[str, Place]()
    for name, head in experiments.places().items():
        if name not in known and (only is None or name in only):
            place = head if head.at <= others.at else experiments.place_before(name, others.at + 1)
            if place.seq >= 0:
                found[name] = place
    if others.hash[COUNT:] != choice_mark(only):
        return Places(known | found, only), []
    count, records = int.from_bytes(others.hash[:COUNT]), sum(place.seq + 1 for place in found.values())
    lost = len(found) < count or (len(found) == count and records != others.seq)
    return Places(known | found, only), list(found) if lost else []
