"""Statements on a PostgreSQL connection within a transaction."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

from psycopg import Connection

from afterglow.live.store.session import Row

PAGE = 5000  # rows fetched at a time where there may be many


class PostgresSession:
    def __init__(self, base: Connection[Row]) -> None:
        self.base = base
        self.cursors = count()

    def run(self, statement: str, *values: Any) -> int:
        return self.base.execute(translated(statement), values).rowcount

    def run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.base.cursor() as cursor:
            cursor.executemany(translated(statement), rows)

    def row(self, query: str, *values: Any) -> Row | None:
        return self.base.execute(translated(query), values).fetchone()

    def rows(self, query: str, *values: Any, long: bool = False) -> Iterator[Row]:
        return self.pages(query, values) if long else iter(self.base.execute(translated(query), values))

    def pages(self, query: str, values: Sequence[Any]) -> Iterator[Row]:
        """By a cursor, which ends with the transaction."""
        name = f"afterglow_{next(self.cursors)}"
        self.base.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {translated(query)}", values)
        while True:
            page = self.base.execute(f"FETCH {PAGE} FROM {name}", binary=True).fetchall()
            yield from page
            if len(page) < PAGE:
                return

    def renumber(self) -> None:
        self.run(
            "SELECT setval(pg_get_serial_sequence('experiments', 'id'), max(id)) FROM experiments HAVING max(id) > 0"
        )

    def add_rewards(self, experiment: int, span: int, step: int, rewards: Sequence[tuple[bytes, int, int]]) -> int:
        statement = (
            "INSERT INTO rewards (experiment, span, step, digest, amount, series) SELECT %s, %s, %s, digest, amount, "
            "series FROM unnest(%b::bytea[], %b::bigint[], %b::bigint[]) AS new (digest, amount, series) "
            "ON CONFLICT DO NOTHING"
        )
        columns = [list(column) for column in zip(*rewards, strict=True)]
        return self.base.execute(statement, (experiment, span, step, *columns)).rowcount

    def find_rewards(self, experiment: int, span: int, digests: Collection[bytes]) -> Iterable[Row]:
        query = (
            "SELECT digest, amount, series FROM rewards WHERE experiment = %s AND span = %s "
            "AND digest = ANY(%b::bytea[])"
        )
        return self.base.execute(query, (experiment, span, list(digests)), binary=True)


@cache
def translated(statement: str) -> str:
    """With psycopg's placeholders, which begin with a percent sign."""
    return statement.replace("%", "%%").replace("?", "%s")
