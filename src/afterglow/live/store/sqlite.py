"""Experiments in one SQLite file: the standard library's, write-ahead log, every commit on the disk."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from weakref import finalize

from afterglow.errors import BadDatabase, BadValue, Conflict, OutOfTurn, UnknownName
from afterglow.live.log import NOTHING, Record
from afterglow.live.store import schema
from afterglow.live.store.contract import Snapshot, StepRow
from afterglow.live.store.writer import Writer

PATIENCE = 30.0  # seconds to wait for another's lock
GLANCE = 0.05  # where it can be done later


class SqliteStore:
    """One connection; calls from several threads take turns."""

    def __init__(self, path: str | Path, read_only: bool = False) -> None:
        self.path = Path(path)
        self.turn = RLock()
        self.process = os.getpid()
        self.read_only = read_only
        self.alone = not read_only  # nobody else writes
        if read_only and not self.path.exists():
            raise BadValue(f"{path} doesn't exist, so there is nothing to read; open it without read_only to create it")
        self.writer = None if read_only else Writer(self.path)
        try:
            self.base = connect(self.path, read_only)
            prepare(self.base, self.path, read_only)
            if not read_only:
                self.tidy()  # an earlier process may have been killed before it could
            self.closing = finalize(self, let_go, self.base, self.writer, self.process)  # also when nobody calls close
        except BaseException:
            if self.writer:
                self.writer.release()
            raise

    def names(self) -> list[str]:
        with self.turn:
            return [name for (name,) in self.base.execute("SELECT name FROM experiments ORDER BY id")]

    @contextmanager
    def creating(self, name: str) -> Iterator["SqliteLog"]:
        with self.transaction("BEGIN IMMEDIATE"):
            try:
                made = self.base.execute("INSERT INTO experiments (name) VALUES (?)", (name,))
            except sqlite3.IntegrityError as error:
                raise Conflict(f"there is an experiment named {name!r} already; take another name") from error
            yield SqliteLog(self.base, int(made.lastrowid or 0))

    @contextmanager
    def reading(self, name: str) -> Iterator["SqliteLog"]:
        with self.transaction("BEGIN"):
            yield self.log(name)

    @contextmanager
    def writing(self, name: str) -> Iterator["SqliteLog"]:
        with self.transaction("BEGIN IMMEDIATE"):
            yield self.log(name)

    reporting = writing  # one connection, one at a time

    @contextmanager
    def transaction(self, begin: str) -> Iterator[None]:
        with self.turn:
            if self.read_only and begin != "BEGIN":
                raise OutOfTurn(f"{self.path} was opened to read only; open it without read_only to change it")
            if self.process != os.getpid():
                raise OutOfTurn(
                    f"{self.path} was opened by process {self.process}, which forked; open it in each process"
                )
            self.base.execute(begin)
            try:
                yield
            except BaseException:
                self.base.execute("ROLLBACK")
                raise
            self.base.execute("COMMIT")

    def log(self, name: str) -> "SqliteLog":
        found = self.base.execute("SELECT id FROM experiments WHERE name = ?", (name,)).fetchone()
        if found is None:
            known = self.names()
            raise UnknownName("experiment", name, known, f"there are {', '.join(known)}" if known else "there is none")
        return SqliteLog(self.base, found[0])

    def tidy(self) -> bool:
        """Empty the write-ahead log, which has copies of what was deleted; a reader at work delays that."""
        with self.turn:
            self.base.execute(f"PRAGMA busy_timeout = {round(1000 * GLANCE)}").fetchall()
            ((busy, _, _),) = self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self.base.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}").fetchall()
            return not busy

    def backup(self, path: str | Path) -> None:
        copy = Path(path)
        if copy.exists():
            raise BadValue(f"{copy} exists; name a new file for the backup")
        target = sqlite3.connect(copy)
        try:
            with self.turn:
                self.base.backup(target)
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            target.close()

    def close(self) -> None:
        with self.turn:
            self.closing()


def let_go(base: sqlite3.Connection, writer: Writer | None, process: int) -> None:
    if process != os.getpid():
        return  # a fork has no business with it
    base.close()
    if writer:
        writer.release()


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    base = sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    try:
        if not read_only:
            base.execute("PRAGMA journal_mode = WAL").fetchall()
            base.execute("PRAGMA synchronous = FULL")
            base.execute("PRAGMA secure_delete = ON").fetchall()
        base.execute("PRAGMA foreign_keys = ON")
    except sqlite3.DatabaseError as error:
        base.close()
        raise BadDatabase(f"{path} can't be used as a database: {error}") from error
    return base


def prepare(base: sqlite3.Connection, path: Path, read_only: bool) -> None:
    """Create the tables in an empty file; refuse any other layout than this release's."""
    try:
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        base.close()
        raise BadDatabase(f"{path} can't be used as a database: {error}") from error
    if not tables and not read_only:
        base.execute("BEGIN IMMEDIATE")
        for statement in schema.TABLES:
            base.execute(statement)
        base.execute("INSERT INTO afterglow_schema VALUES (?)", (schema.VERSION,))
        base.execute("COMMIT")
        return
    if "afterglow_schema" not in tables:
        base.close()
        raise BadDatabase(f"{path} holds something else than Afterglow's experiments; name another file")
    (version,) = base.execute("SELECT max(version) FROM afterglow_schema").fetchone()
    try:
        schema.refuse_other(version, str(path))
    except BadDatabase:
        base.close()
        raise


class SqliteLog:
    """One experiment within a transaction."""

    def __init__(self, base: sqlite3.Connection, number: int) -> None:
        self.base = base
        self.number = number

    def head(self) -> tuple[int, bytes]:
        query = "SELECT seq, hash FROM events WHERE experiment = ? ORDER BY seq DESC LIMIT 1"
        found = self.base.execute(query, (self.number,)).fetchone()
        return (found[0], found[1]) if found else (-1, NOTHING)

    def records(self, after: int = -1, count: int | None = None, kind: str | None = None) -> Iterator[Record]:
        only = "" if kind is None else "AND kind = ?"
        query = (
            f"SELECT seq, at, kind, body, hash FROM events WHERE experiment = ? AND seq > ? {only} ORDER BY seq LIMIT ?"
        )
        given = (self.number, after, *([] if kind is None else [kind]), -1 if count is None else count)
        return map(Record._make, self.base.execute(query, given))

    def steps(self, first: int = 0, count: int | None = None) -> Iterator[StepRow]:
        query = (
            "SELECT step, served, planned, role, total, void FROM steps "
            "WHERE experiment = ? AND step >= ? ORDER BY step LIMIT ?"
        )
        return map(StepRow._make, self.base.execute(query, (self.number, first, -1 if count is None else count)))

    def snapshot(self, step: int | None = None) -> Snapshot | None:
        most = (1 << 62) if step is None else step
        query = (
            'SELECT seq, step, state, "check" FROM snapshots WHERE experiment = ? AND step <= ? '
            "ORDER BY seq DESC LIMIT 1"
        )
        found = self.base.execute(query, (self.number, most)).fetchone()
        return Snapshot(*found) if found else None

    def snapshots(self) -> Iterator[Snapshot]:
        query = 'SELECT seq, step, state, "check" FROM snapshots WHERE experiment = ? ORDER BY seq'
        return map(Snapshot._make, self.base.execute(query, (self.number,)))

    def reported(self, step: int) -> tuple[int, int]:
        query = "SELECT count(*), coalesce(sum(amount), 0) FROM rewards WHERE experiment = ? AND step = ?"
        count, total = self.base.execute(query, (self.number, step)).fetchone()
        return count, total

    def salt(self, step: int) -> bytes | None:
        query = "SELECT salt FROM salts WHERE experiment = ? AND step = ?"
        found = self.base.execute(query, (self.number, step)).fetchone()
        return found[0] if found else None

    def amount(self, step: int, digest: bytes) -> int | None:
        query = "SELECT amount FROM rewards WHERE experiment = ? AND step = ? AND digest = ?"
        found = self.base.execute(query, (self.number, step, digest)).fetchone()
        return found[0] if found else None

    def append(self, records: Iterable[Record]) -> None:
        self.base.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", ((self.number, *one) for one in records))

    def put_steps(self, rows: Iterable[StepRow]) -> None:
        self.base.executemany("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)", ((self.number, *row) for row in rows))

    def end_step(self, step: int, total: int, role: str, void: int) -> None:
        query = "UPDATE steps SET total = ?, role = ?, void = ? WHERE experiment = ? AND step = ?"
        self.base.execute(query, (total, role, void, self.number, step))

    def void_step(self, step: int) -> None:
        self.base.execute("UPDATE steps SET void = 1 WHERE experiment = ? AND step = ?", (self.number, step))

    def put_snapshot(self, snapshot: Snapshot) -> None:
        self.base.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", (self.number, *snapshot))

    def put_salt(self, step: int, salt: bytes) -> bytes:
        self.base.execute("INSERT INTO salts VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (self.number, step, salt))
        return self.salt(step) or salt

    def put_rewards(self, step: int, rewards: Iterable[tuple[bytes, int]]) -> None:
        rows = ((self.number, step, digest, amount) for digest, amount in rewards)
        self.base.executemany("INSERT INTO rewards VALUES (?, ?, ?, ?)", rows)

    def forget(self, before: int) -> bool:
        where = "WHERE experiment = ? AND step < ?"
        gone = self.base.execute(f"DELETE FROM salts {where}", (self.number, before)).rowcount
        gone += self.base.execute(f"DELETE FROM rewards {where}", (self.number, before)).rowcount
        return gone > 0
