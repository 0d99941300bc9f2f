"""Forms of commands: what they say before, what they do, and how they are refused."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow.live.domain.transitions import NOTICES
from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from support.service.page_fixtures import FRIDAY, act, create
from testbed.service import in_thread

HOSTILE = '"><script>alert(1)</script>&amp;'


@pytest.fixture
def clock() -> Clock:
    return Clock(FRIDAY)


def status(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/v1/experiments/shipping").json()["status"]
    return found


def test_every_command_can_be_given_with_its_form(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, shadow=True, start=False)
    assert "started" in act(visitor, "start")
    assert status(client)["phase"] == "running"
    act(visitor, "go-live", reason="the plan looks right")
    assert not status(client)["shadow"]
    clock.now += 4 * 3600
    act(visitor, "pin", variant="59", reason="a wrong price")
    assert status(client)["pinned"] == "59"
    act(visitor, "unpin", reason="mended")
    assert status(client)["pinned"] is None
    act(visitor, "disable", variant="69", reason="sold out")
    assert status(client)["disabled"] == ["69"]
    act(visitor, "enable", variant="69", reason="in stock again")
    assert status(client)["disabled"] == []
    act(visitor, "pause", reason="stocktaking")
    assert status(client)["phase"] == "paused"
    act(visitor, "resume", reason="done")
    assert status(client)["phase"] == "running"
    text = act(visitor, "stop", keep="59", confirm="shipping", reason="the season is over")
    assert "59 is now served permanently" in text
    assert (status(client)["phase"], status(client)["variant"]) == ("over", "59")
    kinds = [one["kind"] for one in client.get("/v1/experiments/shipping/events").json()["items"]]
    assert [kind for kind in kinds if kind not in ("create", "close", "missed", *NOTICES)] == [
        "start", "go_live", "pin", "unpin", "disable", "enable", "pause", "resume", "stop",
    ]  # fmt: skip


def test_a_form_says_what_will_happen_and_when(client: httpx.Client, visitor: Visitor) -> None:
    create(client)
    page = visitor.read("/experiments/shipping/actions/pin")
    assert "With step 1, at 09:00 UTC (in 1 h), everyone gets the variant that you choose" in page.text
    assert "nor the 2 steps after them" in page.text
    assert "everyone gets the control, 49" in visitor.read("/experiments/shipping/actions/pause").text
    act(visitor, "pin", variant="59", reason="a wrong price")
    assert "59 is still served, because it is pinned" in visitor.read("/experiments/shipping/actions/pause").text
    act(visitor, "pause", reason="stocktaking")
    assert "59 is still served, because it is pinned" in visitor.read("/experiments/shipping/actions/resume").text
    assert "gets the control, 49, because it is paused," in visitor.read("/experiments/shipping/actions/unpin").text
    stop, emergency = (visitor.read(f"/experiments/shipping/actions/{one}").text for one in ("stop", "emergency"))
    assert "Clients that reach the service get the variant that you keep within 60 seconds" in stop
    assert "Clients that reach the service follow within 60 seconds, whatever the length of a step" in emergency


def test_steps_that_nobody_s_clock_ends_are_named_by_their_end(client: httpx.Client, visitor: Visitor) -> None:
    create(client, step_seconds=None)
    text = visitor.read("/experiments/shipping/actions/pause").text
    assert "With step 1, as soon as step 0 is closed, everyone gets the control" in text
    assert "49 is live until step 0 is closed." in visitor.read("/experiments/shipping").text


def test_a_command_needs_a_reason_and_keeps_what_was_typed(client: httpx.Client, visitor: Visitor) -> None:
    create(client)
    assert "reason must be a sentence" in act(visitor, "pin", variant="59", reason="  ")
    assert visitor.answer.status_code == 422
    assert visitor.form("/experiments/shipping/actions/pin").fields["variant"] == "59"
    assert "choose one" in act(visitor, "pin", reason="some reason")
    assert visitor.form("/experiments/shipping/actions/pin").fields["reason"] == "some reason"
    assert status(client)["pinned"] is None


def test_stopping_for_good_needs_the_name_typed(client: httpx.Client, visitor: Visitor) -> None:
    create(client)
    assert "type the experiment’s name, shipping, to confirm" in act(
        visitor, "stop", confirm="shiping", reason="over", keep="69"
    )
    assert status(client)["phase"] == "running"
    assert visitor.form("/experiments/shipping/actions/stop").fields["keep"] == "69"


def test_only_commands_that_fit_are_offered(client: httpx.Client, visitor: Visitor) -> None:
    create(client)
    offered = [one.rpartition("/")[2] for one in visitor.read("/experiments/shipping").links if "/actions/" in one]
    assert offered == ["pin", "pause", "disable", "extend", "emergency", "stop"]
    visitor.read("/experiments/shipping/actions/resume")
    assert visitor.answer.status_code == 409
    visitor.read("/experiments/shipping/actions/explode")
    assert visitor.answer.status_code == 404


@pytest.mark.parametrize(
    ("name", "field", "fields"),
    [("pin", "reason", {"variant": "59"}), ("stop", "confirm", {"reason": "enough"}), ("void", "step", {"step": "x"})],
)
def test_what_is_refused_is_marked_for_those_who_listen(
    client: httpx.Client, visitor: Visitor, clock: Clock, name: str, field: str, fields: dict[str, str]
) -> None:
    create(client)
    clock.now += 3600
    act(visitor, name, **fields)
    (wrong,) = (one for one in visitor.page.controls if one.get("aria-invalid"))
    assert wrong["name"] == field
    assert set(str(wrong["aria-describedby"]).split()) <= set(visitor.page.ids)
    assert "refused" in visitor.page.ids


def test_the_form_of_a_command_can_be_asked_again_when_it_takes_effect(
    client: httpx.Client, visitor: Visitor, clock: Clock
) -> None:
    create(client)
    visitor.read("/experiments/shipping/actions/pin")
    again = next(address for address in visitor.page.loads if "/actions/" in address)
    clock.now += 3600
    client.get("/v1/experiments/shipping/current")
    part = visitor.client.get(again, headers={"HX-Request": "true"}).text
    assert "With step 2, at" in part.partition('id="effect"')[2].partition("</div>")[0]


def test_a_command_that_came_too_late_is_refused_in_words(client: httpx.Client, visitor: Visitor) -> None:
    create(client)
    visitor.read("/experiments/shipping/actions/pause")
    client.post("/v1/experiments/shipping/stop", json={"reason": "somebody else was faster"})
    text = visitor.send("/experiments/shipping/actions/pause", reason="too late").text
    assert visitor.answer.status_code == 422
    assert "was stopped at step 0" in text


def test_a_database_that_is_away_is_a_page_that_says_when_to_come_back(tmp_path: Path) -> None:
    with in_thread(tmp_path / "experiments.db", time_limit=0.5) as client:
        create(client)
        visitor = Visitor(str(client.base_url))
        visitor.read("/experiments/shipping/actions/pause")
        with closing(sqlite3.connect(tmp_path / "experiments.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            visitor.send("/experiments/shipping/actions/pause", reason="it can't be done")
            assert visitor.answer.status_code == 503
            assert visitor.answer.headers["content-type"].startswith("text/html")
            assert visitor.answer.headers["retry-after"]
            other.execute("ROLLBACK")
        visitor.close()


def test_hostile_names_and_reasons_stay_words(client: httpx.Client, visitor: Visitor) -> None:
    create(client, variants=["49", HOSTILE])
    act(visitor, "pin", variant=HOSTILE, reason=HOSTILE)
    assert status(client)["pinned"] == HOSTILE
    for path in ("", "/changes", "/steps/0", "/actions/pin", "/actions/stop", "/actions/unpin"):
        page = visitor.read(f"/experiments/shipping{path}")
        assert HOSTILE in page.text, path
        assert "<script>alert" not in visitor.answer.text
    assert visitor.client.get("/experiments/shipping/totals").json()["variants"][1] == HOSTILE
    visitor.read("/")
    assert "<script>alert" not in visitor.answer.text
