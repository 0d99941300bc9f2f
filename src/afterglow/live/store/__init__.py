"""Stores of experiments: a SQLite file, or a PostgreSQL database named by its address."""

from pathlib import Path
from typing import TYPE_CHECKING

from afterglow.errors import MissingExtra
from afterglow.live.store.access import Access
from afterglow.live.store.address import is_postgres
from afterglow.live.store.contract import Store
from afterglow.live.store.sqlite import SqliteAccess, SqliteStore

if TYPE_CHECKING:
    from afterglow.live.store.postgres import PostgresStore

__all__ = ["Access", "SqliteAccess", "SqliteStore", "Store", "access", "open_store"]


def open_store(address: str | Path, read_only: bool = False) -> Store:
    """The experiments at an address."""
    return in_postgres(str(address), read_only) if is_postgres(address) else SqliteStore(address, read_only)


def access(address: str | Path) -> Access:
    """Tokens and webhooks alone: on SQLite that works beside the process that writes the experiments."""
    return in_postgres(str(address)) if is_postgres(address) else SqliteAccess(address)


def in_postgres(address: str, read_only: bool = False) -> "PostgresStore":
    try:
        from afterglow.live.store.postgres import PostgresStore  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("a PostgreSQL database", "postgres") from error
    return PostgresStore(address, read_only)
