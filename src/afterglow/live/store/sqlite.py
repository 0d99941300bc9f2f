"""Experiments in one SQLite file: the standard library's, write-ahead log, every commit on the disk."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from weakref import finalize

from afterglow.errors import BadDatabase, BadValue, OutOfTurn
from afterglow.live.domain.log import Place
from afterglow.live.store import schema
from afterglow.live.store.access import TableAccess
from afterglow.live.store.file_mode import make_private
from afterglow.live.store.migrations import TABLE, creation
from afterglow.live.store.names import listed, name_taken, number_of
from afterglow.live.store.sqlite_session import PATIENCE, SqliteSession, connect, sorry, transaction
from afterglow.live.store.tables import TableLog
from afterglow.live.store.writer_lock import Writer, refuse_other_names

GLANCE = 0.05  # seconds to wait for a lock where it can be done later


class SqliteAccess(TableAccess):
    """Tokens and webhooks of a file that another process may be writing."""

    def __init__(self, path: str | Path, read_only: bool = False) -> None:
        self.path = Path(path)
        self.address = str(path)
        self.turn = RLock()
        self.process = os.getpid()
        self.read_only = read_only
        if read_only and not self.path.exists():
            raise BadValue(
                f"{path} doesn't exist, so there is nothing to read",
                kind="no-database",
                field="address",
                way_out="open it without read_only to create it",
            )
        refuse_other_names(self.path)
        self.base = connect(self.path, read_only)
        try:
            with sorry(self.path):
                prepare(self.base, self.path, read_only)
        except BaseException:
            self.base.close()
            raise
        self.closing = finalize(self, close_own, self.base, self.process)  # also without a call of close

    @contextmanager
    def session(self, change: bool) -> Iterator[SqliteSession]:
        with self.turn:
            if self.read_only and change:
                way_out = "open it without read_only to change it"
                raise OutOfTurn(f"{self.path} was opened to read only", kind="read-only", way_out=way_out)
            if self.process != os.getpid():
                raise OutOfTurn(
                    f"{self.path} was opened by process {self.process}, which forked; open it in each process"
                )
            with transaction(self.base, self.path, "BEGIN IMMEDIATE" if change else "BEGIN") as session:
                yield session

    @contextmanager
    def lead(self, purpose: str) -> Iterator[bool]:
        yield not self.read_only

    def one_file(self) -> None:
        """Leave nothing beside the database, until it is used again."""
        self.base.execute("PRAGMA journal_mode = DELETE").fetchall()

    def close(self) -> None:
        with self.turn:
            self.closing()


class SqliteStore(SqliteAccess):
    """One connection; calls from several threads take turns."""

    def __init__(self, path: str | Path, read_only: bool = False) -> None:
        self.alone = not read_only  # no other process writes
        self.writer = None if read_only else Writer(Path(path))
        try:
            super().__init__(path, read_only)
            self.numbers = dict[str, int]()
            if not read_only:
                self.tidy()  # an earlier process may have been killed before it could
        except BaseException:
            if self.writer:
                self.writer.release()
            raise
        if self.writer:
            self.releasing = finalize(self, release, self.writer, self.process)

    def now(self) -> float:
        return time.time()

    def names(self) -> list[str]:
        return list(self.heads())

    def heads(self) -> dict[str, Place]:
        with self.session(change=False) as session:
            return listed(session)

    def forget_numbers(self) -> None:
        self.numbers = {}

    @contextmanager
    def creating(self, name: str) -> Iterator[TableLog]:
        with self.session(change=True) as session:
            try:
                session.run("INSERT INTO experiments (name) VALUES (?)", name)
            except sqlite3.IntegrityError as error:
                raise name_taken(name) from error
            yield TableLog(session, number_of(session, name))

    @contextmanager
    def reading(self, name: str) -> Iterator[TableLog]:
        with self.session(change=False) as session:
            yield TableLog(session, self.number(session, name))

    @contextmanager
    def writing(self, name: str) -> Iterator[TableLog]:
        with self.session(change=True) as session:
            yield TableLog(session, self.number(session, name))

    reporting = writing  # one connection, one at a time

    def number(self, session: SqliteSession, name: str) -> int:
        if name not in self.numbers:
            self.numbers[name] = number_of(session, name)
        return self.numbers[name]

    def tidy(self) -> bool:
        """Empty the write-ahead log, which has copies of what was deleted; a reader at work delays that."""
        with self.turn, sorry(self.path):
            self.base.execute(f"PRAGMA busy_timeout = {round(1000 * GLANCE)}").fetchall()
            ((busy, _, _),) = self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self.base.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}").fetchall()
            return not busy

    def backup(self, path: str | Path) -> None:
        copy = Path(path)
        if copy.exists():
            raise BadValue(f"{copy} exists; name a new file for the backup", field="address")
        make_private(copy)
        target = sqlite3.connect(copy)
        try:
            with self.turn, sorry(copy):
                self.base.backup(target)
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            target.close()

    def close(self) -> None:
        super().close()
        if self.writer:
            self.releasing()


def close_own(base: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():  # not in a forked process
        base.close()


def release(writer: Writer, process: int) -> None:
    if process == os.getpid():
        writer.release()


def prepare(base: sqlite3.Connection, path: Path, read_only: bool) -> None:
    """Create the tables in an empty file; refuse any other layout than this release's."""
    try:
        if not tables_of(base) and not read_only:
            with transaction(base, path, "BEGIN IMMEDIATE") as session:
                if not tables_of(base):
                    for statement in creation("sqlite"):
                        session.run(statement)
        tables = tables_of(base)
        version = version_of(base) if TABLE in tables else ""
    except sqlite3.DatabaseError as error:
        raise BadDatabase(f"{path} can't be used as a database: {error}") from error
    if not version:
        raise BadDatabase(f"{path} holds something else than Afterglow's experiments; name another file")
    schema.refuse_other(version, str(path))


def tables_of(base: sqlite3.Connection) -> set[str]:
    return {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def version_of(base: sqlite3.Connection) -> str:
    found = base.execute(f"SELECT version_num FROM {TABLE}").fetchone()
    return str(found[0]) if found else "none"
