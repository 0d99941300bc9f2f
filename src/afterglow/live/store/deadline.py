"""A PostgreSQL connection with a time limit for servers that accept queries and don't answer."""

from time import monotonic
from typing import Any

from psycopg import Connection, OperationalError
from psycopg.abc import RV, PQGen

from afterglow.live.store.session import Row

LIMIT = 20.0  # seconds for one answer; locks are waited for less long


class TooSlow(OperationalError):
    """The server is there and doesn't answer."""


class Impatient(Connection[Row]):
    def wait(self, gen: PQGen[RV], *given: Any, **named: Any) -> RV:
        return super().wait(limited(gen, monotonic() + LIMIT), *given, **named)


def limited(gen: PQGen[RV], deadline: float) -> PQGen[RV]:
    """The same exchange with the server, until the deadline."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and monotonic() > deadline:
                gen.close()
                raise TooSlow(f"no answer within {LIMIT:g} s")
            wanted = gen.send(ready)
    except StopIteration as done:
        value: RV = done.value
        return value
