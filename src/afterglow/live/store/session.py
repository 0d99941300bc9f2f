"""What a store's shared statements need of a database connection within a transaction.

Statements are written once, with `?` for values, in the SQL that SQLite and PostgreSQL have in common. Where they
differ, a session has a method for it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

Row = tuple[Any, ...]


class Session(Protocol):
    def run(self, statement: str, *values: Any) -> int:
        """Execute a statement; how many rows it changed."""

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row."""

    def row(self, query: str, *values: Any) -> Row | None:
        """The first row."""

    def rows(self, query: str, *values: Any, long: bool = False) -> Iterator[Row]:
        """All rows, one after another; `long` if there may be more than fit in memory."""

    def renumber(self) -> None:
        """Number new experiments from behind the last one on."""

    def add_rewards(self, experiment: int, span: int, step: int, rewards: Sequence[tuple[bytes, int, int]]) -> int:
        """Insert (digest, amount, series) of rewards whose digests are new; how many there were."""

    def find_rewards(self, experiment: int, span: int, digests: Collection[bytes]) -> Iterable[Row]:
        """(digest, amount, series) of those that are there."""
