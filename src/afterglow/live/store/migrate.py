"""Bring a SQLite file of an older release to the layout of this one, with a backup first."""

import sqlite3
from pathlib import Path

from afterglow.errors import BadDatabase, BadValue
from afterglow.live.store import schema
from afterglow.live.store.writer import Writer


def migrate(path: Path) -> Path | None:
    """Change the layout step by step, all or nothing; the backup, or None if there was nothing to do."""
    if not path.exists():
        raise BadValue(f"{path} doesn't exist; name the file of the experiments")
    writer = Writer(path)
    base = sqlite3.connect(path, isolation_level=None)
    try:
        version = version_of(base, path)
        if version == schema.VERSION:
            return None
        if version > schema.VERSION or any(step not in schema.CHANGES for step in range(version, schema.VERSION)):
            raise BadDatabase(
                f"{path} has schema version {version}, from which this release knows no way to {schema.VERSION}; "
                "run `pip install --upgrade afterglow`"
            )
        copy = path.with_name(f"{path.name}.schema-{version}")
        back_up(base, copy)
        change(base, version)
        return copy
    finally:
        base.close()
        writer.release()


def version_of(base: sqlite3.Connection, path: Path) -> int:
    try:
        return int(base.execute("SELECT max(version) FROM afterglow_schema").fetchone()[0])
    except (sqlite3.DatabaseError, TypeError) as error:
        raise BadDatabase(f"{path} holds something else than Afterglow's experiments; name another file") from error


def back_up(base: sqlite3.Connection, copy: Path) -> None:
    if copy.exists():
        raise BadValue(f"{copy} exists, perhaps from an earlier try; move it away, then run the same command again")
    target = sqlite3.connect(copy)
    try:
        base.backup(target)
    finally:
        target.close()


def change(base: sqlite3.Connection, version: int) -> None:
    base.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version, schema.VERSION):
            for statement in schema.CHANGES[step]:
                base.execute(statement)
        base.execute("UPDATE afterglow_schema SET version = ?", (schema.VERSION,))
    except BaseException:
        base.execute("ROLLBACK")
        raise
    base.execute("COMMIT")
