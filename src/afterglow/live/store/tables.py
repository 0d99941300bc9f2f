"""One experiment in the tables of a database, within a transaction."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from afterglow.live.domain.log import BEGINNING, Place, Record
from afterglow.live.domain.step_rows import StepRow, StepRun
from afterglow.live.store.contract import KeptReward, Raced, Snapshot, Span
from afterglow.live.store.session import Row, Session

LOW = 0xFFFF_FFFF
ALL = 1 << 62  # more than any LIMIT
RECORD = partial(tuple.__new__, Record)  # as `_make`, without a call in Python for each row
STEP = partial(tuple.__new__, StepRow)
LAST = len(StepRow._fields)  # place of `last_step` in a row of the table


def repeated(row: Row, first: int) -> Iterator[StepRow]:
    """The steps that a row stands for, from a step on."""
    for step in range(max(row[0], first), row[LAST] + 1):
        yield STEP((step, *row[1:LAST]))


def by_series(rewards: Sequence[KeptReward]) -> Iterable[tuple[int, list[int]]]:
    """The amounts of each series, in the order of series: all writers then lock sums in the same order."""
    found = dict[int, list[int]]()
    for _, amount, series in rewards:
        found.setdefault(series, []).append(amount)
    return sorted(found.items())


class TableLog:
    """`Reading` and `Writing` for both databases."""

    HEAD = "SELECT seq, at, hash FROM events WHERE experiment = ? ORDER BY seq DESC LIMIT 1"
    SPANS = "SELECT span, salt, first_step, began FROM spans WHERE experiment = ? ORDER BY span"

    def __init__(
        self,
        session: Session,
        number: int,
        writer: str = "",
        head: Sequence[Row] | None = None,
        spans: Sequence[Row] | None = None,
    ) -> None:
        self.session = session
        self.number = number
        self.writer = writer  # adds up rewards on its own, so that writers don't wait for each other
        self.known_head, self.known_spans = head, spans  # if they were read before anything else

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
        """A row that stands for many steps is given once for each of them."""
        return islice(self.all_steps(first, ALL if count is None else count), count)

    def all_steps(self, first: int, count: int) -> Iterator[StepRow]:
        for row in self.stored_rows(first, count):
            if row[LAST] is None:
                yield STEP(row[:LAST])
            else:
                yield from repeated(row, first)

    def step_runs(self, first: int = 0, count: int | None = None) -> Iterator[StepRun]:
        end = ALL if count is None else first + count
        for row in self.stored_rows(first, ALL if count is None else count):
            begin, last = max(row[0], first), min(row[0] if row[LAST] is None else row[LAST], end - 1)
            if begin > last:
                return
            yield StepRun(STEP((begin, *row[1:LAST])), last)

    def stored_rows(self, first: int, count: int) -> Iterator[Row]:
        """Rows of the table, beginning with the one that has the step `first`."""
        columns = "step, served, planned, role, total, void, series, last_step"
        before = f"SELECT {columns} FROM steps WHERE experiment = ? AND step < ? ORDER BY step DESC LIMIT 1"
        query = f"SELECT {columns} FROM steps WHERE experiment = ? AND step >= ? ORDER BY step LIMIT ?"
        earlier = self.session.row(before, self.number, first) if first else None
        begun = [earlier] if earlier is not None and earlier[LAST] is not None and earlier[LAST] >= first else []
        # no generator: `yield from` would close the cursor with it, which fails once the database is closed
        return chain(begun, self.session.rows(query, self.number, first, count, long=count == ALL))

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

    def reported(self, step: int) -> dict[int, tuple[int, int]]:
        query = (  # in halves: the whole may need more than 64 bits
            "SELECT series, CAST(sum(reports) AS BIGINT), CAST(sum(high) AS BIGINT), CAST(sum(low) AS BIGINT) "
            "FROM sums WHERE experiment = ? AND step = ? GROUP BY series ORDER BY series"
        )
        found = self.session.rows(query, self.number, step)
        return {series: (count, (high << 32) + low) for series, count, high, low in found}

    def recounted(self) -> dict[int, dict[int, tuple[int, int]]]:
        query = (
            "SELECT step, series, count(*), CAST(sum(amount >> 32) AS BIGINT), "
            "CAST(sum(amount & 4294967295) AS BIGINT) FROM rewards WHERE experiment = ? GROUP BY step, series"
        )
        found = dict[int, dict[int, tuple[int, int]]]()
        for step, series, count, high, low in self.session.rows(query, self.number):
            found.setdefault(step, {})[series] = (count, (high << 32) + low)
        return found

    def spans(self) -> list[Span]:
        found = self.session.rows(self.SPANS, self.number) if self.known_spans is None else self.known_spans
        return [Span(number, bytes(salt), first, began) for number, salt, first, began in found]

    def amounts(self, span: int, digests: Collection[bytes]) -> dict[bytes, tuple[int, int]]:
        found = self.session.find_rewards(self.number, span, digests)
        return {digest: (amount, series) for digest, amount, series in found}

    def append(self, records: Iterable[Record]) -> None:
        self.known_head = None
        rows = ((self.number, *one) for one in records)
        self.session.run_many(
            "INSERT INTO events (experiment, seq, at, kind, body, hash) VALUES (?, ?, ?, ?, ?, ?)", rows
        )

    def put_steps(self, rows: Iterable[StepRow]) -> None:
        self.session.run_many(
            "INSERT INTO steps (experiment, step, served, planned, role, total, void, series) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((self.number, *row) for row in rows),
        )

    def repeat_step(self, row: StepRow, count: int) -> None:
        self.session.run(
            "INSERT INTO steps (experiment, step, served, planned, role, total, void, series, last_step) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self.number, *row, row.step + count - 1,
        )  # fmt: skip

    def end_step(self, step: int, total: int, role: str, void: int, series: str | None = None) -> None:
        statement = "UPDATE steps SET total = ?, role = ?, void = ?, series = ? WHERE experiment = ? AND step = ?"
        self.session.run(statement, total, role, int(void), series, self.number, step)

    def void_steps(self, first: int, last: int) -> None:
        statement = "UPDATE steps SET void = 1 WHERE experiment = ? AND step BETWEEN ? AND ?"
        self.session.run(statement, self.number, first, last)

    def put_series(self, series: Iterable[tuple[int, str]]) -> None:
        statement = "UPDATE steps SET series = ? WHERE experiment = ? AND step = ?"
        self.session.run_many(statement, ((text, self.number, step) for step, text in series))

    def spoil_step(self, step: int, served: int, role: str) -> None:
        statement = "UPDATE steps SET served = ?, role = ?, void = 1 WHERE experiment = ? AND step = ?"
        self.session.run(statement, served, role, self.number, step)

    def put_snapshot(self, snapshot: Snapshot) -> None:
        statement = 'INSERT INTO snapshots (experiment, seq, step, state, "check") VALUES (?, ?, ?, ?, ?)'
        self.session.run(statement, self.number, *snapshot)

    def put_span(self, span: Span) -> None:
        statement = (
            "INSERT INTO spans (experiment, span, salt, first_step, began) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING"
        )
        self.session.run(statement, self.number, *span)
        self.known_spans = None

    def put_rewards(self, span: int, step: int, rewards: Sequence[KeptReward]) -> None:
        if not rewards:
            return
        if self.session.add_rewards(self.number, span, step, rewards) < len(rewards):
            raise Raced("a digest was there already")
        statement = (
            "INSERT INTO sums (experiment, step, series, writer, reports, high, low) VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (experiment, step, series, writer) DO UPDATE SET reports = sums.reports + excluded.reports, "
            "high = sums.high + excluded.high, low = sums.low + excluded.low"
        )
        for series, amounts in by_series(rewards):
            high, low = sum(amount >> 32 for amount in amounts), sum(amount & LOW for amount in amounts)
            self.session.run(statement, self.number, step, series, self.writer, len(amounts), high, low)

    def forget(self, before: int) -> bool:
        self.known_spans = None
        if not self.session.run("DELETE FROM spans WHERE experiment = ? AND span < ?", self.number, before):
            return False  # where there is no salt there is no digest
        self.session.run("DELETE FROM rewards WHERE experiment = ? AND span < ?", self.number, before)
        return True

    def drop_sums(self, before: int) -> None:
        self.session.run("DELETE FROM sums WHERE experiment = ? AND step < ?", self.number, before)
