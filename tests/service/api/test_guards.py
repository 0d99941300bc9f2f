"""Guards over HTTP: the setting, totals of metrics, stops with names and amounts, both clients, page and form."""

import asyncio
import json
import random
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from afterglow.client import AsyncClient, Client
from afterglow.errors import BadValue
from support.browser.visitor import Visitor
from testbed.service import in_thread, slug

GUARDS = {"complaints": {"at_most": "+10%"}, "load": {"at_most": 25.0}}
ASKED: dict[str, Any] = {"variants": ["49", "59", "69"], "window": 2, "horizon": 600, "policy": "switchback"}
LEVELS = {"49": 10.0, "59": 20.0, "69": 10.0}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with in_thread(tmp_path_factory.mktemp("guards") / "experiments.db") as made:
        yield made


def create(client: httpx.Client, name: str, **more: Any) -> str:
    answer = client.post("/v1/experiments", json={"name": name, **ASKED, "guards": GUARDS, **more})
    assert answer.status_code == 201, answer.text
    return f"/v1/experiments/{name}"


@pytest.fixture(scope="module")
def stopped(client: httpx.Client) -> str:
    """An experiment in which 59 was stopped; steps are closed by calls."""
    path, source, variant = create(client, "stopped"), random.Random(1), "49"
    variant = client.get(f"{path}/current").json()["variant"]
    for step in range(110):
        metrics = {"complaints": max(0.0, source.gauss(LEVELS[variant], 2)), "load": 20 + source.random()}
        answer = client.post(f"{path}/steps/{step}", json={"total": 0.5, "metrics": metrics}).json()
        assert answer["metrics"] == pytest.approx(metrics, abs=1e-6)
        variant = answer["next"]["variant"]
    return path


def test_a_stop_is_told_with_names_and_amounts(client: httpx.Client, stopped: str) -> None:
    made = client.get(stopped).json()
    assert made["guards"] == {
        "complaints": {"metric": "complaints", "at_most": "+10%", "against": "control"},
        "load": {"metric": "load", "at_most": 25.0},
    }
    assert made["status"]["disabled"] == ["59"]
    rows = client.get(f"{stopped}/guards").json()["items"]
    assert rows == made["status"]["guards"]
    assert {(one["guard"], one["variant"]): one["state"] for one in rows} == {
        ("complaints", "59"): "stopped", ("complaints", "69"): "watching",
        ("load", "49"): "watching", ("load", "59"): "watching", ("load", "69"): "watching",
    }  # fmt: skip
    events = client.get(f"{stopped}/events", params={"limit": 1000}).json()["items"]
    (event,) = [one for one in events if one["kind"] == "guarded"]
    assert (event["body"]["variant"], event["body"]["guard"]) == ("59", "complaints")
    assert 10 < event["body"]["limit"] < event["body"]["mean"] < 30
    closed = next(one for one in events if one["kind"] == "close")
    assert set(closed["body"]["metrics"]) == {"complaints", "load"}
    assert events[0]["body"]["guards"] == made["guards"]
    step = client.get(f"{stopped}/steps", params={"limit": 1}).json()["items"][0]
    assert step["metrics"] == closed["body"]["metrics"]
    assert "Disabled by a guard: 59 (complaints)." in client.get(f"{stopped}/verdict").json()["summary"]


def test_the_page_shows_each_guard(client: httpx.Client, visitor: Visitor, stopped: str) -> None:
    text = visitor.read("/experiments/stopped").text
    assert "complaints at most +10% against the control" in text
    assert "load at most 25" in text
    assert "disabled in step" in text
    assert "Guard complaints: 59 disabled; the policy restarted with the other variants." in text
    csv = client.get("/experiments/stopped/steps.csv").text
    assert csv.splitlines()[0].endswith("expected,metric_complaints,metric_load")
    gauge = 'afterglow_guarded_variants{experiment="stopped"} 1.0'
    for _ in range(200):
        if gauge in client.get("/metrics").text:
            break
    else:
        pytest.fail("the gauge doesn't count the stop")


def test_the_page_names_guards_that_cant_see(client: httpx.Client, visitor: Visitor) -> None:
    made = {"name": "blind", "variants": ["49", "59"], "window": 1, "horizon": 200, "policy": "switchback",
            "guards": {"complaints": {"at_most": "+10%"}}}  # fmt: skip
    assert client.post("/v1/experiments", json=made).status_code == 201
    (row,) = client.get("/v1/experiments/blind/guards").json()["items"]
    assert row["state"] == "waiting"
    for step in range(3):
        client.post(f"/v1/experiments/blind/steps/{step}", json={"total": 1.0})
    (row,) = client.get("/v1/experiments/blind/guards").json()["items"]
    assert (row["state"], row["missing"]) == (
        "unreported", "nothing but 0 was reported of complaints in 3 counted steps"
    )  # fmt: skip
    client.post("/v1/experiments/blind/disable", json={"variant": "49", "reason": "sold out"})
    page = visitor.read("/experiments/blind").text
    assert "Guards can’t watch complaints: nothing but 0 was reported of it so far." in page
    assert "49 is the control: while it is disabled, limits against it (complaints) use its totals until then." in page


def test_guards_are_written_into_the_form_line_by_line(client: httpx.Client, visitor: Visitor) -> None:
    visitor.read("/new")
    asked = {"name": "form", "variants": "a\nb", "window": "2", "reward_max": "5", "horizon": "500"}
    visitor.send("/new", **asked, guards="complaints about +10%")
    assert "guards must be written as complaints at most +10%, one per line" in visitor.page.text
    visitor.send(
        "/new",
        **asked,
        guards="complaints at most +10%\nload at most 25\nload at least 3\ncpu: load at most +5% against 20",
    )
    assert client.get("/v1/experiments/form").json()["guards"] == {
        "complaints": {"metric": "complaints", "at_most": "+10%", "against": "control"},
        "load": {"metric": "load", "at_most": 25.0},
        "load at least": {"metric": "load", "at_least": 3.0},
        "cpu": {"metric": "load", "at_most": "+5%", "against": 20.0},
    }
    visitor.read("/new?like=form")
    visitor.send("/new", name="clone")
    assert client.get("/v1/experiments/clone").json()["guards"] == client.get("/v1/experiments/form").json()["guards"]


@pytest.mark.parametrize(
    ("guards", "says"),
    [
        ({"complaints": {"at_most": "ten"}}, "must have a change such as '+10%'"),
        ({"complaints": {}}, "must have at_most or at_least"),
        ({"complaints": {"more": 3}}, "more"),
        ([], "guards"),
    ],
)
def test_guards_that_cant_be_are_refused(client: httpx.Client, guards: Any, says: str) -> None:
    answer = client.post("/v1/experiments", json={"name": "no", **ASKED, "guards": guards})
    assert (answer.status_code, slug(answer)) == (422, "bad-value")
    assert says in json.dumps(answer.json())


def test_metrics_that_cant_be_are_refused(client: httpx.Client) -> None:
    path = create(client, "refusing")
    for reward, says in (
        ({"key": "a", "amount": 1, "metric": "complaint"}, "did you mean 'complaints'"),
        ({"key": "a", "amount": 1, "metric": 3}, "metric must be the name of a total that a guard watches"),
        ({"key": "a", "amount": 1, "metric": ""}, "metric must be the name of a total that a guard watches"),
        ({"key": "a", "amount": 1e13, "metric": "load"}, "must be a number between 0 and"),
    ):
        answer = client.post(f"{path}/rewards", json=reward)
        assert answer.status_code == 422
        assert says in answer.json()["detail"]
    twice = b'{"key": "a", "amount": 1, "metric": "load", "metric": "complaints"}'
    assert (
        client.post(f"{path}/rewards", content=twice, headers={"content-type": "application/json"}).status_code == 400
    )
    for metrics in ({"other": 1}, {"reward": 1}, {"load": -1}):
        assert client.post(f"{path}/steps/0", json={"total": 0.5, "metrics": metrics}).status_code == 422
    assert client.post(f"{path}/rewards", json={"key": "a", "amount": 2, "metric": "load"}).json()["accepted"] == 1
    answer = client.post(f"{path}/steps/0", json={"total": 0.5, "metrics": {"load": 3}})
    assert (answer.status_code, slug(answer)) == (409, "step-closed")


def test_both_clients_carry_metrics(client: httpx.Client) -> None:
    create(client, "clients")
    address = str(client.base_url)
    with Client(address, "none") as made:
        experiment = made.experiment("clients", "49")
        experiment.reward(0.25, "one")
        experiment.reward(3, "one", metric="complaints")
        made.flush(10)
        assert experiment.close_step(None, 0, {"load": 7.5})["metrics"] == {"complaints": 3.0, "load": 7.5}
        rows: Any = experiment.guards()
        assert [row["state"] for row in rows] == ["waiting"] * 5
        with pytest.raises(BadValue, match="did you mean 'complaints'"):
            experiment.close_step(0.5, 1, {"complaint": 1})

    async def later() -> None:
        async with AsyncClient(address, "none") as made:
            experiment = made.experiment("clients", "49")
            experiment.reward(4, "two", metric="complaints")
            await made.flush(10)
            closed = await experiment.close_step(0.5, 1)
            assert closed["metrics"] == {"complaints": 4.0, "load": 0.0}
            assert len(await experiment.guards()) == 5

    asyncio.run(later())


def test_a_stream_tells_a_stop(client: httpx.Client, stopped: str) -> None:
    begin = {"last-event-id": urlsafe_b64encode(b'{"stopped": 0}').decode()}
    with client.stream("GET", "/v1/events", headers=begin) as answer:
        for line in answer.iter_lines():
            if line.startswith("data:") and '"guarded"' in line:
                said = json.loads(line[5:])
                break
    assert said["body"]["variant"] == "59"
    assert said["body"]["reason"].startswith("complaints: ")


def test_units_have_guards_too(client: httpx.Client, visitor: Visitor) -> None:
    """By HTTP and a client: totals of a metric by unit, the stop with names, the page and the file."""
    units = ["north", "south", "east", "west", "up", "down"]
    asked = {"name": "regions", "variants": ["49", "59"], "window": 2, "horizon": 200, "units": units, "seed": 3}
    guards = {"complaints": {"at_most": "+10%"}}
    made = client.post("/v1/experiments", json=asked | {"guards": guards, "options": {"commit": 150}})
    assert made.status_code == 201, made.text
    path, source = "/v1/experiments/regions", random.Random(1)
    with Client(str(client.base_url), "none") as both:
        experiment = both.experiment("regions", "49", unit="north")
        experiment.reward(4, "one", metric="complaints")
        both.flush(10)
        closed = experiment.close_step(dict.fromkeys(units, 5.0), 0, {"complaints": {"south": 3}})
        assert closed["metrics"] == {"complaints": 7.0}
        with pytest.raises(BadValue, match="metrics must have totals by unit for 'complaints'"):
            experiment.close_step(dict.fromkeys(units, 5.0), 1, {"complaints": 3})
    served = {one["unit"]: one["variant"] for one in closed["units"]}
    for step in range(1, 40):
        totals = {unit: (2 if served[unit] == "59" else 1) * source.uniform(90, 110) for unit in units}
        body = {"totals": dict.fromkeys(units, 5.0), "metrics": {"complaints": totals}}
        answer = client.post(f"{path}/steps/{step}", json=body).json()
        served = {one["unit"]: one["variant"] for one in answer["units"]}
    assert set(served.values()) == {"49"}
    rows = client.get(f"{path}/guards").json()["items"]
    assert [(one["variant"], one["state"]) for one in rows] == [("59", "stopped")]
    events = client.get(f"{path}/events", params={"limit": 200}).json()["items"]
    first = next(one["body"] for one in events if one["kind"] == "close")
    assert first["metrics"] == {"complaints": dict.fromkeys(units, 0.0) | {"north": 4.0, "south": 3.0}}
    stop = next(one["body"] for one in events if one["kind"] == "guarded")
    assert (stop["variant"], stop["guard"]) == ("59", "complaints")
    text = visitor.read("/experiments/regions").text
    assert "complaints at most +10% against the control" in text
    assert "what units share multiplies their totals" in text
    assert "disabled in step" in text
    changed = client.get("/experiments/regions/changes?seen=x").text  # what an open page is told
    assert "disabled in step" in changed.partition('innerHTML:#guards">')[2].partition("hx-swap-oob")[0]
    head, line, *_ = client.get("/experiments/regions/steps.csv").text.splitlines()
    assert head.endswith("expected,unit,metric_complaints")
    assert line.endswith("north,4.0")
