"""The database loses records under running services: they notice before they write, say so, and go on without a gap."""

import re
from collections.abc import Iterator
from itertools import count, islice
from threading import Event, Thread
from typing import Any

import httpx
import psycopg
import pytest

from testbed.postgres import Server, server
from testbed.service import START, Serving, command, events, insist
from testbed.standby import Standby
from testbed.storm import paged

SHOP: dict[str, Any] = {"name": "shop", "variants": ["49", "59"], "window": 2, "reward_max": 1e9, "policy": "ucb1"}
HERE = "/v1/experiments/shop"


class Load:
    """Reports to both services and closes steps, whatever they answer, until it is stopped."""

    def __init__(self, services: list[Serving]) -> None:
        self.services = services
        self.over = Event()
        self.steps = 0  # acknowledged
        self.thread = Thread(target=self.run)

    def run(self) -> None:
        numbers = count()
        with self.services[0].client() as one, self.services[1].client() as two:
            while not self.over.is_set():
                for http in (one, two):
                    try:
                        http.post(f"{HERE}/rewards", json={"key": f"k{next(numbers)}", "amount": 1.0})
                        step = http.get(f"{HERE}/current").json().get("step", 0)
                        self.steps += http.post(f"{HERE}/steps/{step}", json={}).status_code == 200
                    except httpx.TransportError:
                        pass

    def __enter__(self) -> "Load":
        self.thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.over.set()
        self.thread.join(START)

    def wait(self, steps: int) -> None:
        until = self.steps + steps
        for _ in range(3000):
            if self.steps >= until or self.over.wait(0.02):
                return
        raise AssertionError("the services do not go on")


def head(http: httpx.Client) -> int:
    return int(list(paged(http, f"{HERE}/events"))[-1]["seq"])


def rewinds(http: httpx.Client) -> float:
    found = re.search(r'afterglow_log_rewinds_total{experiment="shop"} (\S+)', http.get("/metrics").text)
    return float(found[1]) if found else 0.0


def first_events(serving: Serving, number: int, after: str | None = None) -> list[tuple[str, dict[str, Any]]]:
    sent = {} if after is None else {"Last-Event-ID": after}
    with serving.client() as http, http.stream("GET", "/v1/events?experiment=shop", headers=sent) as stream:
        return list(islice(events(stream.iter_lines()), number))


@pytest.fixture
def followed() -> Iterator[tuple[Server, Standby]]:
    primary = Server()
    try:
        with Standby(primary) as standby:
            yield primary, standby
    finally:
        primary.remove()


def test_a_standby_promoted_under_load_loses_what_it_had_not_and_nothing_is_appended_behind_a_gap(
    followed: tuple[Server, Standby],
) -> None:
    primary, standby = followed
    database = psycopg.conninfo.conninfo_to_dict(primary.fresh())["dbname"]
    address = standby.either(str(database))
    with Serving(address) as one, Serving(address) as two:
        two.token = one.token
        with one.client() as http:
            http.post("/v1/experiments", json=SHOP).raise_for_status()
            with Load([one, two]) as load:
                load.wait(10)
                standby.cut_off()
                load.wait(20)
                ((cursor, last),) = first_events(one, 1)
                primary.kill()
                standby.promote()
                load.wait(10)
            insist(http, 200, "GET", HERE)
            seqs = [event["seq"] for event in paged(http, f"{HERE}/events")]
            assert seqs == list(range(len(seqs)))
        with one.client() as first, two.client() as second:  # one that had not read ahead has nothing to forget
            assert rewinds(first) + rewinds(second) > 0
        (told,) = first_events(two, 1, cursor)
        assert (told[1]["kind"], told[1]["body"]["seen"]) == ("rewound", last["seq"])
        verdict = command("verify", address, check=False)
        assert "all as logged" in verdict.stdout, verdict.stdout + verdict.stderr
        assert (one.stop(), two.stop()) == (0, 0)
    assert "the log of 'shop' has lost records" in one.errors + two.errors
    assert "Traceback" not in one.errors + two.errors


REWIND = (
    "DELETE FROM rewards", "DELETE FROM spans", "DELETE FROM sums", "DELETE FROM snapshots",
    "DELETE FROM events WHERE seq > 6", "DELETE FROM steps WHERE step > 5",
    "UPDATE steps SET total = NULL WHERE step = 5",
)  # fmt: skip


def test_replicas_on_a_database_that_was_rewound_go_on_from_it_whoever_writes_first() -> None:
    """One has seen records that are gone; the other finds records of the first in their place."""
    database = server().fresh()
    with Serving(database) as one, Serving(database) as two, one.client() as http:
        two.token = one.token
        http.post("/v1/experiments", json=SHOP).raise_for_status()
        for step in range(10):
            http.post(f"{HERE}/steps/{step}", json={"total": 1.0}).raise_for_status()
        with two.client() as other:
            assert other.get(f"{HERE}/current").json()["step"] == 10
            with psycopg.connect(database) as base:
                for statement in REWIND:
                    base.execute(statement)
            for step in range(5, 10):  # as many records as before, with another content
                insist(http, 200, "POST", f"{HERE}/steps/{step}", json={"total": 2.0})
            assert other.get(f"{HERE}/current").json()["step"] == 10
            other.post(f"{HERE}/steps/10", json={"total": 3.0}).raise_for_status()
            totals = [row["total"] for row in paged(other, f"{HERE}/steps")]
            assert totals == [1.0] * 5 + [2.0] * 5 + [3.0, None]
            assert (rewinds(http), rewinds(other)) == (1.0, 1.0)
        assert command("verify", database).stdout.count("all as logged") == 1
    server().drop(database)
