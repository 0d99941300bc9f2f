"""The current variant is answered from memory, whatever else goes on: locks, busy threads, two hundred streams."""

import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Event, Semaphore
from time import monotonic
from typing import Any

import psycopg
import pytest

from afterglow.live import Experiment
from afterglow.live.store.pool import MOST
from afterglow.live.store.postgres import LOCKS
from afterglow.service.background.reward_writer import THREADS
from support.service.live_fixtures import Clock
from testbed.postgres import server
from testbed.quick_disk import quick_folder
from testbed.service import START, Serving, in_thread

STREAMS = 200
WORKERS = 4
SHORT = 2.0  # seconds: far below the 10 for which a file's lock is waited for, and enough for a busy machine
HOURLY = {"name": "hourly", "variants": ["49", "59"], "window": 1, "step_seconds": 3600, "policy": "ucb1"}
PATH = "/v1/experiments/hourly"


@pytest.fixture
def path() -> Iterator[Path]:
    with quick_folder() as folder:
        yield Path(folder) / "experiments.db"


def test_a_locked_file_does_not_hold_up_the_variant(path: Path, clock: Clock) -> None:
    with in_thread(path, clock) as client:
        client.post("/v1/experiments", json=HOURLY).raise_for_status()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            clock.hours(1)  # the step has ended, and can't be closed
            for _ in range(5):
                answer = client.get(f"{PATH}/current")
                assert (answer.status_code, answer.json()["step"], answer.json()["variant"]) == (200, 0, "49")
                assert answer.headers["cache-control"] == "private, max-age=0"
                assert answer.elapsed.total_seconds() < SHORT
                flag = client.post("/ofrep/v1/evaluate/flags/hourly", json={"context": {}})
                assert (flag.status_code, flag.json()["value"]) == (200, "49")
        end = monotonic() + START
        while client.get(f"{PATH}/current").json()["step"] == 0:
            assert monotonic() < end


def test_busy_worker_threads_do_not_hold_up_the_variant(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, free = Event(), Event()

    def never(self: Experiment) -> None:
        stuck.set()
        free.wait(START)

    with in_thread(path, clock, workers=1, time_limit=0.2) as client:
        client.post("/v1/experiments", json=HOURLY).raise_for_status()
        monkeypatch.setattr(Experiment, "status", never)
        try:
            assert client.get(PATH).status_code == 503
            assert stuck.wait(START)
            clock.hours(1)
            answer = client.get(f"{PATH}/current")
            assert (answer.status_code, answer.json()["step"]) == (200, 1)
        finally:
            free.set()


def test_experiments_that_wait_hold_up_no_rewards_of_others(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for locks, or for a long log to be read; there are more of them than threads that write at once."""
    stuck, free, report = Semaphore(0), Event(), Experiment.report
    names = [f"stuck-{n}" for n in range(2 * THREADS)]

    def slow(self: Experiment, batches: Any) -> Any:
        if self.name in names:
            stuck.release()
            assert free.wait(START)
        return report(self, batches)

    monkeypatch.setattr(Experiment, "report", slow)
    with in_thread(path, clock) as client, ThreadPoolExecutor(2 * len(names)) as senders:
        for name in [*names, "hourly"]:
            client.post("/v1/experiments", json=HOURLY | {"name": name}).raise_for_status()
        reward = {"key": "a", "amount": 1.0}
        try:
            paths = [f"/v1/experiments/{name}/rewards" for name in names]
            waiting = [senders.submit(client.post, one, json=reward) for one in paths * 2]
            assert all(stuck.acquire(timeout=START) for _ in names)
            answer = client.post(f"{PATH}/rewards", json=reward)
            assert answer.json()["accepted"] == 1
            assert answer.elapsed.total_seconds() < SHORT
        finally:
            free.set()
        assert sum(one.result().json()["accepted"] for one in waiting) == len(names)


def test_a_replica_that_is_frozen_in_transactions_holds_up_its_experiments_alone(clock: Clock) -> None:
    """It has the locks of more of them than there are connections, until the database ends its session."""
    database, names = server().fresh(), [f"frozen-{n}" for n in range(MOST + 1)]
    with in_thread(database, clock) as client:
        for name in [*names, "hourly"]:
            client.post("/v1/experiments", json=HOURLY | {"name": name}).raise_for_status()
        with psycopg.connect(database) as replica:
            replica.execute(f"SELECT pg_advisory_xact_lock({LOCKS}, id::int) FROM experiments WHERE name <> 'hourly'")
            clock.hours(1)  # the step has ended, and can't be closed
            with ThreadPoolExecutor(len(names)) as senders:
                reward = {"key": "a", "amount": 1.0}
                paths = [f"/v1/experiments/{name}/rewards" for name in names]
                waiting = [senders.submit(client.post, one, json=reward) for one in paths]
                answer = client.get("/v1/experiments/frozen-0/current")
                assert (answer.status_code, answer.json()["step"], answer.json()["variant"]) == (200, 0, "49")
                assert answer.elapsed.total_seconds() < SHORT
                taken = client.post(f"{PATH}/rewards", json=reward)
                assert (taken.json()["accepted"], taken.json()["step"]) == (1, 1)
                assert taken.elapsed.total_seconds() < SHORT
                assert client.get(f"{PATH}/current").json()["step"] == 1
                assert not any(one.done() for one in waiting)
                replica.rollback()
                assert {one.result().json()["step"] for one in waiting} == {1}
    server().drop(database)


def test_pages_of_experiments_that_are_locked_hold_up_no_others(clock: Clock) -> None:
    """More calls wait for a frozen replica, which has their locks, than there are worker threads."""
    database, names = server().fresh(), [f"frozen-{n}" for n in range(3 * WORKERS)]
    with in_thread(database, clock, workers=WORKERS) as client:
        for name in [*names, "hourly"]:
            client.post("/v1/experiments", json=HOURLY | {"name": name}).raise_for_status()
        with psycopg.connect(database) as replica, ThreadPoolExecutor(2 * len(names)) as callers:
            replica.execute(f"SELECT pg_advisory_xact_lock({LOCKS}, id::int) FROM experiments WHERE name <> 'hourly'")
            clock.hours(1)  # the step has ended, and can't be closed
            frozen = [f"/v1/experiments/{name}" for name in names]
            waiting = [callers.submit(client.get, f"{path}/estimates") for path in frozen]
            shown = [callers.submit(client.get, f"{path}/current") for path in frozen]
            for path in (f"{PATH}/estimates", f"{PATH}/current", f"{PATH}/events", PATH, "/readyz"):
                answer = client.get(path)
                assert answer.status_code == 200, (path, answer.text)
                assert answer.elapsed.total_seconds() < SHORT, path
            answer = client.post(f"{PATH}/rewards", json={"key": "a", "amount": 1.0})
            assert (answer.json()["accepted"], answer.json()["step"]) == (1, 1)
            assert {one.result().json()["step"] for one in shown} == {0}
            assert not any(one.done() for one in waiting)
            replica.rollback()
            assert {one.result().status_code for one in waiting} == {200}
    server().drop(database)


def test_lists_wait_for_no_locks_and_steps_of_other_experiments_end_in_time(clock: Clock) -> None:
    """The locked ones are listed as they are stored, and marked; the ticker doesn't wait for them either."""
    database, names = server().fresh(), [f"frozen-{n}" for n in range(WORKERS)]
    with in_thread(database, clock) as client:
        for name in [*names, "hourly"]:
            client.post("/v1/experiments", json=HOURLY | {"name": name}).raise_for_status()
        with psycopg.connect(database) as replica:
            replica.execute(f"SELECT pg_advisory_xact_lock({LOCKS}, id::int) FROM experiments WHERE name <> 'hourly'")
            clock.hours(1)
            end = monotonic() + SHORT
            while 'afterglow_step{experiment="hourly"} 1.0' not in client.get("/metrics").text:
                assert monotonic() < end, "the ticker waits for locks"
            answer = client.get("/v1/experiments")
            found = {one["name"]: (one["status"]["step"], one["status"]["stale"]) for one in answer.json()["items"]}
            assert found == {"hourly": (1, False)} | dict.fromkeys(names, (0, True))
            page = client.get("/")
            assert page.text.count("another process has locked it") == len(names)
            assert max(answer.elapsed, page.elapsed).total_seconds() < SHORT
            replica.rollback()
        end = monotonic() + START
        while any(one["status"]["step"] == 0 for one in client.get("/v1/experiments").json()["items"]):
            assert monotonic() < end
    server().drop(database)


def subscribed(serving: Serving) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", serving.port), START)
    head = f"GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {serving.token}\r\n\r\n"
    made.sendall(head.encode())
    return made


def read_until(stream: socket.socket, text: bytes) -> bytes:
    got = b""
    while text not in got:
        more = stream.recv(1 << 16)
        assert more, "the stream has ended"
        got += more
    return got


def test_two_hundred_streams_get_every_event_and_the_same_ids_while_variants_are_answered(path: Path) -> None:
    with Serving(path, "--rate-limit", "1e9", streams=str(2 * STREAMS)) as serving, ExitStack() as stack:
        http = stack.enter_context(serving.client())
        http.post("/v1/experiments", json=HOURLY | {"name": "quick", "step_seconds": 0.5}).raise_for_status()
        http.post("/v1/experiments", json=HOURLY).raise_for_status()
        streams = [stack.enter_context(subscribed(serving)) for _ in range(STREAMS)]
        for one in streams:
            read_until(one, b"retry: 1000")
        slowest = 0.0
        for _ in range(100):
            answer = http.get(f"{PATH}/current")
            assert answer.status_code == 200
            slowest = max(slowest, answer.elapsed.total_seconds())
        assert slowest < SHORT
        http.post(f"{PATH}/pin", json={"variant": "59", "reason": "the last"}).raise_for_status()
        ids = set[bytes]()
        for one in streams:
            got = read_until(one, b"the last")
            event = next(part for part in got.replace(b"\r\n", b"\n").split(b"\n\n") if b"the last" in part)
            ids.add(next(line for line in event.split(b"\n") if line.startswith(b"id: ")))
        assert len(ids) == 1, "each stream makes its own ids"
