"""What operators see: metrics, logs, readiness, the document."""

import asyncio
import json
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any, cast

import httpx
import jsonschema_rs
import pytest
from prometheus_client.parser import text_string_to_metric_families

from afterglow import live
from afterglow.live.store.contract import Reading
from afterglow.service.auth.tokens import SCOPES, TokenCache
from afterglow.service.background import ticker
from afterglow.service.background.event_ids import Places
from afterglow.service.background.ticker import Ticker
from afterglow.service.metrics import Metrics
from afterglow.service.problems import KINDS, TABLE
from support.service.live_fixtures import Clock
from testbed.postgres import server
from testbed.quick_disk import quick_folder
from testbed.service import START, Serving, in_thread, insist, slug

ASKED: dict[str, Any] = {
    "name": "shipping",
    "variants": ["49", "59"],
    "window": 3,
    "reward_max": 10.0,
    "policy": "ucb1",
}


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with quick_folder() as folder, in_thread(Path(folder) / "e.db") as made:
        yield made


def samples(client: httpx.Client) -> dict[tuple[str, ...], float]:
    text = client.get("/metrics").text
    return {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def until(client: httpx.Client, *there: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    """The samples once all of these are above 0: what happened is counted behind the calls, one after another."""
    end = monotonic() + START
    while not all((found := samples(client)).get(one) for one in there):
        assert monotonic() < end
    return found


def test_an_alarm_that_a_killed_process_has_not_told_is_told_after_the_start() -> None:
    gauge = ("afterglow_alarm", "shipping")
    with quick_folder() as folder:
        with live.open(Path(folder) / "e.db") as experiments:  # it tells nothing by itself
            made = experiments.create(**ASKED)
            made.rewards([(str(number), 10.0) for number in range(9)])
            made.close_step()
            assert made.status().alarm
        with in_thread(Path(folder) / "e.db") as client:
            until(client, gauge)
            kinds = [one["kind"] for one in client.get("/v1/experiments/shipping/events").json()["items"]]
            assert kinds.count("alarm_raised") == 1
            for command in ("stop", "archive"):
                client.post(f"/v1/experiments/shipping/{command}", json={"reason": "done"}).raise_for_status()
            until(client, ("afterglow_events_total", "shipping", "archive"))
            assert samples(client)[gauge] == 0


def test_metrics_count_what_happened(client: httpx.Client) -> None:
    client.post("/v1/experiments", json=ASKED).raise_for_status()
    for key in "aab":
        client.post("/v1/experiments/shipping/rewards", json={"key": key, "amount": 1.0}).raise_for_status()
    client.post("/v1/experiments/shipping/rewards", json={"key": "a", "amount": 2.0})
    client.post("/v1/experiments/shipping/steps/0", json={}).raise_for_status()
    client.get("/v1/experiments/shipping/current").raise_for_status()
    found = until(client, ("afterglow_decisions_total", "shipping", "49"), ("afterglow_step", "shipping"))
    assert found["afterglow_requests_total", "rewards", "202"] == 3
    assert found["afterglow_requests_total", "rewards", "422"] == 1
    assert found["afterglow_request_seconds_count", "current"] == 1
    assert found["afterglow_rewards_total", "shipping"] == 2
    assert found["afterglow_reward_duplicates_total", "shipping"] == 1
    assert found["afterglow_reward_batches_refused_total", "shipping"] == 1
    assert found["afterglow_events_total", "shipping", "close"] == 1
    assert found["afterglow_step", "shipping"] == 1
    assert found["afterglow_rewards_waiting",] == 0
    assert found["afterglow_database_away",] == 0


def test_steps_that_were_missed_while_the_service_was_away_are_counted() -> None:
    clock = Clock()
    with quick_folder() as folder:
        with live.open(Path(folder) / "e.db", clock=clock) as experiments:
            experiments.create("hourly", ["A", "B"], window=3, step_seconds=3600)
            experiments.create("idle", ["A", "B"], window=3)
        clock.hours(5)
        with in_thread(Path(folder) / "e.db", clock) as client:
            while ("afterglow_step", "idle") not in samples(client):
                pass
            found = until(client, ("afterglow_events_total", "hourly", "missed"), ("afterglow_step", "hourly"))
    assert (found["afterglow_step", "hourly"], found["afterglow_step", "idle"]) == (5, 0)


def test_metrics_are_written_where_no_other_call_waits(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ten thousand experiments it takes half a second."""
    on_loop, text = list[bool](), Metrics.text

    def noted(self: Metrics, *given: Any) -> bytes:
        on_loop.append(asyncio._get_running_loop() is not None)
        return text(self, *given)

    monkeypatch.setattr(Metrics, "text", noted)
    assert client.get("/metrics").status_code == 200
    assert on_loop == [False]


def test_records_of_many_experiments_at_once_are_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticker, "PAGE", 5)
    monkeypatch.setattr(ticker, "TOGETHER", 5)
    with quick_folder() as folder, live.open(Path(folder) / "e.db") as experiments:
        one = ticker.Ticker(experiments, cast(TokenCache, None), Metrics())
        got = list[str]()
        one.loop = cast(Any, SimpleNamespace(call_soon_threadsafe=lambda add, items, places: got.extend(items)))
        seen = Places(experiments.places())
        for number in range(50):
            experiments.create(f"e{number}", **{name: value for name, value in ASKED.items() if name != "name"})
        reads, reading = list[str](), experiments._store.reading

        def noted(name: str) -> AbstractContextManager[Reading]:
            reads.append(name)
            return reading(name)

        monkeypatch.setattr(experiments._store, "reading", noted)
        one.take_in(seen)
        assert len(got) == 100
        assert seen == experiments.places()
        assert len(reads) < 8 * 50  # not 50 for each page


def test_metrics_may_need_a_token() -> None:
    with quick_folder() as folder, Serving(Path(folder) / "e.db", metrics="token") as serving:
        assert slug(httpx.get(f"{serving.address}/metrics")) == "unauthorized"
        with serving.client() as client:
            assert client.get("/metrics").status_code == 200


def test_logs_are_json_with_the_request_s_id_and_no_secret() -> None:
    with quick_folder() as folder, Serving(Path(folder) / "e.db", log_level="debug") as serving:
        with serving.client() as client:
            client.post("/v1/experiments", json=ASKED, headers={"X-Request-ID": "mine"}).raise_for_status()
            client.post("/v1/experiments/shipping/rewards", json={"key": "do-not-log-me", "amount": 1.0})
            client.get("/v1/experiments?after=x", headers={"Authorization": "Bearer ag_000000000000_secret"})
        assert serving.stop() == 0
    lines = [json.loads(line) for line in serving.errors.splitlines()]
    calls = {line["call"]: line for line in lines if line["message"] == "called"}
    made = calls["create_experiment"]
    assert (made["request"], made["status"], made["method"], made["level"]) == ("mine", 201, "POST", "info")
    assert made["token"] == serving.token.split("_")[1]
    assert calls["rewards"]["level"] == "debug"
    assert [line["message"] for line in lines if line["logger"] == "afterglow.service"] == [
        "started", "stopping", "stopped",
    ]  # fmt: skip
    for secret in (serving.token.split("_", 2)[2], "do-not-log-me", "ag_000000000000"):
        assert secret not in serving.errors


def test_an_experiment_that_cant_go_on_is_named_once_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    with quick_folder() as folder:
        file = Path(folder) / "e.db"
        with live.open(file) as experiments:
            for name in ("damaged", "whole"):
                experiments.create(name, ["A", "B"], window=3)
        with closing(sqlite3.connect(file)) as base, base:
            base.execute("UPDATE events SET at = at + 1 WHERE experiment = 1 AND seq = 1")
        with live.open(file) as experiments:
            watch = Ticker(experiments, TokenCache(list), Metrics())
            for _ in range(3):
                watch.complain(experiments.tick())
            assert experiments["whole"].current() == "A"
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("an experiment can't continue: record 1 of 'damaged' doesn't follow")


def test_while_the_database_is_away_callers_are_told_and_then_it_goes_on() -> None:
    address = server().fresh()
    with Serving(address) as serving, serving.client() as client:
        client.post("/v1/experiments", json=ASKED).raise_for_status()
        assert client.get("/readyz").status_code == 200
        server().stop()
        try:
            insist(client, 503, "GET", "/readyz")  # it is asked once a second
            for answer in (
                client.get("/readyz"),
                client.post("/v1/experiments/shipping/rewards", json={"key": "a", "amount": 1.0}),
                client.post("/v1/experiments/shipping/pause", json={"reason": "no"}),
            ):
                assert (slug(answer), answer.headers["retry-after"]) == ("database-unavailable", "2")
                assert answer.json()["detail"] == KINDS["database-unavailable"].title  # not where it is
            assert client.get("/healthz").status_code == 200
            until(client, ("afterglow_database_away",))
        finally:
            server().start()
        insist(client, 200, "GET", "/readyz")
        answer = client.post("/v1/experiments/shipping/rewards", json={"key": "a", "amount": 1.0})
        assert answer.json() == {"step": 0, "accepted": 1, "duplicates": 0}
        end = monotonic() + START
        while samples(client)["afterglow_database_away",] == 1:
            assert monotonic() < end
        serving.stop()
        assert "a call was refused: " in serving.errors
    server().drop(address)


def test_the_document_is_complete(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    schemas = document["components"]["schemas"]
    assert {one.slug for one in TABLE} == {
        one.removeprefix("/problems/") for one in schemas["Problem"]["properties"]["type"]["enum"]
    }
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            assert call["summary"], (method, path)
            assert ("401" in call["responses"]) == path.startswith(("/v1/", "/ofrep/")), (method, path)
            scopes = [scope for one in call["security"] for scope in one["token"]]
            assert len(scopes) == ("401" in call["responses"]), (method, path)
            assert set(scopes) <= set(SCOPES), (method, path)
    named = {name for name, schema in schemas.items() if schema.get("type") == "object"}
    assert [name for name in sorted(named) if "examples" not in schemas[name]] == []


def test_every_example_of_the_document_fits_its_shape(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    for name, schema in document["components"]["schemas"].items():
        whole = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        for example in schema.get("examples", []):
            jsonschema_rs.validate(whole, example)


def test_headers_without_end_are_cut_off(client: httpx.Client) -> None:
    here = (client.base_url.host, client.base_url.port)
    with socket.create_connection(here, 60) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with suppress(OSError):
            for _ in range(10_000):
                line.sendall(b"x" * 65_536)
        with suppress(ConnectionResetError):
            assert line.recv(1) == b""
    assert client.get("/healthz").status_code == 200


def test_a_long_body_is_no_header(client: httpx.Client) -> None:
    client.post("/v1/experiments", json=ASKED).raise_for_status()
    batch = [{"key": f"{number:0200}", "amount": 0.0} for number in range(1000)]
    for _ in range(2):
        assert client.post("/v1/experiments/shipping/rewards", json=batch).status_code == 202
