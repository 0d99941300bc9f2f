"""OpenFeature reads variants: with the protocol's own shapes, and through the stock provider for Python."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode

from support.service.live_fixtures import Clock
from testbed.service import START, Serving, in_thread, slug

FLAGS = "/ofrep/v1/evaluate/flags"
HOURLY = {"name": "hourly", "variants": ["A", "B"], "window": 1, "step_seconds": 3600}
MANUAL = {"name": "manual", "variants": ["49", "59"], "window": 1}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("ofrep")
    with Serving(folder / "experiments.db") as made, made.client() as client:
        client.post("/v1/experiments", json=MANUAL).raise_for_status()
        client.post("/v1/experiments", json=MANUAL | {"name": "other"}).raise_for_status()
        yield made


def provider(serving: Serving, token: str) -> OFREPProvider:
    known = {"Authorization": f"Bearer {token}"}
    return OFREPProvider(serving.address, headers_factory=lambda: known, timeout=START)


def test_the_stock_provider_reads_the_variant_and_follows_a_switch(serving: Serving) -> None:
    api.set_provider_and_wait(provider(serving, serving.new_token("decide")))
    flags = api.get_client()
    before = flags.get_string_details("manual", "none", EvaluationContext("anybody", {"country": "NO"}))
    assert (before.value, before.variant, before.reason, before.error_code) == ("49", "49", "SPLIT", None)
    assert before.flag_metadata == {"step": 0, "role": "plan"}
    with serving.client() as client:
        client.post("/v1/experiments/manual/pin", json={"variant": "59", "reason": "a switch"}).raise_for_status()
        assert flags.get_string_value("manual", "none") == "49"  # until the step ends
        client.post("/v1/experiments/manual/steps/0", json={"total": 0.5}).raise_for_status()
    after = flags.get_string_details("manual", "none")
    assert (after.value, after.reason, after.flag_metadata["role"]) == ("59", "STATIC", "outside")
    api.shutdown()


def test_the_stock_provider_gives_the_default_and_the_reason_when_it_is_refused(serving: Serving) -> None:
    api.set_provider_and_wait(provider(serving, serving.new_token("decide", experiments=["other"])))
    flags = api.get_client()
    assert flags.get_string_value("other", "none") == "49"
    foreign = flags.get_string_details("manual", "none")
    assert (foreign.value, foreign.error_code, foreign.error_message) == ("none", ErrorCode.GENERAL, "forbidden")
    api.set_provider_and_wait(provider(serving, serving.token))
    missing = flags.get_string_details("shiping", "none")
    assert (missing.value, missing.error_code) == ("none", ErrorCode.FLAG_NOT_FOUND)
    assert str(missing.error_message).startswith("no experiment named 'shiping'")
    assert flags.get_boolean_details("manual", False).error_code == ErrorCode.TYPE_MISMATCH
    api.set_provider_and_wait(provider(serving, "ag_000000000000_wrong"))
    assert flags.get_string_details("manual", "none").error_message == "unauthorized"
    api.shutdown()


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def client(clock: Clock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with in_thread(tmp_path_factory.mktemp("flags") / "experiments.db", clock) as made:
        made.post("/v1/experiments", json=HOURLY).raise_for_status()
        made.post("/v1/experiments", json=MANUAL).raise_for_status()
        yield made


def test_a_flag_says_when_its_step_ends(client: httpx.Client, clock: Clock) -> None:
    flag = client.post(f"{FLAGS}/hourly", json={"context": {"targetingKey": "x"}}).json()
    assert flag == {
        "key": "hourly", "value": "A", "variant": "A", "reason": "SPLIT",
        "metadata": {"step": 0, "role": "plan", "valid_until": "1970-01-12T14:46:40.000Z"},
    }  # fmt: skip


@pytest.mark.parametrize("body", [b"", b"{}", b'{"context": null}', b'{"context": {}, "future": 1}'])
def test_a_context_is_not_needed(client: httpx.Client, body: bytes) -> None:
    for path in (FLAGS, f"{FLAGS}/manual"):
        sent = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert sent.status_code == 200, sent.text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "PARSE_ERROR"),
        (b"\xff", "PARSE_ERROR"),
        (b'{"context":' * 50_000 + b"{}" + b"}" * 50_000, "PARSE_ERROR"),
        (b"[]", "INVALID_CONTEXT"),
        (b'{"context": 3}', "INVALID_CONTEXT"),
    ],
)
def test_a_body_of_another_kind_is_refused_in_the_shape_of_the_protocol(
    client: httpx.Client, body: bytes, code: str
) -> None:
    one = client.post(f"{FLAGS}/manual", content=body, headers={"Content-Type": "application/json"})
    assert (one.status_code, one.json()["key"], one.json()["errorCode"]) == (400, "manual", code)
    both = client.post(FLAGS, content=body, headers={"Content-Type": "application/json"})
    assert (both.status_code, both.json()["errorCode"]) == (400, code)
    assert one.json()["errorDetails"] == both.json()["errorDetails"]


def test_a_flag_that_is_not_there_is_not_found_in_the_shape_of_the_protocol(client: httpx.Client) -> None:
    missing = client.post(f"{FLAGS}/manul", json={})
    assert (missing.status_code, missing.json()["key"]) == (404, "manul")
    assert missing.json()["errorCode"] == "FLAG_NOT_FOUND"
    assert "did you mean 'manual'?" in missing.json()["errorDetails"]


def test_all_flags_come_at_once_and_only_if_something_changed(client: httpx.Client, clock: Clock) -> None:
    first = client.post(FLAGS, json={"context": {}})
    assert [flag["key"] for flag in first.json()["flags"]] == ["hourly", "manual"]
    known = {"If-None-Match": first.headers["etag"]}
    again = client.post(FLAGS, json={}, headers=known)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    clock.now += 3600
    later = client.post(FLAGS, json={}, headers=known)
    assert later.status_code == 200
    assert later.json()["flags"][0]["metadata"]["step"] == 1


def test_what_the_protocol_has_no_shape_for_is_a_problem(client: httpx.Client) -> None:
    assert slug(client.post(f"{FLAGS}/manual", content=b"a=1", headers={"Content-Type": "text/plain"})) == (
        "unsupported-media-type"
    )
    assert slug(client.get(f"{FLAGS}/manual")) == "method-not-allowed"


def test_flags_need_the_scope_decide_and_show_the_experiments_of_the_token(serving: Serving) -> None:
    with serving.client(serving.new_token("read")) as reader:
        assert slug(reader.post(FLAGS, json={})) == "forbidden"
        assert slug(reader.post(f"{FLAGS}/manual", json={})) == "forbidden"
    with serving.client(serving.new_token("decide", experiments=["other"])) as some:
        assert [flag["key"] for flag in some.post(FLAGS, json={}).json()["flags"]] == ["other"]
        assert slug(some.post(f"{FLAGS}/manual", json={})) == "forbidden"
    with serving.client("nobody") as nobody:
        assert slug(nobody.post(FLAGS, json={})) == "unauthorized"


def test_nothing_of_a_context_is_kept(serving: Serving) -> None:
    with serving.client() as client:
        for path in (FLAGS, f"{FLAGS}/manual"):
            client.post(path, json={"context": {"targetingKey": "somebody-4711"}}).raise_for_status()
        serving.stop()
    assert "somebody-4711" not in serving.errors
    for file in Path(serving.db).parent.iterdir():
        assert b"somebody-4711" not in file.read_bytes()
