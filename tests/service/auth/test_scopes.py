"""Each scope may do what it is for and nothing else; a token of another experiment may do nothing here."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

from testbed.quick_disk import quick_folder
from testbed.service import START, Serving, command, slug

SCOPES = ("read", "decide", "report", "operate", "admin")
ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}
WHY: dict[str, Any] = {"reason": "to see"}
ORDERS: dict[str, dict[str, Any]] = {
    "pause": {}, "resume": {}, "pin": {"variant": "49"}, "unpin": {}, "disable": {"variant": "59"},
    "enable": {"variant": "59"}, "go-live": {}, "void": {"step": 0}, "start": {}, "stop": {},
}  # fmt: skip
OF_ONE = "/v1/experiments/shipping"
CALLS: list[tuple[str, str, str, Any]] = [
    ("read", "GET", OF_ONE, None),
    ("read", "GET", f"{OF_ONE}/steps", None),
    ("read", "GET", f"{OF_ONE}/events", None),
    ("read", "GET", f"{OF_ONE}/estimates", None),
    ("read", "GET", f"{OF_ONE}/explain/0", None),
    ("read", "GET", "/v1/events?experiment=shipping&seconds=0.01", None),
    ("decide", "GET", f"{OF_ONE}/current", None),
    ("report", "POST", f"{OF_ONE}/rewards", {"key": "a", "amount": 0}),
    ("report", "POST", f"{OF_ONE}/steps/0", {}),
    *(("operate", "POST", f"{OF_ONE}/{order}", WHY | more) for order, more in ORDERS.items()),
]
OVERALL = [
    ("read", "GET", "/v1/experiments", None),
    ("read", "GET", "/v1/events?seconds=0.01", None),
    ("admin", "POST", "/v1/experiments", {"name": "new", **ASKED}),
]


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db") as made:
        with made.client() as client:
            for name in ("shipping", "banner"):
                client.post("/v1/experiments", json={"name": name, **ASKED}).raise_for_status()
        yield made


@pytest.fixture(scope="module")
def tokens(serving: Serving) -> dict[str, str]:
    """One for each scope, and one that may do everything with another experiment."""
    made = {scope: serving.new_token(scope) for scope in SCOPES}
    return made | {"other": serving.new_token("admin", experiments=["banner"])}


def ask(serving: Serving, token: str, method: str, path: str, body: Any) -> httpx.Response:
    with serving.client(token) as client:
        return client.request(method, path, json=body)


@pytest.mark.parametrize(("scope", "method", "path", "body"), [*CALLS, *OVERALL])
def test_a_scope_is_refused_what_it_may_not_do(
    serving: Serving, tokens: dict[str, str], scope: str, method: str, path: str, body: Any
) -> None:
    for held in SCOPES:
        answer = ask(serving, tokens[held], method, path, body)
        if held in (scope, "admin"):
            assert answer.status_code not in (401, 403), f"{held}: {answer.text}"
        else:
            assert slug(answer) == "forbidden", held
            assert f"needs scope {scope!r}, the token has {held}" in answer.json()["detail"]


@pytest.mark.parametrize(("scope", "method", "path", "body"), CALLS)
def test_a_token_of_another_experiment_is_refused(
    serving: Serving, tokens: dict[str, str], scope: str, method: str, path: str, body: Any
) -> None:
    assert slug(ask(serving, tokens["other"], method, path, body)) == "forbidden"
    elsewhere = path.replace("shipping", "nowhere")
    assert slug(ask(serving, tokens["other"], method, elsewhere, body)) == "forbidden"  # nor told what there is
    here = path.replace("shipping", "banner")
    assert ask(serving, tokens["other"], method, here, body).status_code not in (401, 403)


def test_a_token_of_one_experiment_sees_and_makes_no_other(serving: Serving, tokens: dict[str, str]) -> None:
    listed = ask(serving, tokens["other"], "GET", "/v1/experiments", None).json()
    assert [one["name"] for one in listed["items"]] == ["banner"]
    made = ask(serving, tokens["other"], "POST", "/v1/experiments", {"name": "third", **ASKED})
    assert slug(made) == "forbidden"


def revoked(serving: Serving, client: httpx.Client, token: str) -> float:
    """Seconds until a token that is revoked is refused."""
    command("token", "revoke", "--db", serving.db, token.split("_")[1])
    began = monotonic()
    while client.get("/v1/experiments").status_code == 200:
        assert monotonic() - began < START
    return monotonic() - began


def test_a_revoked_token_is_refused_within_two_seconds(serving: Serving) -> None:
    """One of some, that is: a busy machine may hold up the service or the test for longer."""
    for _ in range(5):
        token = serving.new_token("read")
        with serving.client(token) as client:
            assert client.get("/v1/experiments").status_code == 200
            if revoked(serving, client, token) < 2.5:
                return
    raise AssertionError("none was refused in time")


def test_a_stream_ends_with_its_token(serving: Serving) -> None:
    token = serving.new_token("read")
    with serving.client(token) as client:
        with client.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            revoked(serving, client, token)
            with serving.client() as admin:  # something happens, and the stream looks again
                admin.post("/v1/experiments", json={"name": "after", **ASKED}).raise_for_status()
            assert not any(line.startswith("data:") and "after" in line for line in lines)
        assert slug(client.get("/v1/experiments")) == "unauthorized"


def test_an_expired_token_is_refused(serving: Serving) -> None:
    token = serving.new_token("read", expires="1s")
    with serving.client(token) as client:
        began = monotonic()
        while client.get("/v1/experiments").status_code == 200:
            assert monotonic() - began < START
        refused = client.get("/v1/experiments")
        assert slug(refused) == "unauthorized"
        assert refused.json()["detail"].startswith("the token expired at 20")
    with serving.client(f"{token}x") as client:  # who doesn't have it is told nothing
        assert "expired" not in client.get("/v1/experiments").text


def test_a_new_token_works_at_once(serving: Serving) -> None:
    with serving.client(serving.new_token("read")) as client:
        assert client.get("/v1/experiments").status_code == 200
