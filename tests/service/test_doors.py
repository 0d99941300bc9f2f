"""What strangers and other sites may send: never a failure of the service, never a name they may not know."""

from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest

from afterglow import live
from afterglow.live import Actor
from afterglow.live.store import access
from afterglow.service.auth.audit import made
from afterglow.service.auth.tokens import new_token
from testbed.quick_disk import quick_folder
from testbed.service import in_thread, slug

ASKED: dict[str, Any] = {"name": "shipping", "variants": ["A", "B"], "window": 2, "start": False}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A service without tokens, with one draft."""
    with quick_folder() as folder, in_thread(Path(folder) / "e.db") as made:
        made.post("/v1/experiments", json=ASKED).raise_for_status()
        yield made


@pytest.mark.parametrize("option", ["self", "release", "by", "given", "__class__", ""])
def test_names_of_our_own_arguments_are_no_options(client: httpx.Client, option: str) -> None:
    answer = client.post("/v1/experiments", json={**ASKED, "name": "other", "options": {option: 1}})
    assert slug(answer) == "bad-value"
    assert answer.json()["field"] == "options"


@pytest.mark.parametrize("step", ["9" * 5000, "9" * 16, "-1", "one", "%D9%A1"])
def test_a_step_in_the_address_of_a_page_that_cant_be_is_not_found(client: httpx.Client, step: str) -> None:
    answer = client.get(f"/experiments/shipping/steps/{step}")
    assert answer.status_code == 404
    assert len(answer.text) < 5000


@pytest.mark.parametrize("htmx", ["true", "false"])
def test_the_page_to_return_to_may_be_written_in_any_script(client: httpx.Client, htmx: str) -> None:
    answer = client.get("/sign-in", params={"next": "/é漢?a=1"}, headers={"HX-Request": htmx})
    assert answer.status_code in (204, 303)
    assert "/%C3%A9%E6%BC%A2?a=1" in (answer.headers.get("hx-redirect"), answer.headers.get("location"))


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://elsewhere.example"},
     {"Origin": "null"}],
)  # fmt: skip
def test_without_tokens_a_page_of_another_site_can_do_nothing(client: httpx.Client, headers: dict[str, str]) -> None:
    """A browser sends such a call without asking: an empty body needs no permission."""
    assert slug(client.post("/v1/experiments/shipping/start", headers=headers)) == "forbidden"
    assert slug(client.post("/ofrep/v1/evaluate/flags", headers=headers)) == "forbidden"
    assert client.get("/v1/experiments/shipping").json()["status"]["phase"] == "draft"
    own = {"Sec-Fetch-Site": "same-origin", "Origin": str(client.base_url)}
    assert client.get("/v1/experiments", headers=own).status_code == 200


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[httpx.Client, dict[str, str]]]:
    """A service that others can reach, with a token for everything, one for two names and one for none of them."""
    with quick_folder() as folder:
        db = Path(folder) / "e.db"
        live.open(db).close()
        rows, tokens = access(db), {}
        for name, experiments in (("all", None), ("some", ["banner", "shiping"])):
            tokens[name], row = new_token(["admin"], experiments, name, time())
            rows.put_token(row, made(row, Actor("", "test"), time()))
        rows.close()
        with in_thread(db, auth=True, host="0.0.0.0") as client:
            for name in ("shipping", "banner"):
                client.post("/v1/experiments", json={**ASKED, "name": name}, headers=bearer(tokens["all"]))
            yield client, tokens


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/experiments/shiping"), ("GET", "/v1/experiments/shiping/current"),
     ("POST", "/ofrep/v1/evaluate/flags/shiping"), ("GET", "/v1/events?experiment=shiping")],
)  # fmt: skip
def test_a_token_for_some_experiments_is_told_no_other_name(
    guarded: tuple[httpx.Client, dict[str, str]], method: str, path: str
) -> None:
    client, tokens = guarded
    told = {name: client.request(method, path, headers=bearer(token)) for name, token in tokens.items()}
    assert {answer.status_code for answer in told.values()} == {404}
    assert "'shipping'" in told["all"].text
    assert "'shiping'" in told["some"].text
    assert "shipping" not in told["some"].text


def test_a_page_after_a_name_shows_not_whether_it_exists(guarded: tuple[httpx.Client, dict[str, str]]) -> None:
    client, tokens = guarded
    said = [
        client.get("/v1/experiments", params={"after": name}, headers=bearer(tokens["some"]))
        for name in ("shipping", "nothing")
    ]
    assert [slug(answer) for answer in said] == ["bad-value", "bad-value"]
    assert said[0].text.replace("shipping", "nothing") == said[1].text


def test_metrics_need_a_token_off_loopback_and_show_what_it_is_for(
    guarded: tuple[httpx.Client, dict[str, str]],
) -> None:
    client, tokens = guarded
    assert slug(client.get("/metrics")) == "unauthorized"
    whole, part = (client.get("/metrics", headers=bearer(tokens[name])).text for name in ("all", "some"))
    while 'experiment="shipping"' not in whole:
        whole = client.get("/metrics", headers=bearer(tokens["all"])).text
    while 'experiment="banner"' not in part:
        part = client.get("/metrics", headers=bearer(tokens["some"])).text
    assert "shipping" not in part
    assert "afterglow_requests_total" in part


@pytest.mark.parametrize("auth", [True, False])
@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Host": "ag.example:8321"}, {"X-Forwarded-For": "8.8.8.8"}]
)
def test_metrics_on_loopback_are_for_this_machine_alone(
    client: httpx.Client, local: httpx.Client, headers: dict[str, str], auth: bool
) -> None:
    """Not for a page whose name leads here (DNS rebinding), nor for everybody whom a proxy lets through."""
    if auth:
        assert slug(local.get("/metrics", headers=headers)) == "unauthorized"
    elif "Host" in headers:
        assert slug(client.get("/metrics", headers=headers)) == "forbidden"
    for host in ("127.0.0.1:9", "localhost", "[::1]:8321"):
        assert (local if auth else client).get("/metrics", headers={"Host": host}).status_code == 200


@pytest.fixture(scope="module")
def local() -> Iterator[httpx.Client]:
    """A service with tokens, on loopback."""
    with quick_folder() as folder, in_thread(Path(folder) / "e.db", auth=True) as made:
        yield made


@pytest.mark.parametrize("name", ["A\u202eB", "\u2066A", "A\u200b", "A\n", "A\x00", "A\u2028", "\ufeffA", "A\u200d"])
def test_names_that_hide_or_reorder_are_refused(client: httpx.Client, name: str) -> None:
    answer = client.post("/v1/experiments", json={**ASKED, "name": "other", "variants": [name, "B"]})
    assert slug(answer) == "bad-value"
    assert answer.json()["field"] == "variants"
    assert name not in answer.text


def test_names_in_any_script_are_fine(client: httpx.Client) -> None:
    variants = ["עברית", "می\u200cخواهم", "👩\u200d🔬", "naïve, 5 %", "=1+1"]
    asked = {**ASKED, "name": "scripts", "variants": variants}
    assert client.post("/v1/experiments", json=asked).json()["variants"] == variants


@pytest.mark.parametrize(
    ("path", "body"),
    [("experiments/shipping/rewards", '{"key":"a","key":"b","amount":1}'),
     ("experiments/shipping/rewards", '[{"key":"a","amount":1},{"key":"b","amount":1,"amount":2}]'),
     ("experiments/shipping/rewards", '{"key":"a","\\u006bey":"b","amount":1}'),
     ("experiments/shipping/start", '{"reason":"a","reason":"b"}'),
     ("experiments", '{"name":"twice","name":"once","variants":["A","B"],"window":2}')],
)  # fmt: skip
def test_a_name_that_is_given_twice_is_refused(client: httpx.Client, path: str, body: str) -> None:
    answer = client.post(f"/v1/{path}", content=body, headers=JSON)
    assert slug(answer) == "malformed"
    assert "twice" in answer.json()["detail"]


def test_values_that_look_like_names_are_no_duplicates(client: httpx.Client) -> None:
    sent = [{"key": "key", "amount": 1}, {"key": "amount", "amount": 1}, {"key": '"key"\\', "amount": 1}]
    asked = {**ASKED, "name": "keys", "start": True}
    client.post("/v1/experiments", json=asked).raise_for_status()
    assert client.post("/v1/experiments/keys/rewards", json=sent).json()["accepted"] == 3


def test_a_negative_amount_is_refused_in_words(client: httpx.Client) -> None:
    client.post("/v1/experiments", json={**ASKED, "name": "begun", "start": True}).raise_for_status()
    answer = client.post("/v1/experiments/begun/rewards", json={"key": "a", "amount": -1})
    assert slug(answer) == "bad-value"
    assert answer.json()["detail"].startswith("amount must not be negative, got -1")


def test_a_body_that_is_no_json_is_refused_in_words(client: httpx.Client) -> None:
    answer = client.post("/v1/experiments/begun/rewards", content=b'{"key": NaN}', headers=JSON)
    assert slug(answer) == "malformed"
    assert answer.json()["detail"].startswith("JSON is malformed")
