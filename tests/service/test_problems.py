"""Every problem: when it comes, what it is called, and that it says how to go on."""

import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from markupsafe import escape

from afterglow.errors import BadDatabase, BadValue, Conflict, HorizonReached, OutOfTurn, Unavailable, UnknownName
from afterglow.service.problems import KINDS, TABLE, problem_of
from testbed.quick_disk import quick_folder
from testbed.service import START, Serving, in_thread, insist, slug

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db", body_limit="65536") as made:
        with made.client() as client:
            made_up: dict[str, Any] = {"shipping": {}, "short": {"horizon": 1}, "draft": {"start": False}}
            for name, more in made_up.items():
                client.post("/v1/experiments", json={"name": name, **ASKED, **more}).raise_for_status()
            client.post("/v1/experiments/short/steps/0", json={"total": 1.0}).raise_for_status()
            client.post("/v1/experiments/shipping/steps/0", json={"total": 1.0}).raise_for_status()
            client.post("/v1/experiments/shipping/rewards", json={"key": "a", "amount": 1}).raise_for_status()
        yield made


@pytest.fixture
def client(serving: Serving) -> Iterator[httpx.Client]:
    with serving.client() as made:
        yield made


JSON = {"Content-Type": "application/json"}
REWARDS = "/v1/experiments/shipping/rewards"
ASK: list[tuple[str, str, str, dict[str, Any]]] = [
    ("malformed", "POST", REWARDS, {"content": b"{", "headers": JSON}),
    ("malformed", "POST", REWARDS, {"content": b'{"key":"\xff","amount":1}', "headers": JSON}),
    ("malformed", "POST", "/v1/experiments", {"content": b"{'name'", "headers": JSON}),
    ("malformed", "POST", "/v1/experiments", {"content": b'"\xff"', "headers": JSON}),
    ("unknown-experiment", "GET", "/v1/experiments/shiping/current", {}),
    ("unknown-experiment", "GET", "/v1/experiments/shiping", {}),
    ("unknown-experiment", "POST", "/v1/experiments/shiping/rewards", {"json": {"key": "a", "amount": 1}}),
    ("unknown-experiment", "POST", "/v1/experiments/shiping/pause", {"json": {"reason": "no"}}),
    ("unknown-experiment", "GET", "/v1/events?experiment=shiping", {}),
    ("not-found", "GET", "/v1/experimentss", {}),
    ("not-found", "GET", "/v1/experiments/shipping/", {}),
    ("not-found", "GET", "/problems/none", {}),
    ("method-not-allowed", "DELETE", "/v1/experiments/shipping", {}),
    ("method-not-allowed", "PUT", "/v1/experiments/shipping/current", {}),
    ("method-not-allowed", "GET", REWARDS, {}),
    ("name-taken", "POST", "/v1/experiments", {"json": {"name": "shipping", **ASKED}}),
    ("step-closed", "POST", "/v1/experiments/shipping/steps/0", {"json": {"total": 2.0}}),
    ("step-closed", "POST", "/v1/experiments/shipping/steps/1", {"json": {"total": 3.0}}),
    ("out-of-turn", "POST", "/v1/experiments/shipping/steps/9", {"json": {}}),
    ("out-of-turn", "POST", "/v1/experiments/draft/rewards", {"json": {"key": "a", "amount": 1}}),
    ("out-of-turn", "POST", "/v1/experiments/shipping/start", {}),
    ("out-of-turn", "GET", "/v1/experiments/shipping/explain/9", {}),
    ("horizon-reached", "POST", "/v1/experiments/short/rewards", {"json": {"key": "a", "amount": 1}}),
    ("horizon-reached", "POST", "/v1/experiments/short/pause", {"json": {"reason": "no"}}),
    ("too-large", "POST", REWARDS, {"content": b" " * 65537, "headers": JSON}),
    ("too-large", "POST", REWARDS, {"content": iter([b" " * 40_000] * 2), "headers": JSON}),
    ("too-large", "POST", "/v1/experiments", {"content": b" " * 65537, "headers": JSON}),
    ("unsupported-media-type", "POST", REWARDS, {"data": {"key": "a", "amount": "1"}}),
    ("unsupported-media-type", "POST", REWARDS, {"content": b"{}"}),
    ("unsupported-media-type", "POST", "/v1/experiments", {"content": b"name = 1", "headers": {"Content-Type": "a/b"}}),
    ("bad-value", "POST", REWARDS, {"json": {"key": "a"}}),
    ("bad-value", "POST", REWARDS, {"json": {"key": "", "amount": 1}}),
    ("bad-value", "POST", REWARDS, {"json": {"key": "b", "amount": -1}}),
    ("bad-value", "POST", REWARDS, {"json": {"key": "b", "amount": 31}}),
    ("bad-value", "POST", REWARDS, {"json": {"key": "a", "amount": 1, "step": -1}}),
    ("bad-value", "POST", REWARDS, {"json": [{"key": f"k{n}", "amount": 0} for n in range(1001)]}),
    ("bad-value", "POST", "/v1/experiments", {"json": {"name": "new", **ASKED, "policy": "trim-ucv"}}),
    ("bad-value", "POST", "/v1/experiments", {"json": {"name": "new", **ASKED, "speed": 1}}),
    ("bad-value", "POST", "/v1/experiments", {"json": {"name": "new", **ASKED, "options": {"window": 1}}}),
    ("bad-value", "POST", "/v1/experiments", {"json": {"name": "new", **ASKED, "window": "3"}}),
    ("bad-value", "POST", "/v1/experiments", {"json": {"name": "new", **ASKED, "starts": "soon"}}),
    ("bad-value", "POST", "/v1/experiments/shipping/pin", {"json": {"variant": "70", "reason": "no"}}),
    ("bad-value", "POST", "/v1/experiments/shipping/pin", {"json": {"variant": "49"}}),
    ("bad-value", "GET", "/v1/experiments/shipping/steps?limit=0", {}),
    ("bad-value", "GET", "/v1/experiments/shipping/steps?limt=5", {}),
    ("bad-value", "GET", "/v1/experiments?after=nobody", {}),
    ("bad-value", "GET", "/v1/experiments/shipping/explain/x", {}),
    ("attribution-refused", "POST", REWARDS, {"json": {"key": "b", "amount": 1, "variant": "49"}}),
    ("attribution-refused", "POST", REWARDS, {"json": [{"key": "b", "amount": 1, "user": 7}]}),
    ("key-reused", "POST", REWARDS, {"json": {"key": "a", "amount": 2}}),
    ("key-reused", "POST", REWARDS, {"json": [{"key": "x", "amount": 2}, {"key": "x", "amount": 3}]}),
]


@pytest.mark.parametrize(("kind", "method", "path", "sent"), ASK)
def test_a_refusal_has_its_type(client: httpx.Client, kind: str, method: str, path: str, sent: dict[str, Any]) -> None:
    answer = client.request(method, path, **sent)
    assert slug(answer) == kind
    assert not answer.json()["detail"].startswith("jSON")
    assert answer.status_code == KINDS[kind].status
    problem = answer.json()
    assert problem["title"] == KINDS[kind].title
    assert problem["detail"]
    assert bool(answer.headers.get("Allow")) == (kind == "method-not-allowed")


def test_all_methods_of_an_address_are_allowed(client: httpx.Client) -> None:
    assert client.put("/v1/experiments").headers["allow"] == "GET, POST"
    assert client.put("/v1/experiments/shipping/steps").headers["allow"] == "GET"


def test_a_refused_batch_leaves_nothing_behind(client: httpx.Client) -> None:
    path = client.post("/v1/experiments", json={"name": "clean", **ASKED}).headers["location"]
    batch = [{"key": "a", "amount": 1}, {"key": "b", "amount": 99}]
    assert slug(client.post(f"{path}/rewards", json=batch)) == "bad-value"
    assert client.post(f"{path}/steps/0", json={}).json()["total"] == 0


@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer x", "Bearer ag_", "Bearer ag_000000000000_x", "Basic YTpi"])
@pytest.mark.parametrize("path", ["/v1/experiments", "/v1/experiments/shipping/current", "/v1/none", "/v1/events"])
def test_without_a_valid_token_nothing_is_said(serving: Serving, sent: str, path: str) -> None:
    answer = httpx.get(serving.address + path, headers={"Authorization": sent})
    assert slug(answer) == "unauthorized"
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_secret_is_compared_to_its_end(serving: Serving) -> None:
    for token in (
        serving.token[:-1],
        serving.token + "A",
        serving.token.swapcase(),
        serving.token.replace("ag_", "ax_"),
    ):
        assert slug(httpx.get(f"{serving.address}/v1/experiments", headers={"Authorization": f"Bearer {token}"})) == (
            "unauthorized"
        )


def test_the_address_of_a_problem_that_was_renamed_still_explains_it(client: httpx.Client) -> None:
    assert "<h1>503 database-unavailable</h1>" in client.get("/problems/database-away").text


@pytest.mark.parametrize("kind", TABLE)
def test_every_problem_is_explained_at_its_address(client: httpx.Client, kind: Any) -> None:
    page = client.get(f"/problems/{kind.slug}")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert f"<h1>{kind.status} {kind.slug}</h1>" in page.text


def test_the_calls_can_be_read_as_a_page_that_asks_no_other_host(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    document = client.get("/openapi.json").json()
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            assert f"{method.upper()} {path}</code>" in page.text
            assert str(escape(call["summary"])) in page.text
    assert not re.search(r'(src|href)="(https?:)?//', page.text)
    assert "<script" not in page.text
    for address in set(re.findall(r'(?:src|href)="(/[^"#]*)', page.text)):
        assert client.get(address).status_code in (200, 303), address
    assert set(re.findall(r'href="#([^"]+)"', page.text)) <= set(re.findall(r'id="([^"]+)"', page.text))


def test_errors_of_experiments_become_problems() -> None:
    cases = {
        "unknown-experiment": UnknownName("experiment", "x", []), "bad-value": UnknownName("variant", "x", []),
        "horizon-reached": HorizonReached("all"), "out-of-turn": OutOfTurn("not now"),
        "step-closed": Conflict("twice", kind="step-closed"),
        "database-unavailable": Unavailable("away"), "unusable": BadDatabase("broken"),
    }  # fmt: skip
    assert [problem_of(error).kind.slug for error in cases.values()] == list(cases)
    for kind in ("key-reused", "name-taken"):
        assert problem_of(Conflict("twice", kind=kind)).kind.slug == kind
    assert problem_of(Conflict("of no known kind")).kind.slug == "internal"
    assert problem_of(BadValue("x")).detail == "x"
    assert problem_of(RuntimeError("secret")).detail == KINDS["internal"].title


def test_too_many_calls_are_told_to_wait() -> None:
    with quick_folder() as folder, in_thread(Path(folder) / "e.db", rate_limit=5.0) as client:
        taken, answer = 0, client.get("/v1/experiments")
        while answer.status_code == 200 and taken < 1000:  # on a slow machine more are let in before one is too many
            taken, answer = taken + 1, client.get("/v1/experiments")
        assert taken >= 10
        assert (slug(answer), answer.headers["retry-after"]) == ("too-many-requests", "1")
        assert client.get("/healthz").status_code == 200


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for a file that another has locked waits as long as it takes."""
    for module in ("sqlite", "sqlite_session"):
        monkeypatch.setattr(f"afterglow.live.store.{module}.PATIENCE", START)


@pytest.mark.usefixtures("patient")
def test_a_full_queue_is_refused_at_once_and_what_was_taken_is_kept() -> None:
    """While another process holds the database, rewards wait; beyond the room for them callers are sent away."""
    with quick_folder() as folder:
        file = Path(folder) / "e.db"
        with in_thread(file, queue=1000, time_limit=30.0) as client, ThreadPoolExecutor(8) as pool:
            client.post("/v1/experiments", json={"name": "full", **ASKED}).raise_for_status()
            with sqlite3.connect(file, isolation_level=None) as other:
                other.execute("BEGIN IMMEDIATE")
                batches = [[{"key": f"{n}-{k}", "amount": 0.0} for k in range(400)] for n in range(8)]
                asked = [pool.submit(client.post, "/v1/experiments/full/rewards", json=batch) for batch in batches]
                refused = list(first(asked, 6))
                other.execute("COMMIT")
            assert {slug(one) for one in refused} == {"overloaded"}
            assert all(one.headers["retry-after"] == "1" for one in refused)
            taken = [one.result() for one in asked if one.result().status_code == 202]
            assert [one.json()["accepted"] for one in taken] == [400, 400]
            assert client.post("/v1/experiments/full/rewards", json=batches[0]).status_code == 202
        other.close()


def first(asked: list[Any], count: int) -> Iterator[httpx.Response]:
    """The first answers that come in."""
    return islice((one.result() for one in as_completed(asked, timeout=60)), count)


@pytest.mark.usefixtures("patient")
def test_a_call_that_takes_too_long_is_told_so() -> None:
    with quick_folder() as folder:
        file = Path(folder) / "e.db"
        with in_thread(file, time_limit=0.3) as client:
            insist(client, 409, "POST", "/v1/experiments", json={"name": "slow", **ASKED})  # until it is there
            with sqlite3.connect(file, isolation_level=None) as other:
                other.execute("BEGIN IMMEDIATE")
                for answer in (
                    insist(client, 503, "POST", "/v1/experiments/slow/rewards", json={"key": "a", "amount": 1}),
                    insist(client, 503, "POST", "/v1/experiments/slow/pause", json={"reason": "no"}),
                ):
                    assert (slug(answer), answer.headers["retry-after"]) == ("too-slow", "2")
                insist(client, 200, "GET", "/v1/experiments/slow/current")
                other.execute("COMMIT")
            other.close()
