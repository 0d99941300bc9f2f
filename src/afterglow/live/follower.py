"""A copy of an experiment's state that follows its log."""

from hashlib import sha256
from typing import Any

from afterglow.errors import BadDatabase, BadFormat
from afterglow.live.damaged_rows import naming_damaged_rows
from afterglow.live.domain.commands import Event
from afterglow.live.domain.expected import GivenTotals
from afterglow.live.domain.log import NOTHING, Place, Record, body_of, chained, read_body
from afterglow.live.domain.rules import Rules, rules_of
from afterglow.live.domain.spec import Spec, read_spec
from afterglow.live.domain.state import WAITING, Role
from afterglow.live.domain.step_rows import (
    Change,
    MissedRows,
    OpenRow,
    SeriesRow,
    SpoiledRow,
    VoidRows,
    VoidUnits,
)
from afterglow.live.domain.transitions import lengthened, spec_after
from afterglow.live.domain.units.rows import voided_row
from afterglow.live.domain.versions import computed_now
from afterglow.live.reward_keys import rotate
from afterglow.live.store.contract import Reading, Snapshot, Writing
from afterglow.live.voided_steps import VoidedSteps

EVERY = 1000  # records between snapshots, more where they are large
MANY = 100  # records that are read and replayed while others may have to wait
ALL = 1 << 62  # more records than any log has
ALL_SPANS = 1 << 62  # a number that no span has
BYTES = 50  # of snapshots for each record
ACCEPT = "accept_clock"  # the event from which on records may have earlier times than before

NO_RECORD = Record(-1, 0, "", "", b"")


class Diverged(Exception):
    """The log has lost or replaced records that this process has seen: it is to be read again from its beginning."""

    def __init__(self, known: Place, head: Place) -> None:
        self.known = known
        self.head = head


class FarBehind(Exception):
    """The log has many records that this process has not read: it is to be read aside, where nobody waits."""


class Follower:
    """The state after record `seq`. `follow` reads on, `happen` adds records."""

    spec: Spec
    rules: Rules
    state: Any  # as the rules make it

    def __init__(self, name: str) -> None:
        self.name = name
        self.forget()

    def forget(self) -> None:
        """Start again: this copy has a change that was not committed."""
        self.seq, self.hash, self.latest = -1, NOTHING, 0
        self.kept_seq = self.kept_size = 0  # of the last snapshot
        self.dirty = False
        self.accepted = -1  # the last record that accepted the clock
        self.voided = VoidedSteps()
        self.told, self.told_until = (
            GivenTotals(),
            -1,
        )  # expected totals, and the last record that was searched for them

    def follow(self, log: Reading, most: int = ALL) -> None:
        """Read on; `FarBehind` if there are more than `most` records to replay."""
        with naming_damaged_rows(self.name):
            self.read_on(log, most)

    def read_on(self, log: Reading, most: int = ALL) -> None:
        """Apply records that others, or an earlier process, have added; `Diverged` if the log is not the one followed.

        The last record that this copy has must still be in the log, with the same hash.
        """
        head = log.head()
        if (head.seq, head.hash) == (self.seq, self.hash):
            return
        records = log.records(max(self.seq - 1, -1))
        if self.seq < 0:
            self.begin(log)
            records = log.records(self.seq)
        elif not self.place().is_of(next(records, NO_RECORD)):
            raise Diverged(self.place(), head)
        if head.seq - self.seq > most:
            raise FarBehind
        for record in records:
            self.take(record)

    def place(self) -> Place:
        return Place(self.seq, self.latest, self.hash)

    def begin(self, log: Reading, step: int | None = None) -> None:
        """Read the spec and the last snapshot; the last one of at most a step.

        A snapshot of an earlier version is checked and left out: the state is computed again from the log.
        """
        first = next(log.records(count=1), None)
        if first is None or first.kind != "create":
            raise BadDatabase(f"the log of {self.name!r} doesn't begin with its creation; go back to a backup")
        self.spec = read_spec(first.body)
        self.rules = rules_of(self.spec)
        if self.spec.name != self.name:
            raise BadDatabase(f"the log of {self.name!r} is that of {self.spec.name!r}; go back to a backup")
        snapshot = log.snapshot(step)
        if snapshot is None:
            self.state = self.rules.initial(self.spec)
            return
        record = next(log.records(snapshot.seq - 1, 1), None)
        if record is None or snapshot.check != check(record.hash, snapshot.state):
            raise BadDatabase(f"snapshot {snapshot.seq:,} of {self.name!r} was changed; go back to a backup")
        if not computed_now(snapshot.state):
            self.state = self.rules.initial(self.spec)
            return
        self.restore(snapshot.state)
        self.seq, self.hash, self.latest = record.seq, record.hash, record.at
        self.kept_seq, self.kept_size = snapshot.seq, len(snapshot.state)

    def restore(self, text: str) -> None:
        """Go on from a snapshot."""
        self.state = self.rules.restored(self.spec, text)
        self.spec = lengthened(self.spec, self.state.lengthened)

    def take(self, record: Record) -> None:
        """Apply one record, if it continues the chain."""
        seq, at, kind, body, mark = record
        if seq != self.seq + 1 or chained(self.hash, seq, at, kind, body) != mark:
            raise BadDatabase(
                f"record {seq:,} of {self.name!r} doesn't follow from the one before; go back to a backup"
            )
        try:
            values = read_body(body)
            self.rules.apply(self.spec, self.state, kind, values)
            self.spec = spec_after(self.spec, kind, values)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, BadFormat):
                raise
            raise BadDatabase(
                f"record {seq:,} of {self.name!r} can't be read: {error!r}; go back to a backup"
            ) from error
        self.seq, self.hash, self.latest = seq, mark, max(at, self.latest)
        if kind == ACCEPT:
            self.accepted, self.latest = seq, at

    def happen(self, log: Writing, at: int, events: list[Event]) -> bool:
        """Add events to the log and the state; whether keys were erased on the way."""
        begun = self.state.step
        for kind, values in events:
            self.dirty = True
            body = body_of(values)
            mark = chained(self.hash, self.seq + 1, at, kind, body)
            log.append([Record(self.seq + 1, at, kind, body, mark)])
            before = self.state.step
            made = list(self.rules.changes(self.spec, self.state, kind, values))
            self.rules.apply(self.spec, self.state, kind, values)
            self.spec = spec_after(self.spec, kind, values)
            if self.state.phase != "over" and (kind == "start" or self.state.step > before):
                made.append(self.rules.opened(self.spec, self.state))
            write(log, made)
            self.seq, self.hash, self.latest = self.seq + 1, mark, at
        if not events:
            return False
        self.keep(log)
        step = self.state.step
        if self.state.phase == "over":
            log.drop_sums(step + 1)
            return log.forget(ALL_SPANS)
        if step == begun:
            return False
        log.drop_sums(step)
        return rotate(log, self.spec, step, at)

    def keep(self, log: Writing) -> None:
        """Store a snapshot if the last one is long ago."""
        if self.seq - self.kept_seq >= max(EVERY, self.kept_size // BYTES):
            text = self.state.text()
            log.put_snapshot(Snapshot(self.seq, self.state.step, text, check(self.hash, text)))
            self.kept_seq, self.kept_size = self.seq, len(text)

    def replay_until(self, log: Reading, step: int) -> None:
        """The state in which the variant of a step was decided; this copy must be new."""
        self.begin(log, step - 1)
        for record in log.records(self.seq):
            self.take(record)
            if self.state.step == step and self.state.phase not in WAITING:
                break


def write(log: Writing, made: list[Change]) -> None:
    """Change the rows of steps."""
    for one in made:
        if isinstance(one, OpenRow):
            log.put_steps([one.row()])
        elif isinstance(one, MissedRows):
            log.repeat_step(*one)
        elif isinstance(one, VoidRows):
            log.void_steps(*one)
        elif isinstance(one, SeriesRow):
            log.put_series([one])
        elif isinstance(one, VoidUnits):
            void_units(log, one)
        elif isinstance(one, SpoiledRow):
            log.spoil_step(*one, str(Role.EMERGENCY))
        else:
            log.end_step(*one)


def void_units(log: Writing, change: VoidUnits) -> None:
    """Mark steps as void for some units, and as a whole where they are for all."""
    rows = [row for row, _ in log.step_runs(change.first, change.last - change.first + 1) if not row.void]
    made = [voided_row(row, change.units) for row in rows]
    log.put_series([(row.step, row.series or "") for row in made])
    for row in made:
        if row.void:
            log.void_steps(row.step, row.step)


def check(mark: bytes, state: str) -> bytes:
    """A digest of a snapshot and its place in the log."""
    return sha256(mark + state.encode()).digest()
