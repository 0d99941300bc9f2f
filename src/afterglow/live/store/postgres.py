"""Experiments in a PostgreSQL database, which several processes may use at once.

All transactions are READ COMMITTED, so each statement sees what was committed before it began. Appending
holds an advisory lock of the experiment exclusively, adding rewards shares it: no reward joins a step that has ended.
The lock is taken first, in turn, and writes nothing, which a lock on a row would. That there is one record of each
number and one row of each step doesn't depend on it: those are primary keys.

The time is the database's: every transaction reads it after it has the lock.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from math import inf
from secrets import token_hex
from time import sleep
from weakref import finalize

from psycopg import Cursor
from psycopg.errors import LockNotAvailable

from afterglow.errors import BadDatabase, OutOfTurn, Unavailable
from afterglow.live.domain.log import Place
from afterglow.live.store import schema
from afterglow.live.store.access import TableAccess
from afterglow.live.store.contract import Busy
from afterglow.live.store.migrations import TABLE, creation
from afterglow.live.store.names import listed, name_taken, named, number_of
from afterglow.live.store.pool import PATIENCE, Pool
from afterglow.live.store.postgres_session import PostgresSession
from afterglow.live.store.session import Row
from afterglow.live.store.steady_time import ClockReading, steady
from afterglow.live.store.tables import TableLog

OLDEST = 15  # release of PostgreSQL
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"  # one moment
CHANGE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
LOCKS = 0x61676C77  # the first half of all lock numbers; 0 as the second is for the layout
LEADS = 0x61676C78
PAUSE = 0.02  # seconds between attempts to lock an experiment
TIME = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


class Locked(Exception):
    """Another process has the lock of an experiment."""


class PostgresStore(TableAccess):
    """A pool of connections; calls from several threads go on at once."""

    alone = False

    def __init__(self, address: str, read_only: bool = False) -> None:
        self.pool = Pool(address)
        self.address = self.pool.shown
        self.read_only = read_only
        self.writer_id = token_hex(4)
        self.reading_of_clock = ClockReading(0.0, 0.0, 0.0)
        self.numbers = dict[str, int]()
        self.closing = finalize(self, self.pool.close)
        try:
            self.prepare()
        except BaseException:
            self.close()
            raise

    # Transactions

    @contextmanager
    def session(self, change: bool) -> Iterator[PostgresSession]:
        after = steady()
        with self.begun(change, TIME) as opened:
            self.take_time(opened, after)
            yield PostgresSession(opened.connection)

    @contextmanager
    def begun(self, change: bool, first: str) -> Iterator[Cursor[Row]]:
        """A transaction that is kept if no exception ends it, by the results of its `first` statements."""
        if change and self.read_only:
            way_out = "open it without read_only to change it"
            raise OutOfTurn(f"{self.address} was opened to read only", kind="read-only", way_out=way_out)
        with self.pool.lend(f"{CHANGE if change else READ}; {first}") as opened:
            opened.nextset()
            yield opened
            if opened.connection.execute("COMMIT").statusmessage != "COMMIT":
                raise Unavailable(f"{self.address} did not keep the transaction; try again")

    @contextmanager
    def log(self, name: str, change: bool, lock: str = "", spans: bool = False) -> Iterator[TableLog]:
        """An experiment; the lock and the first queries take one round trip."""
        number = self.number(name)
        first = [f"{TIME} {lock}", TableLog.HEAD, *([TableLog.SPANS] if spans else [])]
        after = steady()
        with self.begun(change, "; ".join(first).replace("?", str(number))) as opened:
            self.take_time(opened, after)
            opened.nextset()
            head = opened.fetchall()
            known = opened.fetchall() if opened.nextset() else None
            yield TableLog(PostgresSession(opened.connection), number, self.writer_id, head, known)

    @contextmanager
    def creating(self, name: str) -> Iterator[TableLog]:
        with self.session(change=True) as session:
            if not session.run("INSERT INTO experiments (name) VALUES (?) ON CONFLICT DO NOTHING", name):
                raise name_taken(name)
            yield TableLog(session, number_of(session, name))

    def reading(self, name: str) -> AbstractContextManager[TableLog]:
        return self.log(name, change=False)

    @contextmanager
    def aside(self, name: str) -> Iterator[TableLog]:
        with self.apart() as session:
            yield TableLog(session, number_of(session, name))

    @contextmanager
    def apart(self) -> Iterator[PostgresSession]:
        with self.pool.for_long(), self.session(change=False) as session:
            session.run("SET LOCAL idle_in_transaction_session_timeout = 0")  # it locks nothing
            yield session

    @contextmanager
    def writing(self, name: str, patience: float = inf) -> Iterator[TableLog]:
        with ExitStack() as stack:
            yield self.locked(stack, name, "", spans=False, patience=patience)

    @contextmanager
    def reporting(self, name: str) -> Iterator[TableLog]:
        with ExitStack() as stack:
            yield self.locked(stack, name, "_shared", spans=True)

    def locked(self, stack: ExitStack, name: str, mode: str, spans: bool, patience: float = inf) -> TableLog:
        """An experiment with its lock. Few connections wait in turn for locks; without one of these, it tries again.

        Whoever has less patience than usual doesn't take one of these.
        """
        end = steady() + min(patience, PATIENCE)
        wait = f"FROM pg_advisory_xact_lock{mode}({LOCKS}, ?)"
        attempt = f"FROM pg_try_advisory_xact_lock{mode}({LOCKS}, ?) AS taken WHERE taken"
        while True:
            with suppress(Locked):
                return stack.enter_context(self.log(name, change=True, lock=attempt, spans=spans))
            with self.pool.for_locks() as may_wait, self.naming_lock(name):
                if may_wait and patience >= PATIENCE:
                    return stack.enter_context(self.log(name, change=True, lock=wait, spans=spans))
            if steady() >= end:
                raise self.busy(name)
            sleep(PAUSE)

    def busy(self, name: str) -> Busy:
        return Busy(f"another process has locked {name!r} in {self.address}; try again")

    @contextmanager
    def naming_lock(self, name: str) -> Iterator[None]:
        """Say that an experiment is locked, and not that the database can't be used."""
        try:
            yield
        except Unavailable as error:
            raise (self.busy(name) if isinstance(error.__cause__, LockNotAvailable) else error) from error.__cause__

    def number(self, name: str) -> int:
        if name not in self.numbers:
            with self.session(change=False) as session:
                self.numbers[name] = number_of(session, name)
        return self.numbers[name]

    # The database

    def now(self) -> float:
        known = self.reading_of_clock
        return known.time + steady() - known.before

    def read_clock(self) -> ClockReading:
        return self.reading_of_clock

    def take_time(self, opened: Cursor[Row], after: float) -> None:
        """The database's time, which may be a little late and never early; Locked if a lock was not taken."""
        found = opened.fetchone()
        if found is None:
            raise Locked
        (time,) = found
        self.reading_of_clock = ClockReading(time, after, steady())

    def names(self) -> list[str]:
        with self.session(change=False) as session:
            return named(session)

    def heads(self) -> dict[str, Place]:
        with self.session(change=False) as session:
            return listed(session)

    def forget_numbers(self) -> None:
        self.numbers = {}

    @contextmanager
    def lead(self, purpose: str, lasts: float) -> Iterator[bool]:
        lock = f"{LEADS}, hashtext(current_schema() || '/{purpose}')"  # locks are a database's, we are a schema's
        limit = f"SET idle_session_timeout = {round(1000 * lasts)}"  # the session does nothing but hold the lock
        with self.pool.lend(f"{limit}; SELECT pg_try_advisory_lock({lock})") as opened:
            opened.nextset()
            (leads,) = opened.fetchone() or (False,)
            try:
                yield bool(leads) and not self.read_only
            finally:
                if not opened.connection.closed:
                    opened.connection.execute("RESET idle_session_timeout")
                    opened.connection.execute(f"SELECT pg_advisory_unlock({lock})" if leads else "SELECT 1")

    def damage(self) -> list[str]:
        """PostgreSQL checks its pages itself."""
        return []

    def tidy(self) -> bool:
        """PostgreSQL's own VACUUM does it."""
        return True

    def close(self) -> None:
        self.closing()

    def prepare(self) -> None:
        """Create the tables in an empty database; refuse any other layout than this release's."""
        with self.session(change=not self.read_only) as session:
            release = session.base.info.server_version // 10_000
            if release < OLDEST:
                raise BadDatabase(f"{self.address} is PostgreSQL {release}; version {OLDEST} or later is needed")
            if not self.read_only:
                session.run(f"SELECT pg_advisory_xact_lock({LOCKS}, 0)")
            tables = tables_of(session)
            if not tables and not self.read_only:
                for statement in creation("postgresql"):
                    session.run(statement)
                tables = tables_of(session)
            if TABLE not in tables:
                raise BadDatabase(
                    f"{self.address} holds something else than Afterglow's experiments; name another database, or a "
                    "schema of its own with ?options=-csearch_path%3Dafterglow"
                )
            schema.refuse_other(version_of(session), self.address)


def tables_of(session: PostgresSession) -> set[str]:
    return {name for (name,) in session.rows("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")}


def version_of(session: PostgresSession) -> str:
    found = session.row(f"SELECT version_num FROM {TABLE}")
    return str(found[0]) if found else "none"
