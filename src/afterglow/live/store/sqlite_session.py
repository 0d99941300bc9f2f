"""Statements on a connection to a SQLite file, and its transactions."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from afterglow.errors import BadDatabase, Unavailable
from afterglow.live.store.damaged_pages import DamagedPages
from afterglow.live.store.file_mode import make_private
from afterglow.live.store.session import Row

PATIENCE = 5.0  # seconds to wait for another's lock
AT_ONCE = 500  # values in one statement
ROWS = (128, 32, 8, 1)  # in one statement, largest first
UNREACHABLE = {
    sqlite3.SQLITE_BUSY: "another process has locked it",
    sqlite3.SQLITE_LOCKED: "another process has locked it",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened by this user",
    sqlite3.SQLITE_READONLY: "it can't be written by this user, or its folder can't, in which readers have files too",
    sqlite3.SQLITE_PERM: "it can't be written",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
}


class SqliteSession:
    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base

    def run(self, statement: str, *values: Any) -> int:
        return self.base.execute(statement, values).rowcount

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self.base.executemany(statement, rows)

    def row(self, query: str, *values: Any) -> Row | None:
        found: Row | None = self.base.execute(query, values).fetchone()
        return found

    def rows(self, query: str, *values: Any, long: bool = False) -> Iterator[Row]:
        return self.base.execute(query, values)

    def renumber(self) -> None:
        """SQLite does it on its own."""

    def add_rewards(self, experiment: int, span: int, step: int, rewards: Sequence[tuple[bytes, int, int]]) -> int:
        """Many rows in a statement: each statement releases the interpreter's lock and waits for it again."""
        added = first = 0
        series, *others = {one[2] for one in rewards}
        known = "?" if others else f"{series:d}"
        values_of = chain.from_iterable if others else pairs
        for size in ROWS:
            row = f"({experiment:d}, {span:d}, {step:d}, ?, ?, {known})"
            statement = (
                f"INSERT INTO rewards (experiment, span, step, digest, amount, series) VALUES "
                f"{', '.join([row] * size)} ON CONFLICT DO NOTHING"
            )
            while len(rewards) - first >= size:
                values = list(values_of(rewards[first : first + size]))
                added += self.base.execute(statement, values).rowcount
                first += size
        return added

    def find_rewards(self, experiment: int, span: int, digests: Collection[bytes]) -> Iterator[Row]:
        left = iter(digests)
        while some := list(islice(left, AT_ONCE)):
            marks = ",".join("?" * len(some))
            query = (
                f"SELECT digest, amount, series FROM rewards WHERE experiment = ? AND span = ? AND digest IN ({marks})"
            )
            yield from self.base.execute(query, (experiment, span, *some))


def pairs(rewards: Sequence[tuple[bytes, int, int]]) -> Iterator[bytes | int]:
    """Digests and amounts, one after another."""
    for digest, amount, _ in rewards:
        yield digest
        yield amount


def refuse_special(path: Path) -> None:
    """Refuse a folder, and a device or a named pipe, which SQLite would wait for."""
    if path.is_dir():
        raise BadDatabase(f"{path} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise BadDatabase(f"{path} can't be used as a database: it is a device or a named pipe")


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """A connection for all threads, one after another; every commit is on the disk."""
    refuse_special(path)
    if not read_only:
        make_private(path)
    address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    with sorry(path):
        base = sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, check_same_thread=False, uri=True)
    try:
        with sorry(path):
            if not read_only:
                base.execute("PRAGMA journal_mode = WAL").fetchall()
                base.execute("PRAGMA synchronous = FULL")
                base.execute("PRAGMA secure_delete = ON").fetchall()
            base.execute("PRAGMA foreign_keys = ON")
    except DamagedPages as error:
        base.close()
        raise BadDatabase(f"{path} can't be used as a database: {error.__cause__}") from error
    except Unavailable:
        base.close()
        raise
    return base


def unreachable(error: sqlite3.Error) -> str | None:
    """Why the database can't be reached; None if it can."""
    return UNREACHABLE.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF)


@contextmanager
def sorry(path: Path) -> Iterator[None]:
    """Raise Unavailable if the database can't be reached, DamagedPages if it can't be read."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.NotSupportedError):
        raise
    except sqlite3.DatabaseError as error:
        why = unreachable(error)
        if why is None:
            raise DamagedPages(f"{path} has damaged pages ({error}); go back to a backup") from error
        raise Unavailable(f"{path} can't be used now: {why}; nothing was done, the next call tries again") from error
    except UnicodeDecodeError as error:  # SQLite's message repeats bytes of the file
        raise DamagedPages(f"{path} has damaged pages; go back to a backup") from error


@contextmanager
def transaction(base: sqlite3.Connection, path: Path, begin: str) -> Iterator[SqliteSession]:
    """All of it on the disk at the end, or nothing."""
    with sorry(path):
        base.execute(begin)
        try:
            yield SqliteSession(base)
            base.execute("COMMIT")
        except BaseException:
            if base.in_transaction:
                with suppress(sqlite3.Error):  # the error that led here is the one to raise
                    base.execute("ROLLBACK")
            raise
