"""Two services on one PostgreSQL: one decision for each step, the same from both, and no reward outside its step."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle, groupby
from random import Random
from threading import Event
from time import monotonic

import psycopg
import pytest

from testbed.postgres import server
from testbed.service import START, Serving, command
from testbed.storm import Storm, paged
from testbed.storm_clients import VARIANTS

BOUNDARIES = 30
HOLD_UP = 30.0  # seconds
SILENCE = 3.0  # seconds; PostgreSQL ends the transaction of a frozen one after 5
HELD = """
    SELECT pid, xact_start FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND state = 'idle in transaction'
"""


@pytest.fixture
def replicas() -> Iterator[list[Serving]]:
    database = server().fresh()
    with Serving(database) as one, Serving(database) as two:
        two.token = one.token
        yield [one, two]
    server().drop(database)


def orders(serving: Serving, name: str, order: str, seed: int, over: Event) -> int:
    """Give an order again and again, at its own pace; how often it was taken."""
    random, given = Random(seed), 0
    with serving.client() as http:
        for variant in cycle(VARIANTS):
            if over.wait(random.uniform(0.0, 0.2)):
                return given
            body = {"reason": "it is my turn"} | ({"variant": variant} if order == "pin" else {})
            answer = http.post(f"/v1/experiments/{name}/{order}", json=body)
            assert answer.status_code == 200, answer.text
            given += 1
    return given


def verified(serving: Serving) -> int:
    """How many experiments replay as logged; all others fail."""
    return command("verify", serving.db).stdout.count("all as logged")


def heard_from_both(storm: Storm) -> set[int]:
    """Steps in which somebody asked each of the two."""
    one, two = (set[int]().union(*(list(client.seen) for client in storm.clients[half::2])) for half in (0, 1))
    return one & two


def closed_by_both(storm: Storm) -> set[int]:
    one, two = (set(closer.closed) for closer in storm.closers)
    return one & two


def test_sixteen_clients_meet_one_decision_in_every_step_whichever_replica_they_ask(replicas: list[Serving]) -> None:
    with Storm(1, replicas, "by-clock", clients=16, step_seconds=0.125) as storm:
        storm.wait_until(lambda: storm.step > BOUNDARIES and len(heard_from_both(storm)) > BOUNDARIES // 4)
    figures = storm.check()
    assert figures.steps > BOUNDARIES
    assert figures.came_through == 0  # so every total is the sum of its receipts
    assert verified(replicas[0]) == 1


def test_steps_closed_by_both_at_once_are_closed_once_while_orders_race(replicas: list[Serving]) -> None:
    over = Event()
    with ExitStack() as stack:
        storm = stack.enter_context(Storm(2, replicas, "by-hand", clients=4, close_every=40))
        pool = stack.enter_context(ThreadPoolExecutor(3))
        stack.callback(over.set)
        given = [
            pool.submit(orders, replicas[0], "by-hand", "pin", 1, over),
            pool.submit(orders, replicas[1], "by-hand", "pin", 2, over),
            pool.submit(orders, replicas[1], "by-hand", "unpin", 3, over),
        ]
        storm.wait_until(lambda: storm.step > BOUNDARIES and len(closed_by_both(storm)) > BOUNDARIES // 4)
    assert all(future.result() > 0 for future in given)
    figures = storm.check()
    assert figures.came_through == 0
    with replicas[0].client() as http:
        log = list(paged(http, "/v1/experiments/by-hand/events"))
    assert [one["body"]["step"] for one in log if one["kind"] == "close"] == list(range(figures.steps - 1))
    given_ = [(one["kind"], one["body"].get("variant")) for one in log if one["kind"] in ("pin", "unpin")]
    assert all(len(list(same)) == 1 for _, same in groupby(given_))  # what was in force already changed nothing
    assert verified(replicas[0]) == 1


def test_replicas_killed_and_stopped_in_turn_are_covered_by_the_other(replicas: list[Serving]) -> None:
    random = Random(3)
    with Storm(3, replicas, "by-clock", clients=4, operators=2, step_seconds=0.5) as storm:
        for number, serving in enumerate(replicas):
            storm.wait(100)
            Event().wait(random.uniform(0.0, 0.3))
            if number == 0:
                serving.kill()
            else:
                assert serving.stop() == 0
            storm.wait(100)  # the other goes on
            serving.start()
    assert storm.check().retried > 0
    assert sum(sum(operator.given.values()) for operator in storm.operators) > 0
    assert verified(replicas[0]) == 1


def freeze_in_a_transaction(serving: Serving) -> None:
    """Stop its process at a moment when it holds the lock of an experiment."""
    assert serving.process is not None
    random, end = Random(5), monotonic() + START
    with psycopg.connect(serving.db, autocommit=True) as base:
        while monotonic() < end:
            serving.process.send_signal(signal.SIGSTOP)
            held = base.execute(HELD).fetchall()
            if held and Event().wait(0.1) is False and base.execute(HELD).fetchall() == held:
                return
            serving.process.send_signal(signal.SIGCONT)
            Event().wait(random.uniform(0.0, 0.02))  # so that it goes on, however busy the machine is
    raise AssertionError("it never held a lock")


def test_a_replica_that_is_frozen_in_a_transaction_holds_up_the_other_for_seconds_only(replicas: list[Serving]) -> None:
    frozen, other = replicas
    with Storm(4, [frozen], "by-clock", clients=4, step_seconds=0.5) as storm:
        storm.wait(100)
        freeze_in_a_transaction(frozen)
        try:
            began, last = monotonic(), storm.step
            with other.client() as http:
                while (answer := http.get("/v1/experiments/by-clock/current")).json().get("step", 0) < last + 4:
                    assert answer.status_code == 200, answer.text
                    assert answer.elapsed.total_seconds() < SILENCE, "it waits for the frozen one"
                    assert monotonic() < began + HOLD_UP
        finally:
            assert frozen.process is not None
            frozen.process.send_signal(signal.SIGCONT)
        storm.wait(100)
    storm.check()
    assert verified(other) == 1
