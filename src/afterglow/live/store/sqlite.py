"""Experiments in one SQLite file: the standard library's, write-ahead log, every commit on the disk."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from math import inf
from pathlib import Path
from threading import RLock
from weakref import finalize

from afterglow.errors import BadDatabase, BadValue, OutOfTurn
from afterglow.live.domain.log import Place
from afterglow.live.store import schema
from afterglow.live.store.access import TableAccess
from afterglow.live.store.copy_check import Check, refuse_damage, refuse_faults
from afterglow.live.store.damaged_pages import DamagedPages, damage
from afterglow.live.store.file_mode import make_private
from afterglow.live.store.file_watch import FileWatch, abandon, refuse_leftover
from afterglow.live.store.migrations import TABLE, creation
from afterglow.live.store.names import listed, name_taken, named, number_of
from afterglow.live.store.sqlite_session import PATIENCE, SqliteSession, connect, sorry, transaction, unreachable
from afterglow.live.store.steady_time import ClockReading, read_clock
from afterglow.live.store.tables import TableLog
from afterglow.live.store.writer_lock import Writer, refuse_other_names

BEGIN = ("BEGIN", "BEGIN IMMEDIATE")
GLANCE = 0.05  # seconds to wait for a lock where it can be done later


class SqliteAccess(TableAccess):
    """Tokens and webhooks of a file that another process may be writing."""

    alone = False
    writer: Writer | None = None

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
        refuse_leftover(self.path)
        self.base = connect(self.path, read_only)
        try:
            with sorry(self.path):
                prepare(self.base, self.path, read_only)
        except BaseException:
            self.base.close()
            raise
        self.watch = FileWatch(self.path, self.writer)
        if not read_only:
            self.watch.check()
        self.closing = finalize(self, close_own, self.base, self.process, self.watch)  # also without a call of close

    @contextmanager
    def session(self, change: bool) -> Iterator[SqliteSession]:
        with self.turn:
            if self.read_only and change:
                way_out = "open it without read_only to change it"
                raise OutOfTurn(f"{self.path} was opened to read only", kind="read-only", way_out=way_out)
            self.refuse_forked()
            if not self.read_only:
                self.watch.check()
            with self.naming_damage(), transaction(self.base, self.path, BEGIN[change]) as session:
                yield session
            if change:
                self.watch.check()  # what was committed must be in the file that will be found

    def refuse_forked(self) -> None:
        if self.process != os.getpid():
            raise OutOfTurn(f"{self.path} was opened by process {self.process}, which forked; open it in each process")

    @contextmanager
    def apart(self) -> Iterator[SqliteSession]:
        """A transaction to read on a connection of its own: a snapshot, for which no other call waits."""
        with self.another() as base, self.naming_damage(), transaction(base, self.path, "BEGIN") as session:
            yield session

    @contextmanager
    def another(self) -> Iterator[sqlite3.Connection]:
        """Another connection, to read."""
        with self.turn:
            self.refuse_forked()
            if not self.read_only:
                self.watch.check()
            base = connect(self.path, read_only=True)
        with closing(base):
            yield base

    @contextmanager
    def naming_damage(self) -> Iterator[None]:
        """Say which table is damaged, where there is time to look."""
        try:
            yield
        except DamagedPages as error:
            if not self.read_only:
                raise
            raise DamagedPages(f"{error}: {'; '.join(self.damage()[:3])}") from error

    def damage(self) -> list[str]:
        """Damaged pages by table; none if the file is sound."""
        with self.turn:
            return damage(self.base)

    @contextmanager
    def lead(self, purpose: str, lasts: float) -> Iterator[bool]:
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

    def read_clock(self) -> ClockReading:
        return read_clock()

    def names(self) -> list[str]:
        with self.session(change=False) as session:
            return named(session)

    def heads(self) -> dict[str, Place]:
        try:
            with self.session(change=False) as session:
                return listed(session)
        except DamagedPages:
            return self.heads_one_by_one()

    def heads_one_by_one(self) -> dict[str, Place]:
        """Leaves out experiments whose records can't be read."""
        found = dict[str, Place]()
        for name in self.names():
            with suppress(DamagedPages), self.reading(name) as log:
                found[name] = log.head()
        return found

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
    def aside(self, name: str) -> Iterator[TableLog]:
        with self.apart() as session:
            yield TableLog(session, number_of(session, name))

    @contextmanager
    def writing(self, name: str, patience: float = inf) -> Iterator[TableLog]:
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
            self.watch.check()
            self.watch.emptied()
            self.base.execute(f"PRAGMA busy_timeout = {round(1000 * GLANCE)}").fetchall()
            ((busy, _, _),) = self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self.base.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}").fetchall()
            return not busy

    def backup(self, path: str | Path, check: Check | None = None) -> None:
        """Copy the file page by page; leave no copy if it doesn't pass the check."""
        copy = Path(path)
        if copy.exists():
            raise BadValue(f"{copy} exists; name a new file for the backup", field="address")
        make_private(copy)
        target = sqlite3.connect(copy)
        try:
            with self.another() as base, sorry(copy):
                base.backup(target)
                target.execute("PRAGMA journal_mode = DELETE").fetchall()
                if check is not None:
                    refuse_damage(target, self.path)
                    refuse_faults(SqliteSession(target), check, self.address)
        except BaseException:
            target.close()
            remove_files(copy)
            raise
        target.close()

    def close(self) -> None:
        super().close()
        if self.writer:
            self.releasing()


def close_own(base: sqlite3.Connection, process: int, watch: FileWatch) -> None:
    if process != os.getpid():
        return  # a forked process
    if watch.known and not watch.spoiled:
        watch.wrong_with("")
    if watch.spoiled:
        abandon(base)
    else:
        base.close()
        watch.close()


def remove_files(path: Path) -> None:
    """Remove a database that was not completed, with what SQLite has put beside it."""
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


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
    except (sqlite3.DatabaseError, UnicodeDecodeError, DamagedPages) as error:  # the second: of SQLite's own message
        if isinstance(error, sqlite3.Error) and unreachable(error):
            raise
        why = error.__cause__ if isinstance(error, DamagedPages) else error
        raise BadDatabase(f"{path} can't be used as a database: {why}") from error
    if not version:
        raise BadDatabase(f"{path} holds something else than Afterglow's experiments; name another file")
    schema.refuse_other(version, str(path))
    if not tables >= schema.LAYOUT:
        missing = ", ".join(sorted(schema.LAYOUT - tables))
        raise BadDatabase(f"{path} lacks tables of a database of experiments: {missing}; restore a backup")


def tables_of(base: sqlite3.Connection) -> set[str]:
    return {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def version_of(base: sqlite3.Connection) -> str:
    found = base.execute(f"SELECT version_num FROM {TABLE}").fetchone()
    return str(found[0]) if found else "none"
