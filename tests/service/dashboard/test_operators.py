"""What operators see: silence at the top, a log that lists every stretch, a searchable list, confirmations."""

import re

import httpx

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
    assert listed("phase=draft") == ["beta"]
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
    text = act(visitor, "void", step="4", reason="counted twice")
    (said,) = re.findall(r"about (\d+) of 40 used steps would be lost", text)
    assert client.get("/v1/experiments/shipping").json()["status"]["learned"] == 40
    act(visitor, "void", step="4", reason="counted twice", confirm="shipping")
    assert client.get("/v1/experiments/shipping").json()["status"]["learned"] == 40 - int(said)


def test_a_mistyped_address_is_a_page_with_the_navigation(client: httpx.Client) -> None:
    answer = client.get("/experimnets", headers={"accept": "text/html"})
    assert answer.status_code == 404
    assert "nothing at /experimnets" in answer.text
    assert 'href="/new"' in answer.text
