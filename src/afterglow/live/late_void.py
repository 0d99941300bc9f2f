"""Void steps that were learned, by a replay of the log outside the transaction.

Replaying a million steps takes about ten seconds. So the log is read in batches while the experiment continues; the
transaction that appends the result reads only the records added since. If others have voided steps in between, the
replay begins again.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from afterglow.live.domain.commands import Voided
from afterglow.live.domain.log import Record, read_body
from afterglow.live.domain.replay import REVISING
from afterglow.live.domain.rules import rules_of
from afterglow.live.domain.spec import Spec, read_spec
from afterglow.live.store.contract import Reading, Store

BATCH = 1000  # records read at once


def voiding(log: Reading) -> Iterator[Record]:
    """All records of commands that have voided steps."""
    for kind in REVISING:
        yield from log.records(kind=kind)


class VoidCost(NamedTuple):
    """Steps that the policy has learned from, and how many of them it would lose."""

    learned: int
    lost: int


class LateVoid:
    """`prepare` outside any transaction, then `follows` inside the one that needs it."""

    def __init__(self, spec: Spec, gone: Voided) -> None:
        self.spec = spec
        self.gone = gone

    def prepare(self, store: Store) -> None:
        with store.reading(self.spec.name) as log:
            self.known = log.head().seq
            created = read_spec(next(iter(log.records(count=1))).body)
            self.replay = rules_of(created).replay(created, voiding(log), [self.gone])
        self.seq = -1
        while True:
            with store.reading(self.spec.name) as log:
                batch = list(log.records(self.seq, BATCH))
            if not batch or not all(map(self.take, batch)):
                return

    def take(self, record: Record) -> bool:
        """Replay a record; False if it voids steps that this replay has not left out."""
        if record.seq > self.known and record.kind in REVISING:
            return False
        self.replay.take(record.kind, read_body(record.body))
        self.seq = record.seq
        return True

    def follows(self, log: Reading) -> dict[str, Any] | None:
        """The state without the steps; None if it has to be prepared again."""
        return self.replay.follows() if all(map(self.take, log.records(self.seq))) else None
