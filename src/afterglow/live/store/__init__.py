"""Where experiments are kept: a SQLite file, or a PostgreSQL database named by its address."""

from pathlib import Path

from afterglow.live.store.access import Access
from afterglow.live.store.contract import Store
from afterglow.live.store.sqlite import SqliteAccess, SqliteStore

POSTGRES = ("postgresql://", "postgres://")


def open_store(address: str | Path, read_only: bool = False) -> Store:
    """The experiments at an address."""
    return SqliteStore(address, read_only)


def access(address: str | Path) -> Access:
    """Tokens and webhooks alone: on SQLite that works beside the process that writes the experiments."""
    return SqliteAccess(address)
