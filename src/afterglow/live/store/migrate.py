"""Bring a database of an older release to the layout of this one, by Alembic; a SQLite file is backed up first."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from afterglow.errors import BadDatabase, BadValue, MissingExtra
from afterglow.live.store import schema
from afterglow.live.store.revisions import TABLE
from afterglow.live.store.writer import Writer

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

HERE = Path(__file__).parent / "revisions"


def migrate(path: Path) -> Path | None:
    """Change the layout step by step, all or nothing; the backup, or None if there was nothing to do."""
    if not path.exists():
        raise BadValue(f"{path} doesn't exist; name the file of the experiments")
    writer = Writer(path)
    try:
        base = sqlite3.connect(path)
        try:
            version = version_in(base, path)
            if not schema.behind(version, str(path)):
                return None
            copy = path.with_name(f"{path.name}.schema-{version}")
            back_up(base, copy)
        finally:
            base.close()
        with sqlite_connection(path) as connection:
            upgrade(connection)
        return copy
    finally:
        writer.release()


def version_in(base: sqlite3.Connection, path: Path) -> str:
    try:
        return str(base.execute(f"SELECT version_num FROM {TABLE}").fetchone()[0])
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


def upgrade(connection: "Connection", target: str = "head") -> None:
    """Run the revisions that are missing, within the transaction of a connection."""
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(HERE))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, target)


@contextmanager
def sqlite_connection(path: Path) -> Iterator["Connection"]:
    """A connection whose changes of tables are part of its transaction, which the driver doesn't do by itself."""
    engine = engine_for(f"sqlite:///{path.absolute()}")
    from sqlalchemy import event  # noqa: PLC0415

    @event.listens_for(engine, "connect")
    def plain(raw: sqlite3.Connection, _: Any) -> None:
        raw.isolation_level = None

    @event.listens_for(engine, "begin")
    def begin(connection: "Connection") -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def engine_for(address: str) -> "Engine":
    try:
        import alembic  # noqa: F401, PLC0415
        from sqlalchemy import create_engine  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("afterglow migrate", "live") from error
    return create_engine(address)
