"""Connections to a PostgreSQL database: kept, lent to one thread at a time, replaced when they are broken.

A database that can't be reached is noticed by the call that needs it, which fails at once; the next call tries again.
So there is no background thread and no growing pause before it is used again.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any

import psycopg
from psycopg import Connection, Cursor
from psycopg.conninfo import conninfo_to_dict

from afterglow.errors import BadValue, OutOfTurn, Unavailable
from afterglow.live.store.address import without_password
from afterglow.live.store.deadline import Impatient, TooSlow
from afterglow.live.store.session import Row

MOST = 12  # connections
LONG = 8  # of them, lent for long at most
LOCKS = 2  # of them, on which a lock is waited for; the others are left for short calls
PATIENCE = 10.0  # seconds to wait for one of them, or for a lock
AGAIN = 0.25  # seconds after a failure during which no new connection is tried
DEFAULTS: dict[str, Any] = {
    "application_name": "afterglow", "client_encoding": "utf8", "connect_timeout": 3, "keepalives_idle": 10,
    "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 10_000,
}  # fmt: skip
SETTINGS = (
    f"SET lock_timeout = {round(1000 * PATIENCE)}",
    "SET statement_timeout = 60000",
    "SET idle_in_transaction_session_timeout = 5000",  # a frozen process must not block the others longer
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
)
UNREACHABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,  # a replica that was not promoted
    psycopg.errors.IdleInTransactionSessionTimeout,
)


class Pool:
    def __init__(self, address: str) -> None:
        self.shown = without_password(address)
        try:
            self.arguments = DEFAULTS | conninfo_to_dict(address)
        except psycopg.Error:
            raise BadValue(
                f"{self.shown} can't be read as an address; write it as postgresql://user:password@host/database, with "
                "%40, %2F and so on for special characters in the password",
                field="address",
            ) from None  # the cause may contain the password
        self.process = os.getpid()
        self.room = BoundedSemaphore(MOST)
        self.room_for_long = BoundedSemaphore(LONG)
        self.room_for_locks = BoundedSemaphore(LOCKS)
        self.turn = Lock()
        self.idle = list[Connection[Row]]()
        self.away_until = 0.0
        self.closed = False

    @contextmanager
    def lend(self, first: str) -> Iterator[Cursor[Row]]:
        """A connection, by the results of the `first` statements on it; what is left open in the end is undone."""
        if self.process != os.getpid():
            raise OutOfTurn(f"{self.shown} was opened by process {self.process}, which forked; open it in each process")
        with self.sorry():
            if not self.room.acquire(timeout=PATIENCE):
                raise Unavailable(f"{self.shown} is overloaded: all {MOST} connections are in use; try again")
            try:
                opened = self.ready(first)
                try:
                    yield opened
                finally:
                    self.take_back(opened.connection)
            finally:
                self.room.release()

    @contextmanager
    def for_long(self) -> Iterator[None]:
        """Around `lend`, for what takes long."""
        if not self.room_for_long.acquire(timeout=PATIENCE):
            raise Unavailable(
                f"{self.shown} is overloaded: {LONG} long reads are going on, the most at once; try again"
            )
        try:
            yield
        finally:
            self.room_for_long.release()

    @contextmanager
    def for_locks(self) -> Iterator[bool]:
        """Around what may wait for a lock: whether there is a connection for that."""
        room = self.room_for_locks.acquire(blocking=False)
        try:
            yield room
        finally:
            if room:
                self.room_for_locks.release()

    def ready(self, first: str) -> Cursor[Row]:
        """A kept connection, if it still works, or a new one."""
        while True:
            with self.turn:
                if self.closed:
                    raise OutOfTurn(f"{self.shown} was closed; open it again")
                base = self.idle.pop() if self.idle else None
            if base is None:
                base = self.connected()
                try:
                    return base.execute(first)
                except BaseException:
                    self.take_back(base)
                    raise
            try:
                return base.execute(first)
            except BaseException as error:
                self.take_back(base)
                if not base.closed or isinstance(error, TooSlow) or not isinstance(error, UNREACHABLE):
                    raise
                # it broke while it was idle: try the next

    def connected(self) -> Connection[Row]:
        """A new connection."""
        if monotonic() < self.away_until:
            raise psycopg.OperationalError("it was just tried")
        try:
            base = Impatient.connect(**self.arguments, autocommit=True)
            for setting in SETTINGS:
                base.execute(setting)
        except psycopg.Error:
            self.away_until = monotonic() + AGAIN
            raise
        return base

    def patient(self) -> Connection[Row]:
        """A connection for long statements, by itself."""
        return Connection.connect(**self.arguments)

    def take_back(self, base: Connection[Row]) -> None:
        """Undo what is left open; keep the connection if that works."""
        try:
            if base.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                base.execute("ROLLBACK")
        except psycopg.Error:
            base.close()
        with self.turn:
            if not base.closed and not self.closed:
                self.idle.append(base)
                return
        base.close()

    @contextmanager
    def sorry(self) -> Iterator[None]:
        """Raise Unavailable if the database can't be reached."""
        try:
            yield
        except UNREACHABLE as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise Unavailable(
                f"{self.shown} can't be used now: {why}; nothing was acknowledged, the next call tries again"
            ) from error

    def close(self) -> None:
        if self.process != os.getpid():
            return
        with self.turn:
            self.closed = True
            kept, self.idle = self.idle, []
        for base in kept:
            base.close()
