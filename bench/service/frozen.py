"""`GET current` beside a replica that is frozen, and calls beside experiments that are locked, with PostgreSQL.

Two processes serve one database. The second one is stopped at a moment when it has the lock of an experiment, and stays
so. Then the first one gets three times the load of `lanes`, with its streams and dashboards. At last another connection
holds the locks of `LOCKED` experiments whose steps have ended, as a replica would that waits for a disk.
"""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from afterglow.live.store.postgres import LOCKS
from bench.report.figures import Figure, Item
from bench.service.databases import postgres_server, release_of
from bench.service.lanes import (
    CONNECTIONS,
    DASHBOARDS,
    HOURLY,
    MOST,
    QUICK,
    REWARDS,
    STREAMS,
    TIMES,
    asked,
    dashboards,
    operator,
    overload,
    seconds_of,
    share,
    streams,
)
from bench.service.load import Plan, Result
from testbed.service import Serving

SECONDS = 10.0
LOCKED = 40
AT_MOST = 1.0  # seconds, for lists
HELD = """
    SELECT pid, xact_start FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND state = 'idle in transaction'
"""
CALLS = 20  # of each list
PATHS = ("/v1/experiments?limit=200", "/", "/readyz")
QUICKLY = "/v1/experiments/quick/current"


@contextmanager
def frozen(replica: Serving) -> Iterator[None]:
    """Stop the process while it has a lock; what it has stays until the database ends its session."""
    process = replica.process
    assert process is not None
    with psycopg.connect(replica.db, autocommit=True) as base:
        for _ in range(2_000):
            process.send_signal(signal.SIGSTOP)
            before = base.execute(HELD).fetchall()
            time.sleep(0.05)
            if before and base.execute(HELD).fetchall() == before:
                break
            process.send_signal(signal.SIGCONT)
            time.sleep(0.005)
        else:
            raise SystemExit("the replica never had a lock")
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@contextmanager
def locked(database: str) -> Iterator[None]:
    """The locks of all experiments but the first two."""
    with psycopg.connect(database) as other:
        other.execute(f"SELECT pg_advisory_xact_lock({LOCKS}, id::int) FROM experiments WHERE name LIKE 'locked-%'")
        yield


def beside_a_frozen_replica(service: Serving, database: str, seconds: float) -> tuple[list[list[float]], Result]:
    """What `current` took, of an experiment that nobody has locked and of one that the frozen replica may have; and the
    load."""
    token = service.new_token("decide", "report", "read")
    alone = asked(service, token, seconds / 2)
    with ExitStack() as busy:
        replica = busy.enter_context(Serving(database, "--rate-limit", "1e9"))
        plan = Plan(service.port, REWARDS, token, TIMES * CONNECTIONS, 2 * seconds + 8, batch=0)
        taken = busy.enter_context(overload(plan))
        busy.enter_context(streams(service, token))
        busy.enter_context(dashboards(service))
        healthy = asked(service, token, seconds / 2)
        busy.enter_context(frozen(replica))
        found = [alone, healthy, asked(service, token, seconds), asked(service, token, seconds / 2, QUICKLY)]
    return found, taken[0]


def beside_locked_experiments(service: Serving, database: str, seconds: float) -> list[list[float]]:
    """What the list, the overview, readiness and `current` of another experiment took."""
    token = service.new_token("decide", "read")
    with service.client() as client:
        for number in range(LOCKED):
            made = HOURLY | {"name": f"locked-{number}", "step_seconds": 1.0}
            client.post("/v1/experiments", json=made).raise_for_status()
    with locked(database):
        time.sleep(2.0)  # their steps have ended
        with operator(service) as client:
            lists = [sorted(seconds_of(client, path) for _ in range(CALLS)) for path in PATHS]
        return [*lists, asked(service, token, seconds / 2, QUICKLY)]


def measure(folder: Path, seconds: float = SECONDS) -> Item:
    with ExitStack() as stack:
        database = stack.enter_context(postgres_server(folder))
        service = stack.enter_context(Serving(database, "--rate-limit", "1e9", streams=str(2 * STREAMS)))
        with service.client() as client:
            for one in (HOURLY, QUICK):
                client.post("/v1/experiments", json=one).raise_for_status()
        replicas, taken = beside_a_frozen_replica(service, database, seconds)
        lists = beside_locked_experiments(service, database, seconds)
        release = release_of(database)
    names = [
        "`current`, beside nothing else",
        f"`current`, beside a replica, {STREAMS} streams, {DASHBOARDS} dashboards and the load",
        "the same, with the replica frozen",
        "the same, of the experiment whose lock it may have",
        f"`GET /v1/experiments`, {LOCKED} of {LOCKED + 2} locked",
        "overview",
        "`/readyz`",
        "`current` of another experiment, whose steps last 0.2 s",
    ]
    return Item(
        "frozen", f"Beside a replica that is frozen, and beside experiments that are locked (PostgreSQL {release})",
        [
            Figure("p99 of `current`, replica frozen", 1000 * share(replicas[2], 0.99), "ms", at_most=1000 * MOST),
            Figure(f"slowest list with {LOCKED} experiments locked", 1000 * lists[0][-1], "ms", at_most=1000 * AT_MOST),
            Figure("slowest overview", 1000 * lists[1][-1], "ms", at_most=1000 * AT_MOST),
        ],
        ["what", "p50, ms", "p99, ms", "slowest, ms"],
        [
            [name, *(f"{1000 * share(took, part):.1f}" for part in (0.5, 0.99, 1.0))]
            for name, took in zip(names, [*replicas, *lists], strict=True)
        ],
        [
            f"{TIMES * CONNECTIONS} connections sent {taken.rate:,.0f} rewards a second, which were answered "
            f"{', '.join(f'{count:,} times {status}' for status, count in taken.statuses.items())}. The machine also "
            "runs the database, the load, the streams' readers and the dashboards."
        ],
    )  # fmt: skip


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(measure(Path(place), float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS).markdown())
