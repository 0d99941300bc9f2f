"""Copy a whole database, while it is in use, to a new one: a backup, its restoration, or the way from one file to
several replicas.

SQLite copies itself page by page. Between SQLite and PostgreSQL the tables are copied row by row, all of one moment:
both have the same ones, with the same columns. What was copied is checked before it stays: a backup is needed when the
original can't be used, and must not have the same fault.
"""

from itertools import chain
from pathlib import Path

from afterglow.errors import BadValue, Conflict
from afterglow.live.store import access
from afterglow.live.store.address import is_postgres, without_password
from afterglow.live.store.contract import Store
from afterglow.live.store.copy_check import Check, refuse_faults
from afterglow.live.store.session import Session
from afterglow.live.store.sqlite import SqliteAccess, SqliteStore, remove_files

TABLES = (
    "experiments", "events", "steps", "snapshots", "spans", "rewards", "sums", "tokens", "hooks", "hook_places",
    "audit",
)  # fmt: skip


def back_up(source: Store, address: str | Path, check: Check | None = None) -> None:
    """Copy everything to a new file or an empty database; nothing, if the copy doesn't pass the check."""
    if not is_postgres(address) and Path(address).exists():
        raise BadValue(f"{address} exists; name a new file for the backup", field="address")
    if isinstance(source, SqliteStore) and not is_postgres(address):
        source.backup(address, check)
        return
    target = access(address)
    try:
        with source.apart() as old, target.session(change=True) as new:
            if any(new.row(f"SELECT 1 FROM {table} LIMIT 1") for table in TABLES):
                raise Conflict(
                    f"{without_password(str(address))} has experiments or tokens already; name an empty database",
                    kind="database-not-empty",
                    field="address",
                )
            for table in TABLES:
                copy(old, new, table)
            new.renumber()
            if check is not None:
                refuse_faults(new, check, source.address)
        if isinstance(target, SqliteAccess):
            target.one_file()
    except BaseException:
        target.close()
        if not is_postgres(address):
            remove_files(Path(address))
        raise
    target.close()


def copy(old: Session, new: Session, table: str) -> None:
    rows = old.rows(f"SELECT * FROM {table}", long=True)
    first = next(rows, None)
    if first is not None:
        new.run_many(f"INSERT INTO {table} VALUES ({', '.join('?' * len(first))})", chain([first], rows))
