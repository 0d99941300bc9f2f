"""At every allowed limit, no HTTP call for one experiment delays another one by more than a quarter of a second."""

import re
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import httpx
import pytest

import afterglow
from afterglow.live.domain import limits
from afterglow.service import webhook_registry
from afterglow.service.api.fast_routes import BATCH
from afterglow.service.auth import sessions
from support.browser.visitor import Visitor
from testbed.quick_disk import quick_folder
from testbed.service import START, Serving

MOST = 0.25  # seconds
PAUSE = 0.01  # between two rounds
TRIES = 3  # the machine itself may hold a call up
ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 4, "reward_max": 10.0, "policy": "ucb1"}
MANY = [f"variant {number}" for number in range(limits.VARIANTS)]
STEPS = 1000
READS = ("", "/estimates", "/verdict", "/guards", "/steps?limit=1000", "/events?limit=1000", "/explain/7")
PAGES = ("", "/changes", "/totals", "/steps.csv", "/log", "/steps/7")
NUMBERS = count()


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    """One service for all rows: an experiment of many variants, one of many steps, and one that is measured."""
    with quick_folder() as folder:
        path = Path(folder) / "experiments.db"
        with afterglow.live.open(path) as experiments:
            many = experiments.create("many", **ASKED | {"variants": MANY, "window": 1})
            long = experiments.create("long", **ASKED)
            for number in range(20):
                many.close_step(1.0 + number % 3)
            for number in range(STEPS):
                long.close_step(1.0 + number % 3)
            experiments.create("light", **ASKED)
        with Serving(path, "--rate-limit", "1e9", webhooks="any") as made:
            yield made


def all_sessions(serving: Serving, client: httpx.Client) -> None:
    """As many as a token may have, and one more, which ends the first."""
    for _ in range(sessions.MOST + 1):
        client.cookies.clear()
        mark = re.search(r'name="mark" value="([^"]*)"', client.get("/sign-in").text)
        signed = client.post("/sign-in", data={"token": serving.token, "mark": mark[1] if mark else ""})
        assert signed.status_code == 303
    client.cookies.clear()


def all_webhooks(serving: Serving, client: httpx.Client) -> None:
    """As many as there may be, to an address that takes connections and never answers; then events for all."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        made = [client.post("/v1/webhooks", json={"url": url}) for _ in range(webhook_registry.MOST)]
        assert {one.status_code for one in made} == {201}
        assert client.post("/v1/webhooks", json={"url": url}).status_code == 422
        for number in range(20):
            command = ("pin", "unpin")[number % 2]
            body = {"reason": "a limit"} | ({"variant": "49"} if command == "pin" else {})
            client.post(f"/v1/experiments/long/{command}", json=body).raise_for_status()
        assert len(client.get("/v1/webhooks").json()["items"]) == webhook_registry.MOST
        for one in made:
            client.delete(f"/v1/webhooks/{one.json()['id']}").raise_for_status()


def full_batches(serving: Serving, client: httpx.Client) -> None:
    for _ in range(5):
        rewards = [{"key": f"key {next(NUMBERS)}", "amount": 1.0} for _ in range(BATCH)]
        answer = client.post("/v1/experiments/long/rewards", json=rewards)
        assert answer.json()["accepted"] == BATCH


def largest_body(serving: Serving, client: httpx.Client) -> None:
    """The deepest and the longest JSON that is read at all, which is refused."""
    for text in ("[" * 500_000, '{"reason": "' + "x" * 1_000_000 + '"}', '{"variant": ' + "9" * 1_000_000 + "}"):
        answer = client.post("/v1/experiments/many/pin", content=text, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422)


def all_reads(serving: Serving, client: httpx.Client) -> None:
    for name in ("many", "long"):
        for read in READS:
            client.get(f"/v1/experiments/{name}{read}").raise_for_status()
    client.get("/v1/experiments").raise_for_status()
    client.get("/metrics").raise_for_status()
    client.post("/ofrep/v1/evaluate/flags", json={"context": {}}).raise_for_status()


def all_pages(serving: Serving, client: httpx.Client) -> None:
    visitor = Visitor(serving.address).sign_in(serving.token)
    for name in ("many", "long"):
        for page in PAGES:  # once each, as operators do
            visitor.client.get(f"/experiments/{name}{page}").raise_for_status()
    for page in ("/", "/new", "/audit", "/tokens", "/webhooks", "/experiments/many/actions/pin"):
        visitor.client.get(page).raise_for_status()
    visitor.close()


def all_commands(serving: Serving, client: httpx.Client) -> None:
    """Also a void of steps that were learned, which plays the log again, and creation with all variants."""
    for name, variant in (("many", MANY[-1]), ("long", "59")):
        for command, body in (("pin", {"variant": variant}), ("unpin", {}), ("disable", {"variant": variant}),
                              ("enable", {"variant": variant}), ("pause", {}), ("resume", {})):  # fmt: skip
            path = f"/v1/experiments/{name}/{command}"
            client.post(path, json=body | {"reason": "a limit"}).raise_for_status()
    first = 10 * next(NUMBERS) % STEPS
    void = {"step": first, "last": min(first + 5, STEPS - 1), "reason": "a limit"}
    client.post("/v1/experiments/long/void", json=void).raise_for_status()
    made = client.post("/v1/experiments", json=ASKED | {"name": f"new-{next(NUMBERS)}", "variants": MANY})
    assert made.status_code == 201


CALLS: dict[str, Callable[[Serving, httpx.Client], None]] = {
    "all sessions of a token": all_sessions,
    "fifty webhooks that hang": all_webhooks,
    "a thousand rewards in a call": full_batches,
    "the longest bodies": largest_body,
    "all that reads": all_reads,
    "all pages": all_pages,
    "all commands": all_commands,
}


def slowest(serving: Serving, call: Callable[[], None]) -> float:
    """The longest that the variant or a reward of another experiment took while a call ran, in seconds.

    The longest that the machine itself has held this thread up is not counted.
    """
    done, worst, late, failed = Event(), 0.0, 0.0, list[BaseException]()

    def run() -> None:
        try:
            call()
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    thread = Thread(target=run)
    with serving.client() as light:
        light.get("/v1/experiments/light/current").raise_for_status()
        thread.start()
        while not done.is_set():
            began = perf_counter()
            light.get("/v1/experiments/light/current").raise_for_status()
            middle = perf_counter()
            reward = {"key": f"light {next(NUMBERS)}", "amount": 1.0}
            light.post("/v1/experiments/light/rewards", json=reward).raise_for_status()
            worst = max(worst, middle - began, perf_counter() - middle)
            slept = perf_counter()
            sleep(PAUSE)
            late = max(late, perf_counter() - slept - PAUSE)
    thread.join(START)
    if failed:
        raise failed[0]
    return worst - late


@pytest.mark.parametrize("limit", CALLS)
def test_an_http_call_at_a_limit_holds_no_other_experiment_up(serving: Serving, limit: str) -> None:
    with serving.client() as client:
        took = list[float]()
        while len(took) < TRIES and (not took or took[-1] >= MOST):
            took.append(slowest(serving, lambda: CALLS[limit](serving, client)))
        assert took[-1] < MOST, took
