"""Steps are voided by way of a form, and shown with the reason."""

import httpx

from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from support.service.page_fixtures import act, create


def test_a_step_can_be_voided_with_its_form(client: httpx.Client, visitor: Visitor, clock: Clock) -> None:
    create(client)
    client.post("/v1/experiments/shipping/rewards", json={"key": "first", "amount": 1.0}).raise_for_status()
    clock.now += 3600
    client.get("/v1/experiments/shipping/current")
    assert "Step 0 voided" in act(visitor, "void", step="0", reason="the till was down")
    assert client.get("/v1/experiments/shipping/steps").json()["items"][0]["void"]
    refused = act(visitor, "void", step="7", reason="a slip")
    assert "step 7 can't be voided" in refused
    assert "step must be a whole number, got 'x'" in act(visitor, "void", step="x", reason="a slip")
    assert "last step must be a whole number, got 'y'" in act(visitor, "void", step="0", last="y", reason="a slip")


def test_steps_can_be_voided_after_the_end_and_are_shown_with_the_reason(
    client: httpx.Client, visitor: Visitor
) -> None:
    create(client, policy="ucb1", horizon=12, step_seconds=None)
    for step in range(12):
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 1.0})
    text = act(visitor, "void", step="4", last="6", reason="the till was down", confirm="shipping")
    assert "Steps 4 to 6 voided: the policy is recomputed without them." in text
    assert "void: excluded (the till was down)" in text
    assert "void: the till was down" in visitor.read("/experiments/shipping/steps/5").text


def test_a_plan_that_has_changed_with_a_void_is_not_shown_as_it_was(client: httpx.Client, visitor: Visitor) -> None:
    create(client, policy="washout-ucb", step_seconds=None)
    for step in range(7):
        client.post(f"/v1/experiments/shipping/steps/{step}", json={"total": 1.0})
    assert "The plan keeps 59 for 5 steps from step 5 on" in visitor.read("/experiments/shipping").text
    text = act(visitor, "void", step="3", last="4", reason="the till was down", confirm="shipping")
    assert "Because steps were voided, another variant is planned from the next step on." in text
    assert "The plan keeps 59" not in text
    client.post("/v1/experiments/shipping/steps/7", json={"total": 1.0})
    assert "The plan keeps 49 for 5 steps" in visitor.read("/experiments/shipping").text
