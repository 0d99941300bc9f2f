"""What pages say, read without scripts."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow import live
from afterglow.service.dashboard.charts.timeline import SPAN
from afterglow.service.dashboard.recent_log import CACHED, LOOK_BACK, RecentLog
from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from support.service.page_fixtures import FRIDAY
from testbed.quick_disk import quick_folder

HOUR = 3600.0


@pytest.fixture
def clock() -> Clock:
    return Clock(FRIDAY)


def create(client: httpx.Client, name: str = "shipping", **more: Any) -> None:
    body = {"name": name, "variants": ["49", "59"], "window": 2, "reward_max": 10.0, "horizon": 1000}
    assert client.post("/v1/experiments", json=body | more).status_code == 201


def play(client: httpx.Client, clock: Clock, hours: int, amount: float = 4.0, name: str = "shipping") -> None:
    """Some hours by the clock, with a reward in each."""
    for _ in range(hours):
        sent = client.post(f"/v1/experiments/{name}/rewards", json={"key": f"{clock.now}", "amount": amount})
        assert sent.status_code == 202
        clock.now += HOUR
        client.get(f"/v1/experiments/{name}/current")


def act(client: httpx.Client, name: str, **body: Any) -> None:
    assert client.post(f"/v1/experiments/shipping/{name}", json=body).status_code == 200


def test_the_overview_has_a_line_for_every_experiment(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    create(client, "by-hand")
    create(client, "draft", start=False)
    create(client, "endless", horizon=None, step_seconds=60.0, shadow=True)
    play(client, clock, 3)
    text = visitor.read("/").text
    assert "shipping exploring 49 step 3 of 1,000 < 1 % in 1 h" in text
    assert "when the current step is closed" in text
    assert "not started" in text
    assert "no horizon" in text
    assert "shadow" in text


def test_alarms_come_first_and_what_is_over_last(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    for name in ("b-wrong", "a-over", "c-running"):
        create(client, name, step_seconds=HOUR)
    assert client.post("/v1/experiments/a-over/stop", json={"reason": "done"}).status_code == 200
    play(client, clock, 8, 18.0, "b-wrong")
    listed = [link for link in visitor.read("/").links if link.startswith("/experiments/")]
    assert listed == [f"/experiments/{name}" for name in ("b-wrong", "c-running", "a-over")]


def test_a_page_says_what_is_live_and_until_when(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    clock.now += 1510
    assert "49 is live until 09:00 UTC, in 34 min 50 s" in visitor.read("/experiments/shipping").text
    create(client, "draft", start=False, step_seconds=HOUR)
    text = visitor.read("/experiments/draft").text
    assert "49 is served until the experiment starts." in text
    assert "No steps yet: the first one begins when the experiment starts." in text


def test_a_page_says_when_an_experiment_starts_by_itself(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    later = datetime.fromtimestamp(clock.now + 2 * HOUR, UTC)
    create(client, step_seconds=HOUR, starts=later.isoformat())
    text = visitor.read("/experiments/shipping").text
    said = f"49 is served until the scheduled start, {later.day} {later:%b %Y, %H:%M:%S} UTC, in 2 h"
    assert said in text
    assert "/experiments/shipping/actions/start" not in visitor.page.links
    assert "/experiments/shipping/actions/stop" in visitor.page.links
    assert "is cancelled" in visitor.read("/experiments/shipping/actions/stop").text
    assert "scheduled" in visitor.read("/").text
    again = next(address for address in visitor.read("/experiments/shipping").loads if "seen=" in address)
    clock.now += 2 * HOUR
    assert visitor.client.get(again, headers={"HX-Request": "true"}).headers["hx-refresh"] == "true"
    assert "49 is live until" in visitor.read("/experiments/shipping").text


def test_a_page_says_how_long_the_plan_holds_a_variant(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR, policy="trim-ucb")  # its first hold is long
    play(client, clock, 2)
    since, steps = client.get("/v1/experiments/shipping/explain/2").json()["hold"]
    said = f"The plan keeps 49 for {steps:,} steps from step {since} on, until step {since + steps - 1:,} or later"
    assert said in visitor.read("/experiments/shipping").text
    act(client, "pin", variant="59", reason="a wrong price")
    assert said in visitor.read("/experiments/shipping").text
    play(client, clock, 1)
    assert "The plan keeps" not in visitor.read("/experiments/shipping").text
    assert "The plan keeps" not in visitor.read("/experiments/shipping/actions/unpin").text


def test_pins_wash_out_and_pauses_are_told_in_sentences(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    play(client, clock, 2)
    act(client, "pin", variant="59", reason="a wrong price")
    assert "Pinned to 59 from the next step on" in visitor.read("/experiments/shipping").text
    play(client, clock, 2)
    assert "Pinned to 59, regardless of the plan" in visitor.read("/experiments/shipping").text
    act(client, "unpin", reason="mended")
    play(client, clock, 1)
    text = visitor.read("/experiments/shipping").text
    assert "Washout: 1 more step will be excluded" in text
    assert "Pinned to 59. a wrong price" in text
    assert "3 to 4 59 (planned: 49) outside the plan, excluded" in text
    assert "5 49 washout: as planned, excluded" in text
    act(client, "pause", reason="stocktaking")
    assert "Paused: the control is served and nothing is learned" in visitor.read("/experiments/shipping").text
    act(client, "pin", variant="59", reason="to be sure")
    said = "Paused: nothing is learned until the experiment is resumed. Pinned to 59"
    assert said in visitor.read("/experiments/shipping").text


def test_void_and_missed_steps_are_seen(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR, heartbeat=True)
    play(client, clock, 1)
    for _ in range(2):
        clock.now += HOUR
        client.get("/v1/experiments/shipping/current")
    clock.now += 5 * HOUR
    text = visitor.read("/experiments/shipping").text
    assert "Steps 1 to 3 are void: nothing was reported." in text
    assert "Steps 4 to 7 were missed: no requests, no reports." in text
    assert "4 to 7 49 missed: no requests, no reports –" in text


def test_an_alarm_is_on_both_pages(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    play(client, clock, 8, 18.0)
    alarm = client.get("/v1/experiments/shipping").json()["status"]["alarm"][1:]
    assert alarm in visitor.read("/").text
    assert alarm in visitor.read("/experiments/shipping").text
    assert "Alarm. " in visitor.page.text


def test_the_end_says_what_is_kept(client: httpx.Client, visitor: Visitor) -> None:
    create(client, horizon=30)
    for step in range(30):
        assert client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 1.0}).status_code == 200
    text = visitor.read("/experiments/shipping").text
    assert "is now served permanently." in text
    assert "49 is recommended; the data can't tell it from " in text
    assert "All 30 steps are complete." in text
    offered = [link.rpartition("/")[2] for link in visitor.page.links if "/actions/" in link]
    assert offered == ["void", "archive", "emergency"]


def test_an_experiment_with_a_large_difference_names_the_best(client: httpx.Client, visitor: Visitor) -> None:
    create(client, policy="lean-ucb", window=1)
    for step in range(300):
        variant = client.get("/v1/experiments/shipping/current").json()["variant"]
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 9.0 if variant == "59" else 0.5})
    text = visitor.read("/experiments/shipping").text
    assert "59 is proven to be the best" in text
    assert "59 live, ahead" in text


def test_the_explanation_of_a_step_has_a_page(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    play(client, clock, 3)
    text = visitor.read("/experiments/shipping/steps/1").text
    assert "Step 1 served 49: as planned" in text
    assert "Its total was 4." in text
    assert "thrift-ucb (version 1) decided in step 0 to keep 49" in text
    assert "It hasn’t ended yet." in visitor.read("/experiments/shipping/steps/3").text
    assert "has no decision yet" in visitor.read("/experiments/shipping/steps/4").text
    assert visitor.answer.status_code == 409
    visitor.read(f"/experiments/shipping/steps/{10**30}")
    assert visitor.answer.status_code == 404
    visitor.read("/experiments/shipping/explain?step=2")
    assert visitor.path() == "/experiments/shipping/steps/2"
    visitor.read("/experiments/shipping/explain?step=two")
    assert visitor.path() == "/experiments/shipping"
    part = visitor.client.get("/experiments/shipping/steps/1", headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert "as planned" in part


def test_averages_say_that_demand_is_not_taken_out_of_them(client: httpx.Client, visitor: Visitor) -> None:
    said = "Averages of totals as reported: expected demand is not taken out of them"
    for name, settings in (("plain", {}), ("profile", {"profile": [100.0, 300.0]}), ("told", {"typical": 200.0})):
        create(client, name, **settings)
        for path in (f"/experiments/{name}", f"/experiments/{name}/steps/0"):
            assert (said in visitor.read(path).text) == bool(settings), path


def test_averages_totals_and_settings_have_the_unit(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR, unit="EUR")
    play(client, clock, 2)
    text = visitor.read("/experiments/shipping").text
    for said in ("average, EUR", "the total of each step in EUR, whichever", "Unit of totals EUR", "decision 10 EUR"):
        assert said in text, said
    text = visitor.read("/experiments/shipping/steps/1").text
    assert "Its total was 4 EUR." in text
    assert "average, EUR" in text


def test_parts_come_again_only_when_something_has_changed(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    for path, holder in (("/experiments/shipping", "#poll"), ("/", "#rows")):
        visitor.read(path)
        again = next(address for address in visitor.page.loads if "seen=" in address)
        assert visitor.client.get(again, headers={"HX-Request": "true"}).status_code == 204
        clock.now += HOUR
        answer = visitor.client.get(again, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        assert "<html" not in answer.text
        assert f'id="{holder[1:]}"' in answer.text


def test_a_page_of_a_draft_is_drawn_anew_once_somebody_starts_it(client: httpx.Client, visitor: Visitor) -> None:
    create(client, start=False)
    assert "Totals" not in visitor.read("/experiments/shipping").text
    again = next(address for address in visitor.page.loads if "seen=" in address)
    assert client.post("/v1/experiments/shipping/start", json={}).status_code == 200
    answer = visitor.client.get(again, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-refresh"]) == (204, "true")
    assert "Totals" in visitor.read("/experiments/shipping").text
    assert "No totals yet." in visitor.page.text
    again = next(address for address in visitor.page.loads if "seen=" in address)
    assert "hx-refresh" not in visitor.client.get(again, headers={"HX-Request": "true"}).headers


def test_a_long_experiment_is_shown_in_pieces(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=60.0, horizon=10_000)
    clock.now += 60 * (2 * SPAN + 500)
    text = visitor.read("/experiments/shipping").text
    assert f"Steps {SPAN + 501:,} to {2 * SPAN + 500:,}" in text
    visitor.read(next(link for link in visitor.page.links if "until=" in link))
    assert f"Steps 501 to {SPAN + 500:,}" in visitor.page.text
    found = visitor.client.get(f"/experiments/shipping/totals?until={SPAN + 501}").json()
    assert (found["steps"][0], found["steps"][-1]) == (501, SPAN + 500)
    assert found["totals"] == [None] * SPAN
    for odd in ("-1", "x", "0", "99999999999999999999", "1e3", "²"):
        assert visitor.client.get("/experiments/shipping", params={"until": odd}).status_code == 200


def test_totals_come_with_runs_and_means(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client, step_seconds=HOUR)
    play(client, clock, 2, 3.0)
    found = visitor.client.get("/experiments/shipping/totals").json()
    assert found["totals"] == [3.0, 3.0, None]
    assert found["means"] == [3.0, 3.0, 3.0]
    assert found["runs"] == [[0, 2, 0, "plan"]]
    assert "<polyline" in visitor.client.get("/experiments/shipping").text
    assert (found["begins"], found["step_seconds"]) == (1_800_000_000.0, HOUR)


def test_without_tokens_only_this_machine_is_let_in(client: httpx.Client, visitor: Visitor) -> None:
    create(client)
    assert "/new" in visitor.read("/").links
    assert not [form for form in visitor.page.forms if form.action == "/sign-out"]
    answer = visitor.client.get("/", headers={"Host": "bent.example"})
    assert answer.status_code == 403
    assert "shipping" not in answer.text


def test_the_log_of_a_long_experiment_is_read_from_near_its_end() -> None:
    with quick_folder() as folder, live.open(Path(folder) / "long.db") as experiments:
        made = experiments.create("long", ["a", "b"], window=1)
        made.pin("b", "long ago")
        for _ in range(LOOK_BACK + 10):
            made.close_step(0.5)
        made.unpin("just now")
        recent = RecentLog()
        assert [one.kind for one in recent.read(made, lambda: experiments.heads()["long"])] == [
            "create",
            "start",
            "unpin",
        ]
        for again in range(CACHED):
            made.pin("ab"[again % 2], "again")
        assert [one.kind for one in recent.read(made, lambda: 0)] == ["pin"] * CACHED
