"""Migrate a database of an older release to the layout of this one with Alembic: all or nothing.

A SQLite file is copied first. A PostgreSQL database is changed in one transaction, when no process uses it.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from afterglow.errors import BadDatabase, BadValue, InUse, MissingExtra
from afterglow.live.store import schema
from afterglow.live.store.address import is_postgres
from afterglow.live.store.file_mode import make_private
from afterglow.live.store.migrations import TABLE
from afterglow.live.store.sqlite_session import refuse_special
from afterglow.live.store.writer_lock import Writer

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

HERE = Path(__file__).parent / "migrations"
OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'afterglow' "
    "AND pid <> pg_backend_pid()"
)


class Migrated(NamedTuple):
    address: str  # to be shown
    changed: bool
    copy: Path | None = None  # of the database as it was


def migrate(address: str | Path) -> Migrated:
    """Change the layout revision by revision, if it is an older one."""
    return migrate_postgres(str(address)) if is_postgres(address) else migrate_file(Path(address))


def migrate_file(path: Path) -> Migrated:
    if not path.exists():
        raise BadValue(f"{path} doesn't exist; name the file of the experiments", field="address")
    refuse_special(path)
    writer = Writer(path)
    try:
        base = sqlite3.connect(path)
        try:
            version = version_in(base, path)
            if not schema.behind(version, str(path)):
                return Migrated(str(path), False)
            copy = path.with_name(f"{path.name}.schema-{version}")
            back_up(base, copy)
        finally:
            base.close()
        with sqlite_connection(path) as connection:
            upgrade(connection)
        return Migrated(str(path), True, copy)
    finally:
        writer.release()


def version_in(base: sqlite3.Connection, path: Path) -> str:
    try:
        held = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not held >= schema.LAYOUT:
            raise sqlite3.DatabaseError
        return str(base.execute(f"SELECT version_num FROM {TABLE}").fetchone()[0])
    except (sqlite3.DatabaseError, TypeError) as error:
        raise BadDatabase(f"{path} holds something else than Afterglow's experiments; name another file") from error


def back_up(base: sqlite3.Connection, copy: Path) -> None:
    if copy.exists():
        raise BadValue(
            f"{copy} exists, perhaps from an earlier try; move it away, then run the same command again",
            field="address",
        )
    make_private(copy)
    target = sqlite3.connect(copy)
    try:
        base.backup(target)
    finally:
        target.close()


def migrate_postgres(address: str) -> Migrated:
    with postgres_connection(address) as connection:
        shown = connection.info["shown"]
        found = connection.exec_driver_sql(f"SELECT to_regclass('{TABLE}')").scalar()
        if found is None:
            raise BadDatabase(f"{shown} holds no experiments of Afterglow; name another database")
        version = connection.exec_driver_sql(f"SELECT version_num FROM {TABLE} FOR UPDATE").scalar()
        if not schema.behind(str(version), shown):
            return Migrated(shown, False)
        others = connection.exec_driver_sql(OTHERS).scalar()
        if others:
            raise InUse(f"{shown} is in use by {others} connections of Afterglow; stop all replicas first")
        upgrade(connection)
    return Migrated(shown, True)


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
    engine = engine_for("sqlite://", lambda: sqlite3.connect(path, isolation_level=None))
    from sqlalchemy import event  # noqa: PLC0415

    @event.listens_for(engine, "begin")
    def begin(connection: "Connection") -> None:
        connection.exec_driver_sql("PRAGMA secure_delete = ON")  # digests and salts are in tables that are replaced
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def postgres_connection(address: str) -> Iterator["Connection"]:
    try:
        from afterglow.live.store.pool import Pool  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("a PostgreSQL database", "postgres") from error
    pool = Pool(address)
    engine = engine_for("postgresql+psycopg://", pool.patient)
    try:
        with pool.sorry(), engine.begin() as connection:
            connection.info["shown"] = pool.shown
            yield connection
    finally:
        engine.dispose()


def engine_for(dialect: str, creator: Callable[[], Any]) -> "Engine":
    try:
        import alembic  # noqa: F401, PLC0415
        from sqlalchemy import create_engine, pool  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("afterglow migrate", "live") from error
    return create_engine(dialect, creator=creator, poolclass=pool.NullPool)
