"""Experiments with units over HTTP: calls, flags, events, pages and clients of one running service."""

import asyncio
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from afterglow.cli import run
from afterglow.client import AsyncClient, Client
from afterglow.errors import BadValue
from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from testbed.service import in_thread, slug

UNITS = ["north", "south", "east", "west", "up", "old town"]
LEVELS = dict(zip(UNITS, [1200.0, 800.0, 400.0, 950.0, 300.0, 650.0], strict=True))
ASKED: dict[str, Any] = {
    "name": "regions", "variants": ["A", "B"], "window": 4, "horizon": 96, "units": UNITS, "levels": LEVELS,
    "unit": "EUR",
}  # fmt: skip
HERE = "/v1/experiments/regions"
FLAGS = "/ofrep/v1/evaluate/flags"


@pytest.fixture
def client(tmp_path: Path, clock: Clock) -> Iterator[httpx.Client]:
    with in_thread(tmp_path / "e.db", clock) as made:
        assert made.post("/v1/experiments", json=ASKED).status_code == 201
        yield made


def current(client: httpx.Client, unit: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{HERE}/current", params={"unit": unit}).json()
    return found


def play(client: httpx.Client, first: int, last: int) -> None:
    random = Random(first)
    for step in range(first, last):
        shock = random.gauss(1, 0.2)
        totals = {
            unit: LEVELS[unit] * (shock + random.gauss(0, 0.02) + 0.1 * (current(client, unit)["variant"] == "B"))
            for unit in UNITS
        }
        assert client.post(f"{HERE}/steps/{step}", json={"totals": totals}).status_code == 200


def current_problem(client: httpx.Client, body: dict[str, Any]) -> tuple[str, str]:
    """Field and beginning of the sentence with which a step isn't closed."""
    found = client.post(f"{HERE}/steps/0", json=body).json()
    return found["field"], found["detail"].split(";")[0].split(":")[0]


def test_a_unit_is_asked_for_its_variant(client: httpx.Client) -> None:
    served = {unit: current(client, unit) for unit in UNITS}
    assert {one["variant"] for one in served.values()} == {"A", "B"}
    assert served["old town"]["unit"] == "old town"
    missing, unknown = client.get(f"{HERE}/current"), client.get(f"{HERE}/current?unit=nowhere")
    assert [slug(one) for one in (missing, unknown)] == ["bad-value"] * 2
    assert "unit is missing: the experiment has the units north, south" in missing.json()["detail"]
    assert "no unit named 'nowhere'" in unknown.json()["detail"]
    assert current_problem(client, {"total": 1}) == (
        "total",
        "total must be told by unit, experiment 'regions' has units",
    )
    assert current_problem(client, {"totals": {"nowhere": 1}}) == ("totals", "no unit named 'nowhere'")
    assert current_problem(client, {"totals": {"north": 1e300}})[0] == "totals"
    tag = client.get(f"{HERE}/current?unit=north").headers["etag"]
    again = client.get(f"{HERE}/current?unit=north", headers={"If-None-Match": tag})
    assert again.status_code == 304


def test_rewards_have_a_unit(client: httpx.Client) -> None:
    batch = [{"key": unit, "amount": -1.5, "unit": unit} for unit in UNITS]
    assert client.post(f"{HERE}/rewards", json=batch).json() == {"step": 0, "accepted": 6, "duplicates": 0}
    assert client.post(f"{HERE}/rewards", json=batch[0]).json()["duplicates"] == 1
    refused = client.post(f"{HERE}/rewards", json={"key": "x", "amount": 1})
    assert (slug(refused), refused.json()["field"]) == ("bad-value", "unit")
    assert slug(client.post(f"{HERE}/rewards", json={"key": "x", "amount": 1, "unit": 7})) == "bad-value"
    assert slug(client.post(f"{HERE}/rewards", json={"key": "north", "amount": -1.5, "unit": "south"})) == "key-reused"
    closed = client.post(f"{HERE}/steps/0", json={}).json()
    assert closed["total"] == -9.0
    assert [one["unit"] for one in closed["units"]] == UNITS
    rows = client.get(f"{HERE}/steps", params={"limit": 1}).json()
    assert [(one["unit"], one["total"]) for one in rows["items"]] == [(unit, -1.5) for unit in UNITS]
    assert rows["next"] == 0
    plain = {"name": "plain", "variants": ["A", "B"], "window": 2}
    assert client.post("/v1/experiments", json=plain).status_code == 201
    for body in ({"key": "k", "amount": 0.5, "unit": "north"}, {"key": "k", "amount": -0.5}):
        assert slug(client.post("/v1/experiments/plain/rewards", json=body)) == "bad-value"
    assert slug(client.post("/v1/experiments/plain/steps/0", json={"totals": {"x": 1}})) == "bad-value"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"units": ["x"]}, "units"), ({"levels": {"north": 1.0}}, "levels"), ({"horizon": None}, "horizon"),
        ({"policy": "ucb1"}, "policy"), ({"units": [f"u{n}" for n in range(201)], "levels": None}, "units"),
        ({"variants": [f"v{n}" for n in range(21)]}, "variants"), ({"reward_max": 3}, "reward_max"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_by_field(client: httpx.Client, change: dict[str, Any], field: str) -> None:
    refused = client.post("/v1/experiments", json=ASKED | {"name": "other"} | change)
    said = refused.json()
    assert slug(refused) == "bad-value"
    assert field in (said.get("field"), *(one["where"].split(".")[-1] for one in said.get("errors", [])))


def test_flags_read_the_unit_from_the_context_and_serve_the_control_without_it(client: httpx.Client) -> None:
    found = {
        unit: client.post(f"{FLAGS}/regions", json={"context": {"unit": unit}}).json()
        for unit in (*UNITS, "nowhere", 7, None)
    }
    assert [found[unit]["value"] for unit in UNITS] == [current(client, unit)["variant"] for unit in UNITS]
    assert found["south"]["metadata"]["unit"] == "south"
    for unit, why in (("nowhere", "has no unit 'nowhere'"), (7, "has no unit 7"), (None, "the context has no unit")):
        one = found[unit]
        assert (one["value"], one["reason"]) == ("A", "DEFAULT")
        assert why in one["metadata"]["note"]
    (many,) = client.post(FLAGS, json={"context": {"unit": "south"}}).json()["flags"]
    assert many == found["south"]


def test_commands_events_and_metrics_name_units(client: httpx.Client) -> None:
    status = client.post(f"{HERE}/pin", json={"variant": "A", "reason": "a fair", "unit": "north"}).json()
    assert status["pinned"] is None
    play(client, 0, 3)
    assert slug(client.post(f"{HERE}/pin", json={"variant": "A", "reason": "x", "unit": "no"})) == "bad-value"
    events = client.get(f"{HERE}/events").json()["items"]
    kinds = {one["kind"]: one["body"] for one in events}
    assert kinds["pin"]["units"] == ["north"]
    assert list(kinds["close"]["served"]) == list(kinds["close"]["totals"]) == UNITS
    assert kinds["close"]["voids"] == []
    assert client.post(f"{HERE}/void", json={"step": 0, "reason": "late", "unit": "west"}).status_code == 200
    rows = client.get(f"{HERE}/steps").json()["items"]
    assert [(one["unit"], one["step"]) for one in rows if one["void"]] == [("west", 0)]
    status = client.get(HERE).json()["status"]
    assert [one["pinned"] for one in status["units"]] == ["A", *[None] * 5]
    explained = client.get(f"{HERE}/explain/1", params={"unit": "north"}).json()
    assert (explained["unit"], explained["estimates"]) == ("north", None)
    assert slug(client.get(f"{HERE}/estimates")) == "out-of-turn"
    assert client.get(f"{HERE}/differences").json()["confidence"] == 0.95
    assert slug(client.post(f"{HERE}/emergency", json={"variant": "B"})) == "bad-value"
    client.post(f"{HERE}/emergency", json={"variant": "B", "reason": "it fails"}).raise_for_status()
    assert {current(client, unit)["variant"] for unit in UNITS} == {"A"}


def test_it_ends_tested_and_its_export_is_read_by_fit(
    client: httpx.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    play(client, 0, 96)
    verdict = client.get(f"{HERE}/verdict").json()
    assert verdict["recommended"] == "B"
    assert "EUR" in verdict["summary"]
    status = client.get(HERE).json()["status"]
    assert status["units_test"]["p"] == pytest.approx(verdict["p"] or status["units_test"]["p"])
    page = client.get("/experiments/regions").text
    assert "Exact test" in page
    assert page.count('class="lane-totals"') == len(UNITS)
    capsys.readouterr()
    assert run(["export", str(tmp_path / "e.db"), "regions"]) == 0
    text = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 96 * len(UNITS)
    assert [row["unit"] for row in rows[: len(UNITS)]] == UNITS
    (tmp_path / "panel.csv").write_text(text, encoding="utf-8")
    assert run(["fit", str(tmp_path / "panel.csv"), "--unit", "unit", "--window", "4"]) == 0
    assert "B" in capsys.readouterr().out
    assert run(["fit", str(tmp_path / "panel.csv"), "--window", "4"]) != 0
    assert "name their column with --unit" in capsys.readouterr().err


def test_clients_have_a_handle_for_each_unit(client: httpx.Client) -> None:
    address = str(client.base_url)
    with Client(address, "token") as service:
        handles = [service.experiment("regions", unit=unit) for unit in UNITS]
        assert [one.current() for one in handles] == [current(client, unit)["variant"] for unit in UNITS]
        handles[0].reward(-2.5)
        handles[0].reward(4.0, unit="south")
        with pytest.raises(BadValue):
            service.experiment("regions").reward(-1.0)
        service.flush(30)
        closed = handles[0].close_step({"east": 5.0}, 0)
        assert closed["total"] == 6.5
        assert [one.decision().step for one in handles] == [1] * len(UNITS)
        assert handles[2].explain(0)["unit"] == "east"
        pinned = handles[0].pin("A", "a fair there", unit="west")
        assert [one["unit"] for one in pinned["units"] if one["pinned"]] == ["west"]
        service.experiment("regions", unit="west").unpin("it is over")
        here = handles[0].pin("B", "a handle on one unit pins there")
        assert [one["unit"] for one in here["units"] if one["pinned"]] == [handles[0].unit]
        assert all(one["pinned"] == "A" for one in service.experiment("regions").pin("A", "everywhere")["units"])
        service.experiment("regions").unpin("everywhere")
        assert service.create("more", ["A", "B"], 2, 50, units=("x", "y"), levels={"x": 1.0, "y": 2.0})["units"] == [
            "x", "y",
        ]  # fmt: skip

    async def at_once() -> str:
        async with AsyncClient(address, "token") as service:
            east = service.experiment("regions", unit="east")
            east.reward(1.0)
            await service.flush(30)
            return await east.current()

    assert asyncio.run(at_once()) == current(client, "east")["variant"]


def test_the_page_has_a_lane_for_each_unit_and_forms_name_units(client: httpx.Client) -> None:
    play(client, 0, 9)
    visitor = Visitor(str(client.base_url))
    page = client.get("/experiments/regions").text
    assert [unit for unit in UNITS if f'class="row-name">{unit}' not in page] == []
    assert "How to read this page" in page
    assert "unit-steps used" in page
    visitor.read("/experiments/regions/actions/pin")
    visitor.send("/experiments/regions/actions/pin", variant="B", reason="a fair", unit="old town")
    log = client.get("/experiments/regions").text
    assert "Pinned to B in old town." in log
    explained = client.get("/experiments/regions/steps/3", params={"unit": "east"}).text
    assert "Step 3 of east served" in explained
    visitor.read("/new")
    made = visitor.send(
        "/new", name="typed", variants="A\nB", units="x\ny y\nz", levels="x = 10\ny y = 20,5\nz = 3", horizon="80",
        window="2", steps="manual", start="now",
    )  # fmt: skip
    spec = client.get("/v1/experiments/typed").json()
    assert (spec["units"], spec["levels"]) == (["x", "y y", "z"], {"x": 10.0, "y y": 20.5, "z": 3.0}), made.text
    assert client.get("/").status_code == 200
    visitor.close()
