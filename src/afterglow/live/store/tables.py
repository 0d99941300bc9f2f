"""One experiment in the tables of a database, within a transaction."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from afterglow.live.domain.log import BEGINNING, Place, Record
from afterglow.live.domain.step_rows import StepRow
from afterglow.live.store.contract import Raced, Snapshot
from afterglow.live.store.session import Row, Session

AT_ONCE = 100_000  # rows that a statement makes, so that each is answered in seconds
ALL = 1 << 62  # more than any LIMIT
RECORD = partial(tuple.__new__, Record)  # as `_make`, without a call in Python for each row
STEP = partial(tuple.__new__, StepRow)


class TableLog:
    """`Reading` and `Writing` for both databases."""

    HEAD = "SELECT seq, at, hash FROM events WHERE experiment = ? ORDER BY seq DESC LIMIT 1"
    SALTS = "SELECT step, salt FROM salts WHERE experiment = ?"

    def __init__(
        self, session: Session, number: int, head: Sequence[Row] | None = None, salts: Sequence[Row] | None = None
    ) -> None:
        self.session = session
        self.number = number
        self.known_head, self.known_salts = head, salts  # if they were read before anything else

    def head(self) -> Place:
        found = self.session.rows(self.HEAD, self.number) if self.known_head is None else self.known_head
        return next((Place(seq, at, bytes(mark)) for seq, at, mark in found), BEGINNING)

    def last_before(self, at: int) -> int:
        query = "SELECT coalesce(max(seq), -1) FROM events WHERE experiment = ? AND at < ?"
        (seq,) = self.session.row(query, self.number, at) or (-1,)
        return int(seq)

    def records(self, after: int = -1, count: int | None = None, kind: str | None = None) -> Iterator[Record]:
        only, values = ("", ()) if kind is None else ("AND kind = ?", (kind,))
        query = (
            f"SELECT seq, at, kind, body, hash FROM events WHERE experiment = ? AND seq > ? {only} ORDER BY seq LIMIT ?"
        )
        limit = ALL if count is None else count
        return map(RECORD, self.session.rows(query, self.number, after, *values, limit, long=count is None))

    def steps(self, first: int = 0, count: int | None = None) -> Iterator[StepRow]:
        query = (
            "SELECT step, served, planned, role, total, void FROM steps "
            "WHERE experiment = ? AND step >= ? ORDER BY step LIMIT ?"
        )
        limit = ALL if count is None else count
        return map(STEP, self.session.rows(query, self.number, first, limit, long=count is None))

    def snapshot(self, step: int | None = None) -> Snapshot | None:
        query = (
            'SELECT seq, step, state, "check" FROM snapshots WHERE experiment = ? AND step <= ? '
            "ORDER BY seq DESC LIMIT 1"
        )
        found = self.session.row(query, self.number, ALL if step is None else step)
        return Snapshot._make(found) if found else None

    def snapshots(self) -> Iterator[Snapshot]:
        query = 'SELECT seq, step, state, "check" FROM snapshots WHERE experiment = ? ORDER BY seq'
        return map(Snapshot._make, self.session.rows(query, self.number, long=True))

    def reported(self, step: int) -> tuple[int, int]:
        query = (  # in halves: the whole may need more than 64 bits
            "SELECT count(*), CAST(coalesce(sum(amount >> 32), 0) AS BIGINT), "
            "CAST(coalesce(sum(amount & 4294967295), 0) AS BIGINT) FROM rewards WHERE experiment = ? AND step = ?"
        )
        count, high, low = self.session.row(query, self.number, step) or (0, 0, 0)
        return count, (high << 32) + low

    def salts(self, first: int = 0) -> dict[int, bytes]:
        found = self.session.rows(self.SALTS, self.number) if self.known_salts is None else self.known_salts
        return {step: salt for step, salt in found if step >= first}

    def amounts(self, step: int, digests: Collection[bytes]) -> dict[bytes, int]:
        found = self.session.find_rewards(self.number, step, digests)
        return dict(found)

    def append(self, records: Iterable[Record]) -> None:
        self.known_head = None
        rows = ((self.number, *one) for one in records)
        self.session.run_many(
            "INSERT INTO events (experiment, seq, at, kind, body, hash) VALUES (?, ?, ?, ?, ?, ?)", rows
        )

    def put_steps(self, rows: Iterable[StepRow]) -> None:
        self.session.run_many(
            "INSERT INTO steps (experiment, step, served, planned, role, total, void) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((self.number, *row) for row in rows),
        )

    def repeat_step(self, row: StepRow, count: int) -> None:
        statement = (
            "INSERT INTO steps (experiment, step, served, planned, role, total, void) "
            "WITH RECURSIVE more (step) AS ("
            "SELECT CAST(? AS BIGINT) UNION ALL SELECT step + 1 FROM more WHERE step + 1 < ?"
            ") SELECT ?, step, ?, ?, ?, ?, ? FROM more"
        )
        end = row.step + count
        for first in range(row.step, end, AT_ONCE):
            self.session.run(statement, first, min(first + AT_ONCE, end), self.number, *row[1:])

    def end_step(self, step: int, total: int, role: str, void: int) -> None:
        statement = "UPDATE steps SET total = ?, role = ?, void = ? WHERE experiment = ? AND step = ?"
        self.session.run(statement, total, role, int(void), self.number, step)

    def void_steps(self, first: int, last: int) -> None:
        statement = "UPDATE steps SET void = 1 WHERE experiment = ? AND step BETWEEN ? AND ?"
        self.session.run(statement, self.number, first, last)

    def spoil_step(self, step: int, served: int, role: str) -> None:
        statement = "UPDATE steps SET served = ?, role = ?, void = 1 WHERE experiment = ? AND step = ?"
        self.session.run(statement, served, role, self.number, step)

    def put_snapshot(self, snapshot: Snapshot) -> None:
        statement = 'INSERT INTO snapshots (experiment, seq, step, state, "check") VALUES (?, ?, ?, ?, ?)'
        self.session.run(statement, self.number, *snapshot)

    def put_salt(self, step: int, salt: bytes) -> bytes:
        statement = "INSERT INTO salts (experiment, step, salt) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        self.session.run(statement, self.number, step, salt)
        self.known_salts = None
        return self.salts(step)[step]

    def put_rewards(self, step: int, rewards: Sequence[tuple[bytes, int]]) -> None:
        if rewards and self.session.add_rewards(self.number, step, rewards) < len(rewards):
            raise Raced("a digest was there already")

    def forget(self, before: int) -> bool:
        self.known_salts = None
        if not self.session.run("DELETE FROM salts WHERE experiment = ? AND step < ?", self.number, before):
            return False  # where there is no salt there is no digest
        self.session.run("DELETE FROM rewards WHERE experiment = ? AND step < ?", self.number, before)
        return True
