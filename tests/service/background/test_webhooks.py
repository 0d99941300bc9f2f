"""Webhooks: signed, in order, at least once, across failures, kills and replicas; and nowhere they shouldn't lead."""

import asyncio
import json
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import httpx
import pytest

import afterglow
from afterglow.client import check_signature
from afterglow.live.store import access
from afterglow.live.store.access import HookRow
from afterglow.service.background.webhook_call import LIMIT, calling
from afterglow.service.background.webhook_delivery import Deliveries
from testbed.postgres import server as postgres
from testbed.service import START, Serving, in_thread, slug

MANUAL = {"name": "shipping", "variants": ["49", "59"], "window": 1}


class Receiver:
    """A real HTTP server that keeps what it is sent, and answers as it is told."""

    def __init__(self) -> None:
        self.answers: list[int] = []  # statuses to come; then 204
        self.taken: list[dict[str, Any]] = []  # events answered with 204
        self.tried: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.signed: list[tuple[bytes, dict[str, str]]] = []
        self.news = Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.send_response(receiver.take(self))
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/hook"

    def take(self, call: BaseHTTPRequestHandler) -> int:
        body = call.rfile.read(int(call.headers["Content-Length"]))
        event = json.loads(body)
        lost = "-rewound" if event["kind"] == "rewound" else ""
        assert call.headers["webhook-id"] == f"{event['experiment']}/{event['seq']}{lost}"
        with self.news:
            status = self.answers.pop(0) if self.answers else 204
            self.paths.append(call.path)
            self.signed.append((body, dict(call.headers)))
            self.tried.append(event)
            self.taken += [event] if status == 204 else []
            self.news.notify_all()
        return status

    def wait(self, enough: Callable[[], bool]) -> None:
        with self.news:
            assert self.news.wait_for(enough, START), (self.tried, self.taken)

    def seqs(self, experiment: str = "shipping") -> list[int]:
        return [event["seq"] for event in self.taken if event["experiment"] == experiment]


@contextmanager
def receiving() -> Iterator[Receiver]:
    made = Receiver()
    thread = Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        made.http.shutdown()
        made.http.server_close()
        thread.join()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with in_thread(tmp_path / "experiments.db", webhooks="any") as made:
        yield made


def create(client: httpx.Client, **hook: Any) -> dict[str, Any]:
    answer = client.post("/v1/webhooks", json=hook)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def close(client: httpx.Client, *steps: int, name: str = "shipping") -> None:
    for step in steps:
        client.post(f"/v1/experiments/{name}/steps/{step}", json={"total": 0.5}).raise_for_status()


def test_events_are_delivered_signed_in_order_and_again_until_they_are_taken(
    client: httpx.Client, receiver: Receiver
) -> None:
    receiver.answers = [204, 500, 302, 204]
    client.post("/v1/experiments", json=MANUAL).raise_for_status()
    hook = create(client, url=receiver.url)
    close(client, 0, 1, 2)
    receiver.wait(lambda: len(receiver.taken) == 3)
    (listed,) = client.get("/v1/webhooks").json()["items"]
    assert receiver.seqs() == [2, 3, 4]  # what came before the webhook, creation and start, is not sent
    assert [event["seq"] for event in receiver.tried] == [2, 3, 3, 3, 4]
    assert set(receiver.paths) == {"/hook"}  # redirects are not followed
    assert receiver.taken[0]["kind"] == "close"
    assert receiver.taken[0]["body"]["total"] == 0.5
    assert receiver.taken[2]["verdict"]["grade"] == "exploring"  # the newest event has the verdict
    assert isinstance(receiver.taken[0]["body"]["served"], str)  # its name
    for body, headers in receiver.signed:
        check_signature(hook["secret"], body, headers)
    assert listed | {"secret": hook["secret"], "waiting": {}} == hook
    assert "secret" not in listed


def test_deliveries_go_on_where_they_were_after_the_service_was_killed(tmp_path: Path, receiver: Receiver) -> None:
    receiver.answers = [204, 503, 503]
    with Serving(tmp_path / "experiments.db", webhooks="any") as serving:
        with serving.client() as client:
            create(client, url=receiver.url)
            client.post("/v1/experiments", json=MANUAL).raise_for_status()
            close(client, *range(5))
            receiver.wait(lambda: len(receiver.tried) >= 2)
        serving.kill()
        taken = len(receiver.taken)
        serving.start()
        receiver.wait(lambda: 6 in receiver.seqs())
    assert list(dict.fromkeys(receiver.seqs())) == list(range(7))
    assert len(receiver.taken) - 7 <= 1  # one that was acknowledged may come twice, no more
    assert taken < 7


def test_a_webhook_is_told_of_its_kinds_and_experiments_until_it_is_deleted(
    client: httpx.Client, receiver: Receiver
) -> None:
    with receiving() as other:
        for name in ("shipping", "banner"):
            client.post("/v1/experiments", json=MANUAL | {"name": name}).raise_for_status()
        some = create(client, url=receiver.url, kinds=["pin", "stop"], experiments=["banner"])
        create(client, url=other.url)
        for name in ("shipping", "banner"):
            close(client, 0, name=name)
            client.post(f"/v1/experiments/{name}/pin", json={"variant": "59", "reason": "a sale"}).raise_for_status()
        receiver.wait(lambda: len(receiver.taken) == 1)
        assert client.delete(f"/v1/webhooks/{some['id']}").status_code == 204
        assert slug(client.delete(f"/v1/webhooks/{some['id']}")) == "not-found"
        client.post("/v1/experiments/banner/stop", json={"reason": "enough"}).raise_for_status()
        other.wait(lambda: len(other.taken) == 5)
    assert [(event["experiment"], event["kind"]) for event in receiver.tried] == [("banner", "pin")]
    assert [event["kind"] for event in other.taken if event["experiment"] == "banner"] == ["close", "pin", "stop"]


def test_only_events_that_a_webhook_wants_wait_for_it(client: httpx.Client, receiver: Receiver) -> None:
    receiver.answers = [500] * 100
    client.post("/v1/experiments", json=MANUAL).raise_for_status()
    create(client, url=receiver.url, kinds=["pin", "stop"])
    close(client, 0, 1, 2)
    assert client.get("/v1/webhooks").json()["items"][0]["waiting"] == {}
    client.post("/v1/experiments/shipping/pin", json={"variant": "59", "reason": "a sale"}).raise_for_status()
    assert client.get("/v1/webhooks").json()["items"][0]["waiting"] == {"shipping": 1}


def test_an_address_that_never_answers_does_not_hold_up_the_others(client: httpx.Client, receiver: Receiver) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        create(client, url=f"http://127.0.0.1:{silent.getsockname()[1]}/")
        create(client, url=receiver.url)
        client.post("/v1/experiments", json=MANUAL).raise_for_status()
        receiver.wait(lambda: len(receiver.taken) == 2)
        assert any(seconds_to_deliver(client, receiver, step) < LIMIT / 2 for step in range(4))


def seconds_to_deliver(client: httpx.Client, receiver: Receiver, step: int) -> float:
    began = time.monotonic()
    close(client, step)
    receiver.wait(lambda: len(receiver.taken) == step + 3)
    return time.monotonic() - began


def test_of_two_replicas_one_delivers(receiver: Receiver) -> None:
    database = postgres().fresh()
    first = Serving(database, webhooks="any")
    second = Serving(database, webhooks="any")
    with first, first.client() as client:
        second.token = first.token
        with second, second.client() as twin:
            create(client, url=receiver.url)
            client.post("/v1/experiments", json=MANUAL).raise_for_status()
            for step in range(10):
                close((client, twin)[step % 2], step)
            receiver.wait(lambda: len(receiver.taken) >= 12)
            first.kill()
            close(twin, 10)
            receiver.wait(lambda: 12 in receiver.seqs())
    assert receiver.seqs()[:12] == list(range(12))
    postgres().drop(database)


def test_webhooks_are_for_admins_of_all_experiments(tmp_path: Path) -> None:
    with Serving(tmp_path / "experiments.db") as serving:
        for scopes, experiments in ((["read", "decide", "report", "operate"], None), (["admin"], ["shipping"])):
            with serving.client(serving.new_token(*scopes, experiments=experiments)) as client:
                assert slug(client.get("/v1/webhooks")) == "forbidden"
                assert slug(client.post("/v1/webhooks", json={"url": "https://shop.example/"})) == "forbidden"
                assert slug(client.delete("/v1/webhooks/0")) == "forbidden"


def test_what_cant_be_a_webhook_is_refused_and_not_kept(client: httpx.Client) -> None:
    assert slug(client.post("/v1/webhooks", json={"url": "ftp://shop.example/"})) == "bad-value"
    assert slug(client.post("/v1/webhooks", json={"url": "https://shop.example/", "kinds": ["clse"]})) == "bad-value"
    assert client.get("/v1/webhooks").json() == {"items": []}


def test_unless_it_is_allowed_webhooks_lead_to_the_public_network_only(tmp_path: Path) -> None:
    with in_thread(tmp_path / "experiments.db") as client:
        answer = client.post("/v1/webhooks", json={"url": "http://127.0.0.1:9/"})
        assert slug(answer) == "bad-value"
        assert "not a public address; the setting webhooks = 'any' allows it" in answer.json()["detail"]
    with in_thread(tmp_path / "experiments.db", webhooks="off") as client:
        assert "webhooks are off" in client.post("/v1/webhooks", json={"url": "https://shop.example/"}).json()["detail"]


def test_a_delivery_takes_no_longer_than_its_limit_however_slowly_it_is_answered(tmp_path: Path) -> None:
    def drip(listener: socket.socket) -> None:
        """An answer that never ends, a byte at a time."""
        try:
            line, _ = listener.accept()
        except TimeoutError:  # the time was over before it was asked
            return
        line.settimeout(0.05)
        with line:
            for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10_000:
                try:
                    if not line.recv(65536):
                        return
                except TimeoutError:
                    pass
                except OSError:
                    return
                line.sendall(bytes([byte]))

    database = str(tmp_path / "experiments.db")
    with (
        afterglow.live.open(database) as experiments,
        socket.create_server(("127.0.0.1", 0)) as listener,
        ThreadPoolExecutor(1) as pool,
    ):
        experiments.create("shipping", ["49", "59"], window=1)
        listener.settimeout(5)
        slow = pool.submit(drip, listener)
        hook = HookRow("id", f"http://127.0.0.1:{listener.getsockname()[1]}/", "secret", None, None, 0)
        keys = access(database)
        deliveries = Deliveries(experiments, keys, "any", limit=0.3)
        event = experiments["shipping"].events()[0]

        async def once() -> str | None:
            async with calling(60) as http:
                return await deliveries.deliver(http, hook, "shipping", event)

        assert asyncio.run(once()) == "no answer within 0.3 s"
        deliveries.pool.shutdown()
        keys.close()
        slow.cancel()


REWIND = (
    "DELETE FROM events WHERE seq > 3",
    "DELETE FROM steps WHERE step > 2",
    "UPDATE steps SET total = NULL WHERE step = 2",
)


def test_a_webhook_is_told_that_the_log_has_lost_what_it_received_and_then_what_is_new(
    tmp_path: Path, receiver: Receiver
) -> None:
    path = tmp_path / "experiments.db"
    with Serving(path, webhooks="any") as serving, serving.client() as client:
        create(client, url=receiver.url, kinds=["close"])
        client.post("/v1/experiments", json=MANUAL).raise_for_status()
        close(client, *range(5))
        receiver.wait(lambda: receiver.seqs() == [2, 3, 4, 5, 6])
        assert serving.stop() == 0
        with closing(sqlite3.connect(path)) as base:
            for statement in REWIND:
                base.execute(statement)
            base.commit()
        rewound = time.time_ns() // 1_000_000
        while time.time_ns() // 1_000_000 == rewound:  # what follows is newer, by the millisecond
            pass
        serving.start()
        close(client, 2)
        receiver.wait(lambda: [event["kind"] for event in receiver.taken[5:]] == ["rewound", "close"])
        told, new = receiver.taken[5:]
        assert (told["body"], new["seq"]) == ({"seen": 6, "continues_after": 3}, 4)
