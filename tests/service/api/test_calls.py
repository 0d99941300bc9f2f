"""Every call of the service, against a process on loopback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from testbed.quick_disk import quick_folder
from testbed.service import Serving, slug

ASKED: dict[str, Any] = {"variants": ["49", "59", "69"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}
WHY = {"reason": "to see"}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db") as serving, serving.client() as made:
        yield made


def create(client: httpx.Client, name: str, **more: Any) -> str:
    client.post("/v1/experiments", json={"name": name, **ASKED, **more}).raise_for_status()
    return f"/v1/experiments/{name}"


def post(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(path, json=body)
    answer.raise_for_status()
    return answer.json()


def test_a_new_experiment_is_answered_with_its_place_and_all_that_was_resolved(client: httpx.Client) -> None:
    answer = client.post("/v1/experiments", json={"name": "new", **ASKED, "control": "59", "options": {}})
    assert (answer.status_code, answer.headers["location"]) == (201, "/v1/experiments/new")
    made = answer.json()
    assert (made["control"], made["mode"], made["step_seconds"], made["starts"]) == ("59", "manual", None, None)
    assert made["settings"]["arms"] == 3
    assert made["status"]["phase"] == "running"
    assert client.get("/v1/experiments/new").json() == made


def test_an_experiment_by_the_clock_begins_when_it_is_told_to(client: httpx.Client) -> None:
    create(client, "later", step_seconds=3600, starts="2100-01-01T00:00:00+01:00", start=False)
    made = client.get("/v1/experiments/later").json()
    assert (made["mode"], made["starts"], made["step_seconds"]) == ("clock", "2099-12-31T23:00:00.000Z", 3600.0)
    assert made["status"]["phase"] == "draft"
    assert post(client, "/v1/experiments/later/start")["phase"] == "scheduled"
    assert client.get("/v1/experiments/later/current").json()["valid_until"] == "2099-12-31T23:00:00.000Z"


def test_experiments_are_listed_page_by_page(client: httpx.Client) -> None:
    for number in range(5):
        create(client, f"page-{number}")
    names: list[str] = []
    after = None
    while True:
        page = client.get("/v1/experiments", params={"limit": 2} | ({"after": after} if after else {})).json()
        names += [one["name"] for one in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert [name for name in names if name.startswith("page-")] == [f"page-{number}" for number in range(5)]
    assert len(names) == len(set(names)) == len(client.get("/v1/experiments?limit=200").json()["items"])


def test_the_variant_says_how_long_it_lasts(client: httpx.Client) -> None:
    hourly = create(client, "hourly", step_seconds=3600)
    answer = client.get(f"{hourly}/current")
    assert answer.json() == answer.json() | {"experiment": "hourly", "variant": "49", "step": 0, "role": "plan"}
    kind, _, age = answer.headers["cache-control"].partition(", max-age=")
    assert kind == "private"
    assert int(age) == 60
    tag = answer.headers["etag"]
    assert tag.startswith('"0-0-')
    same = client.get(f"{hourly}/current", headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert client.get(f"{hourly}/current", headers={"If-None-Match": '"9-0"'}).status_code == 200
    assert client.head(f"{hourly}/current").content == b""


def test_without_a_clock_the_variant_is_asked_again_each_time(client: httpx.Client) -> None:
    manual = create(client, "manual")
    answer = client.get(f"{manual}/current")
    assert (answer.headers["cache-control"], answer.json()["valid_until"]) == ("no-cache", None)
    post(client, f"{manual}/steps/0", total=1.0)
    changed = client.get(f"{manual}/current", headers={"If-None-Match": answer.headers["etag"]})
    assert (changed.status_code, changed.headers["etag"][:5], changed.json()["variant"]) == (200, '"1-1-', "59")


def test_another_answer_within_a_step_has_another_tag(client: httpx.Client) -> None:
    taken = create(client, "taken-out", variants=["49", "59", "69"])
    answer = client.get(f"{taken}/current")
    post(client, f"{taken}/disable", variant=answer.json()["variant"], reason="it is broken")
    changed = client.get(f"{taken}/current", headers={"If-None-Match": answer.headers["etag"]})
    assert (answer.json()["role"], changed.status_code) == ("plan", 200)
    assert changed.json()["role"] == "outside"


def test_rewards_count_once(client: httpx.Client) -> None:
    path = create(client, "rewarded")
    one = client.post(f"{path}/rewards", json={"key": "a", "amount": 1.5})
    assert (one.status_code, one.json()) == (202, {"step": 0, "accepted": 1, "duplicates": 0})
    many = [{"key": key, "amount": 1.5} for key in "abcc"]
    assert client.post(f"{path}/rewards", json=many).json() == {"step": 0, "accepted": 2, "duplicates": 2}
    assert post(client, f"{path}/steps/0")["total"] == 4.5


def test_a_step_closed_again_with_the_same_total_is_harmless(client: httpx.Client) -> None:
    path = create(client, "closed")
    first = post(client, f"{path}/steps/0", total=2.5)
    assert first == {
        "step": 0, "total": 2.5, "metrics": None,
        "next": {"experiment": "closed", "variant": "59", "step": 1, "role": "plan", "valid_until": None, "unit": None},
        "units": [],
    }  # fmt: skip
    assert post(client, f"{path}/steps/0", total=2.5) == first
    assert post(client, f"{path}/steps/0") == first
    assert slug(client.post(f"{path}/steps/0", json={"total": 2.0})) == "step-closed"


def test_steps_and_events_are_read_page_by_page(client: httpx.Client) -> None:
    path = create(client, "long")
    for step in range(7):
        post(client, f"{path}/steps/{step}", total=step / 10)
    for what, key in (("steps", "step"), ("events", "seq")):
        whole = client.get(f"{path}/{what}").json()
        pages, after = [], -1
        while after is not None:
            page = client.get(f"{path}/{what}", params={"after": after, "limit": 3}).json()
            pages += page["items"]
            after = page["next"]
        assert pages == whole["items"]
        assert [one[key] for one in pages] == list(range(len(pages)))
    assert client.get(f"{path}/steps").json()["items"][1] == {
        "step": 1, "variant": "59", "planned": "59", "role": "plan", "total": 0.1, "void": False,
            "reason": None, "expected": None, "metrics": None, "unit": None,
    }  # fmt: skip
    record = client.get(f"{path}/events").json()["items"][0]
    assert (record["kind"], record["body"]["name"], len(record["hash"])) == ("create", "long", 64)


def test_expected_totals_are_told_before_their_steps(client: httpx.Client) -> None:
    path = create(client, "told", typical=3.0, trust=0.5, policy="washout-ucb")
    assert post(client, f"{path}/expected", first=1, values=[3.5, None, 2.5]) == {"first": 1, "last": 3}
    for step in range(4):
        post(client, f"{path}/steps/{step}", total=2.5)
    assert [one["expected"] for one in client.get(f"{path}/steps").json()["items"]] == [None, 3.5, None, 2.5, None]
    late = client.post(f"{path}/expected", json={"first": 4, "values": [1.0]})
    assert (late.status_code, late.json()["type"]) == (409, "/problems/out-of-turn")
    shown = client.get(path).json()
    assert (shown["typical"], shown["trust"], shown["profile"], shown["profile_from"]) == (3.0, 0.5, [], None)
    hourly = {"step_seconds": 3600, "starts": "2026-11-16T09:00:00Z", "profile_from": "2026-11-16T00:00:00Z"}
    path = create(client, "daily", profile=[float(hour) for hour in range(24)], policy="washout-ucb", **hourly)
    assert client.get(path).json()["profile_from"] == "2026-11-16T00:00:00.000Z"


def test_estimates_and_explanations_name_the_variants(client: httpx.Client) -> None:
    path = create(client, "known")
    post(client, f"{path}/steps/0", total=2.5)
    estimates = client.get(f"{path}/estimates").json()
    assert (estimates["confidence"], estimates["alarm"]) == (0.95, None)
    assert [(one["variant"], one["mean"], one["pulls"]) for one in estimates["items"]] == [
        ("49", 2.5, 1), ("59", None, 0), ("69", None, 0),
    ]  # fmt: skip
    verdict = client.get(f"{path}/verdict").json()
    assert (verdict["grade"], verdict["recommended"], verdict["control"], verdict["unit"]) == (
        "exploring",
        "49",
        "49",
        "",
    )
    assert (verdict["to_runner_up"]["variant"], verdict["to_runner_up"]["over"]) == ("49", "59")
    assert verdict.pop("summary").startswith("known, ")
    assert client.get(path).json()["status"]["verdict"] == verdict
    explained = client.get(f"{path}/explain/0").json()
    assert (explained["variant"], explained["why"], explained["hold"]) == ("49", "as planned", [0, 1])
    assert set(explained["figures"]["pulls"]) == {"49", "59", "69"}


def test_orders_take_effect_with_the_next_step_and_are_in_the_log_with_their_reasons(client: httpx.Client) -> None:
    path = create(client, "ordered", shadow=True)
    assert post(client, f"{path}/go-live", **WHY)["shadow"] is False
    assert post(client, f"{path}/pin", variant="69", **WHY)["pinned"] == "69"
    assert client.get(f"{path}/current").json()["variant"] == "49"
    assert post(client, f"{path}/steps/0", total=1.0)["next"]["variant"] == "69"
    assert post(client, f"{path}/unpin", **WHY)["pinned"] is None
    assert post(client, f"{path}/disable", variant="59", **WHY)["disabled"] == ["59"]
    assert post(client, f"{path}/enable", variant="59", **WHY)["disabled"] == []
    assert post(client, f"{path}/pause", **WHY)["phase"] == "paused"
    assert post(client, f"{path}/resume", **WHY)["phase"] == "running"
    over = post(client, f"{path}/stop", keep="59", **WHY)
    assert (over["phase"], over["variant"]) == ("over", "59")
    answer = client.get(f"{path}/current")
    assert (answer.json()["variant"], answer.json()["role"]) == ("59", "over")
    kinds = [one["kind"] for one in client.get(f"{path}/events").json()["items"]]
    assert [kind for kind in kinds if kind != "verdict"] == [  # a thread announces it, sooner or later
        "create", "start", "go_live", "pin", "close", "unpin", "disable", "enable", "pause", "resume", "stop",
        "ended",
    ]  # fmt: skip


def test_events_have_the_fields_of_the_schema_and_the_settings_as_calls_name_them(client: httpx.Client) -> None:
    path = create(
        client,
        "kinds",
        typical=3.0,
        horizon=30,
        heartbeat=True,
        policy="washout-ucb",
        guards={"refunds": {"at_most": 25}},
    )
    post(client, f"{path}/expected", first=1, values=[3.5, None])
    post(client, f"{path}/rewards", key="one", amount=1.5)
    post(client, f"{path}/rewards", key="two", amount=2.0, metric="refunds")
    for step in range(5):
        post(client, f"{path}/steps/{step}", total=None)
    for name, arguments in (("void", {"step": 0}), ("extend", {"horizon": 40}), ("emergency", {"variant": "59"})):
        post(client, f"{path}/{name}", **arguments, **WHY)
    post(client, f"{path}/stop", keep="49", **WHY)
    first, *others = client.get(f"{path}/events").json()["items"]
    made = client.get(path).json()
    expected = made | {"horizon": 30, "settings": first["body"]["settings"], "by": first["body"]["by"]}
    del expected["status"]
    assert first["body"] == expected
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    known = schemas["EventBody"]["properties"].keys()
    assert {one["kind"] for one in others} >= {"expect", "close", "void", "extend", "emergency", "stop", "ended"}
    assert {(one["kind"], name) for one in others for name in one["body"] if name not in known} == set()
    assert next(one["body"]["values"] for one in others if one["kind"] == "expect") == [3.5, None]
    closed = next(one["body"] for one in others if one["kind"] == "close")
    assert (closed["served"], closed["total"], closed["metrics"]) == ("49", 1.5, {"refunds": 2.0})


def test_a_step_of_the_hold_in_hand_can_be_voided(client: httpx.Client) -> None:
    path = create(client, "voided", policy="trim-ucb")
    for step in range(3):
        post(client, f"{path}/steps/{step}", total=1.0)
    assert post(client, f"{path}/void", step=1, **WHY)["excluded"] == 1
    assert [one["void"] for one in client.get(f"{path}/steps").json()["items"]] == [False, True, False, False]


def test_steps_that_were_learned_can_be_voided_and_sent_again_that_is_harmless(client: httpx.Client) -> None:
    path = create(client, "late", policy="ucb1")
    for step in range(9):
        post(client, f"{path}/steps/{step}", total=1.0)
    first, again = (post(client, f"{path}/void", step=2, last=4, **WHY) for _ in range(2))
    assert first == again
    shown = client.get(f"{path}/steps").json()["items"]
    assert [one["reason"] for one in shown] == [None] * 2 + [WHY["reason"]] * 3 + [None] * 5
    events = client.get(f"{path}/events").json()["items"]
    assert [one["kind"] for one in events].count("revise") == 1
    assert events[-1]["body"].keys() == {"first", "last", "reason", "learned", "excluded", "by"}
    assert client.get(f"{path}/explain/3").json()["why"] == f"as planned; void: {WHY['reason']}"
    assert client.post(f"{path}/void", json={"step": 4, "last": 9, **WHY}).json()["type"].endswith("/out-of-turn")
    assert client.post(f"{path}/void", json={"step": 4, "last": 3, **WHY}).status_code == 422


def test_every_answer_has_the_id_of_its_request(client: httpx.Client) -> None:
    given = client.get("/healthz", headers={"X-Request-ID": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    first, second = (client.get("/healthz", headers={"X-Request-ID": "not\tone"}) for _ in range(2))
    assert first.headers["x-request-id"] != second.headers["x-request-id"] != "not\tone"


def test_it_is_alive_and_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == client.get("/readyz").json() == {"status": "ok"}
