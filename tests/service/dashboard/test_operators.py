"""What operators see: silence at the top, a log that lists every stretch, a searchable list, confirmations."""

import csv
import re
from pathlib import Path

import httpx
import pytest

from afterglow.service.dashboard.pages import log
from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from support.service.page_fixtures import act, create


def reward(client: httpx.Client, key: str, amount: float = 1.0) -> None:
    client.post("/v1/experiments/shipping/rewards", json={"key": key, "amount": amount}).raise_for_status()


def test_an_experiment_without_reports_says_so_at_the_top(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client)
    for _ in range(3):
        clock.hours(1)
        client.get("/v1/experiments/shipping/current")
    text = visitor.read("/experiments/shipping").text
    assert "Nothing was ever reported, in 3 steps. Steps are not learned from until the first report." in text
    assert "Let it run" not in text
    create(client, name="a-draft", start=False)
    overview = visitor.read("/")
    listed = [one.rpartition("/")[2] for one in overview.links if "/experiments/" in one]
    assert listed == ["shipping", "a-draft"]
    assert "no reports" in overview.text
    assert "Nothing was ever reported, in 3 steps." in overview.text
    assert "/experiments/a-draft" not in visitor.read("/?status=silent").links
    assert client.get("/v1/experiments/shipping").json()["status"]["learned"] == 0
    reward(client, "first")
    clock.hours(1)
    assert "Nothing was ever reported, in 3 steps. Steps are" not in visitor.read("/experiments/shipping").text


def test_the_log_never_merges_stretches_and_lists_the_end(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, horizon=8, heartbeat=True)
    for step in range(8):
        if step not in (1, 4, 5, 7):
            reward(client, str(step))
        clock.hours(1)
        client.get("/v1/experiments/shipping/current")
    text = visitor.read("/experiments/shipping").text
    for said in ("Step 1 is void", "Steps 4 to 5 are void", "Step 7 is void", "All 8 steps are complete."):
        assert said in text, said


def test_the_whole_log_can_be_read_in_pages(
    client: httpx.Client, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "PAGE", 20)
    create(client, step_seconds=None)
    for number in range(40):
        command = {"variant": "59", "reason": f"reason {number:02}"} if number % 2 == 0 else {"reason": "over"}
        client.post(f"/v1/experiments/shipping/{'un' * (number % 2)}pin", json=command).raise_for_status()
    page = visitor.read("/experiments/shipping")
    assert "reason 38" in page.text
    assert "reason 02" not in page.text  # the latest 30 lines
    assert "/experiments/shipping/log" in page.links
    read = visitor.read("/experiments/shipping/log").text
    while older := [one for one in visitor.page.links if "until=" in one and visitor.page.text.count("Earlier")]:
        read += visitor.read(older[0]).text
    assert [read.count(f"reason {number:02}") for number in range(0, 40, 2)] == [1] * 20
    assert read.count("Created with 3 variants") == 1
    assert "Latest" in visitor.page.text


def test_the_list_can_be_searched_filtered_and_ordered(client: httpx.Client, visitor: Visitor) -> None:
    for name in ("alpha", "beta", "gamma"):
        create(client, name=name, step_seconds=None, start=name != "beta")
    client.post("/v1/experiments/gamma/rewards", json=[{"key": str(one), "amount": 100.0} for one in range(9)])
    client.post("/v1/experiments/gamma/steps/0", json={"total": None}).raise_for_status()

    def listed(query: str) -> list[str]:
        links = visitor.read(f"/?{query}").links
        return [one.rpartition("/")[2] for one in links if one.startswith("/experiments/")]

    assert listed("") == ["gamma", "alpha", "beta"]  # the alarm first
    assert listed("order=name") == ["alpha", "beta", "gamma"]
    assert listed("order=newest") == ["gamma", "beta", "alpha"]
    assert listed("status=draft") == listed("phase=draft") == ["beta"]  # bookmarks of before
    assert listed("status=alarm") == ["gamma"]
    assert listed("status=exploring") == ["gamma", "alpha"]
    assert listed("status=proven") == []
    assert listed("q=ALP") == ["alpha"]
    assert listed("q=%3Cscript%3E") == []
    assert "No experiment fits" in visitor.page.text


def test_alarms_are_on_the_first_page(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    for number in range(101):
        body = {"name": f"x{number:03}", "variants": ["A", "B"], "window": 1, "reward_max": 1.0}
        client.post("/v1/experiments", json=body).raise_for_status()
    client.post("/v1/experiments/x100/rewards", json=[{"key": str(one), "amount": 1.0} for one in range(2)])
    client.post("/v1/experiments/x100/steps/0", json={"total": None}).raise_for_status()
    first = [one for one in visitor.read("/").links if one.startswith("/experiments/")]
    assert first[0] == "/experiments/x100"
    assert len(first) == 100
    assert "/experiments/x099" in visitor.read("/?page=1").links
    assert "/experiments/x099" in visitor.read("/?page=7").links  # the last page


def test_voiding_several_steps_needs_the_name_typed(client: httpx.Client, visitor: Visitor) -> None:
    create(client, step_seconds=None)
    for step in range(6):
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 1.0}).raise_for_status()
    assert "type the experiment’s name, shipping, to confirm" in act(visitor, "void", step="1", last="3", reason="till")
    assert "Step 5 voided" in act(visitor, "void", step="5", reason="till") or "Steps voided" in visitor.page.text
    act(visitor, "void", step="1", last="3", reason="till", confirm="shipping")
    steps = client.get("/v1/experiments/shipping/steps").json()["items"]
    assert [one["void"] for one in steps[1:4]] == [True] * 3


def test_a_void_says_what_it_costs_before_it_is_done(client: httpx.Client, visitor: Visitor) -> None:
    create(client, step_seconds=None, policy="ucb1", window=1)
    for step in range(40):
        live = client.get("/v1/experiments/shipping/current").json()["variant"]
        total = {"49": 10.0, "59": 12.0, "69": 11.0}[live] + (30.0 if step == 4 else 0.0)
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": total}).raise_for_status()
    form = "/experiments/shipping/actions/void"
    said = visitor.read(f"{form}?step=37&last=39").text
    assert "3 of 40 used steps would be lost: no others than those that you void." in said
    assert "Step 77 can't be voided" in visitor.read(f"{form}?step=77").text
    text = act(visitor, "void", step="4", reason="counted twice")
    (said,) = re.findall(r"About (\d+) of 40 used steps would be lost, because the plan", text)
    assert client.get("/v1/experiments/shipping").json()["status"]["learned"] == 40
    text = act(visitor, "void", step="4", reason="counted twice", confirm="shipping")
    learned = client.get("/v1/experiments/shipping").json()["status"]["learned"]
    assert learned == 40 - int(said)
    steps = client.get("/v1/experiments/shipping/steps").json()["items"]
    used = [one["step"] for one in steps if one["role"] == "plan" and not one["void"] and one["total"] is not None]
    aside = [one["step"] for one in steps if one["role"] == "aside"]
    assert (len(used), len(aside)) == (learned, int(said) - 1)  # the void step has its own mark
    assert aside
    assert "set aside: without the void steps another variant would have been served" in text  # lanes and table
    rows = list(csv.DictReader(visitor.client.get("/experiments/shipping/steps.csv").text.splitlines()))
    assert [int(row["step"]) for row in rows if row["role"] == "aside"] == aside
    assert (
        "set aside, because steps before it were voided" in visitor.read(f"/experiments/shipping/steps/{aside[0]}").text
    )


def test_a_mistyped_address_is_a_page_with_the_navigation(client: httpx.Client) -> None:
    for number in range(12):
        create(client, name=f"x{number}", step_seconds=None)
    missing = client.get("/experiments/nothing", headers={"accept": "text/html"}).text
    assert "available: x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 2 older ones" in missing
    late = client.get("/experiments/x1/steps/99", headers={"accept": "text/html"}).text
    assert 'href="/experiments/x1/steps/0"' in late
    assert "steps/100" not in late
    answer = client.get("/experimnets", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "nothing at /experimnets" in answer.text
    assert 'href="/new"' in answer.text


def test_the_page_of_a_step_says_which_index_was_the_highest(client: httpx.Client, visitor: Visitor) -> None:
    create(client, step_seconds=None, policy="ucb1", window=1, unit="EUR")
    for step in range(5):
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 40.0 + step}).raise_for_status()
    told = client.get("/v1/experiments/shipping/explain/4").json()
    first, second = sorted(told["index"].values())[:0:-1]
    said = f"{told['variant']} had the highest index, {first:.0f} EUR against {second:.0f} EUR for"
    page = visitor.read("/experiments/shipping/steps/4")
    assert said in told["because"]
    assert said in page.text
    assert page.soup.select_one("details.state:not([open])") is not None  # the raw state is behind a fold


def test_archived_experiments_are_listed_only_on_request(client: httpx.Client, visitor: Visitor) -> None:
    for name in ("shipping", "banner"):
        create(client, name=name, step_seconds=None)
    assert "hidden from the list" not in visitor.read("/experiments/shipping").text
    act(visitor, "stop", reason="done", keep="59", confirm="shipping")
    assert "Archived: hidden from the list of experiments." in act(visitor, "archive", reason="tidy")
    page = visitor.read("/")
    assert "/experiments/shipping" not in page.links
    assert "1 of 2 experiments, 1 archived" in page.text
    assert "/experiments/shipping" not in visitor.read("/?status=over").links
    assert "/experiments/shipping" in visitor.read("/?status=archived").links
    act(visitor, "unarchive", reason="back")
    assert "/experiments/shipping" in visitor.read("/").links


def test_a_running_experiment_is_extended_from_its_page(client: httpx.Client, visitor: Visitor) -> None:
    create(client, name="endless", step_seconds=None, horizon=None)
    endless = visitor.read("/experiments/endless")
    assert "step 0, no horizon" in endless.text
    assert "/experiments/endless/actions/extend" not in endless.links
    create(client, step_seconds=None, horizon=50)
    create(client, name="fixed", step_seconds=None, horizon=50, policy="phased-ucb", options={"hold": 3})
    assert "must be more than the 50 steps there are, got 5" in act(visitor, "extend", horizon="5", reason="oops")
    text = act(visitor, "extend", horizon="80", reason="a quiet week")
    assert "step 0 of 80" in text
    assert "Lengthened to 80 steps, by 30." in text
    assert "80 steps, lengthened from 50" in text
    assert "/experiments/fixed/actions/extend" not in visitor.read("/experiments/fixed").links
    refused = client.post("/v1/experiments/fixed/extend", json={"horizon": 90, "reason": "longer"})
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("phased-ucb has made its schedule for 50 steps")


def test_steps_are_downloaded_with_their_times_and_void_ones_marked(
    client: httpx.Client, visitor: Visitor, clock: Clock, tmp_path: Path
) -> None:
    create(client, name="shipping", variants=["=49", "59"], heartbeat=True, window=1)
    for step in range(12):
        if step != 2:
            reward(client, str(step), 40.0 + step % 3)
        clock.hours(1)
        client.get("/v1/experiments/shipping/current")
    act(visitor, "void", step="5", reason="the till was broken", confirm="shipping")
    assert "/experiments/shipping/steps.csv" in visitor.read("/experiments/shipping").links
    answer = visitor.client.get("/experiments/shipping/steps.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="shipping-steps.csv"'
    rows = list(csv.DictReader(answer.text.splitlines()))
    assert (rows[1]["begins"], rows[1]["ends"]) == ("1970-01-12T14:46:40.000Z", "1970-01-12T15:46:40.000Z")
    assert [row["step"] for row in rows if row["void"] == "true"] == ["2", "3", "5"]  # 3 may have late reports
    assert (rows[2]["total"], rows[5]["total"], rows[5]["reason"]) == ("", "42.0", "the till was broken")
    assert {row["variant"] for row in rows} == {"'=49", "59"}  # no spreadsheet runs it
    assert (len(rows), rows[12]["ends"], rows[12]["total"]) == (13, "", "")  # the current step is open


def test_steps_that_a_program_closes_have_the_times_of_these_calls(
    client: httpx.Client, visitor: Visitor, clock: Clock
) -> None:
    create(client, step_seconds=None)
    for step, hours in enumerate((1, 5, 2)):
        clock.hours(hours)
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 1.0}).raise_for_status()
    rows = list(csv.DictReader(visitor.client.get("/experiments/shipping/steps.csv").text.splitlines()))
    assert [row["ends"][11:16] for row in rows] == ["14:46", "19:46", "21:46", ""]
    assert [row["begins"] for row in rows[1:]] == [row["ends"] for row in rows[:-1]]


def test_the_form_has_no_default_for_the_maximum_value(client: httpx.Client, visitor: Visitor) -> None:
    visitor.read("/new")
    text = visitor.send("/new", name="shipping", variants="49\n59", window="3").text
    assert "maximum value of one step's decision is missing; enter a number" in text
    assert client.get("/v1/experiments").json()["items"] == []


def test_the_form_takes_the_settings_of_another_experiment(client: httpx.Client, visitor: Visitor) -> None:
    given = {
        "policy": "lean-ucb", "options": {"noise": 0.2}, "control": "59", "season": 24, "unit": "EUR", "seed": 7,
        "heartbeat": True, "remember": 7200, "step_seconds": 5400, "profile": [1.5, 2, 3.25], "trust": 0.5,
        "guards": {"complaints": {"at_most": "+10%", "against": "control"}, "refunds": {"at_most": 25}},
    }  # fmt: skip
    create(client, **given)
    assert "/new?like=shipping" in visitor.read("/experiments/shipping").links
    visitor.read("/new?like=shipping")
    assert visitor.form("/new").fields["name"] == "shipping-2"
    visitor.send("/new")
    assert visitor.path() == "/experiments/shipping-2?done=create"
    first, second = (client.get(f"/v1/experiments/{name}").json() for name in ("shipping", "shipping-2"))
    for one in (first, second):
        for name in ("name", "starts", "status"):
            del one[name]
    assert first == second
    several = {"name": "stores", "variants": ["A", "B"], "window": 2, "horizon": 60, "units": ["north", "south"]}
    client.post("/v1/experiments", json=several | {"levels": {"north": 5.5, "south": 7}}).raise_for_status()
    visitor.read("/new?like=stores")
    visitor.send("/new")
    assert client.get("/v1/experiments/stores-2").json()["units"] == ["north", "south"]
    assert (
        client.get("/v1/experiments/stores-2").json()["levels"] == client.get("/v1/experiments/stores").json()["levels"]
    )
    assert "No experiment named 'nothing'" in visitor.read("/new?like=nothing").text
