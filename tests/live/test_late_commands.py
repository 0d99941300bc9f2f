"""Voiding steps after they were learned, on both stores: what is shown, what is refused, who is in the way."""

import json
from contextlib import ExitStack
from threading import Thread
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadValue, OutOfTurn
from afterglow.live import Experiment, Experiments
from afterglow.live.domain.log import NOTHING, body_of, chained
from afterglow.live.late_void import LateVoid
from support.service.live_fixtures import ASKED

WHY = "the till was down"


def close(experiment: Experiment, totals: list[float]) -> None:
    for total in totals:
        experiment.close_step(total)


@pytest.fixture
def outage(experiments: Experiments) -> Experiment:
    """Holds of five steps, three of them learned, the second with an outage."""
    experiment = experiments.create("outage", **ASKED, horizon=200, policy="phased-ucb", hold=5)
    close(experiment, [4.0] * 6 + [0.0] * 3 + [4.0] * 7)
    return experiment


def test_steps_are_taken_back_with_their_reason_wherever_they_are_shown(outage: Experiment) -> None:
    outage.void(6, WHY, last=8)
    shown = outage.steps()
    assert [one.step for one in shown if one.void] == [6, 7, 8]
    assert {one.reason for one in shown if one.void} == {WHY}
    assert {one.reason for one in shown if not one.void} == {None}
    assert [one.total for one in shown[5:9]] == [4.0, 0.0, 0.0, 0.0]
    event = outage.events()[-1]
    assert (event.kind, event.body["first"], event.body["last"], event.body["reason"]) == ("revise", 6, 8, WHY)
    assert outage.explain(7).why == f"as planned; void: {WHY}"
    assert outage.explain(5).why == "as planned"
    assert outage.verify().ok


def test_the_hold_that_lost_steps_goes_on_after_a_wash_out(outage: Experiment) -> None:
    """Step 16 is in hand with another variant; then a window less one; then what the hold of 59 lacks."""
    outage.void(6, WHY, last=8)
    assert (outage.current(), outage.decision().role) == ("49", "washout")
    assert (outage.status().learned, outage.status().excluded, outage.status().washout) == (7, 9, 4)
    close(outage, [4.0] * 8)
    assert [(one.variant, one.role) for one in outage.steps(16)] == [
        ("49", "washout"), ("59", "washout"), ("59", "washout"), ("59", "washout"),
        ("59", "plan"), ("59", "plan"), ("59", "plan"), ("69", "plan"), ("69", "plan"),
    ]  # fmt: skip
    assert outage.verify().ok


def test_what_is_played_all_the_same_is_kept(experiments: Experiments) -> None:
    """The voided hold is followed by one of the same variant, so nothing but the void steps is lost."""
    experiment = experiments.create("kept", **ASKED, horizon=60, policy="phased-ucb", hold=5, control="49")
    experiment.disable("59", "out of stock")
    experiment.disable("69", "out of stock")
    close(experiment, [1.0] * 20)
    experiment.void(10, WHY, last=12)
    assert (experiment.status().learned, experiment.status().excluded) == (13, 7)
    assert experiment.status().washout == 0


def test_the_same_again_is_harmless_and_more_is_more(outage: Experiment) -> None:
    outage.void(6, WHY, last=8)
    records, state = len(outage.events()), outage._cache.copy.state.text()
    outage.void(6, "the same again", last=8)
    outage.void(7, "one of them")
    assert (len(outage.events()), outage._cache.copy.state.text()) == (records, state)
    outage.void(5, "one more", last=8)
    assert [one.reason for one in outage.steps(5, 2)] == ["one more", WHY]
    assert outage.verify().ok


def test_what_can_t_be_taken_back_is_refused(outage: Experiment, experiments: Experiments) -> None:
    with pytest.raises(OutOfTurn, match="step 16 can't be voided before it has ended; steps 0 to 15 have"):
        outage.void(3, WHY, last=16)
    with pytest.raises(BadValue, match=r"last must be a whole number of at least 3 \(step\), got 2"):
        outage.void(3, WHY, last=2)
    with pytest.raises(BadValue, match="step must be a whole number of at least 0, got -1"):
        outage.void(-1, WHY)
    with pytest.raises(BadValue, match="reason must be a sentence"):
        outage.void(3, " ", last=5)
    with pytest.raises(OutOfTurn, match="is not started"):
        experiments.create("draft", **ASKED, start=False).void(0, WHY)
    assert outage.events()[-1].kind == "close"


def test_a_total_that_was_too_large_raises_no_alarm_once_it_is_void(experiment: Experiment) -> None:
    for _ in range(2):
        experiment.reward(40.0)
    experiment.close_step()
    close(experiment, [1.0] * 3)
    assert "1 step had a total above window x reward_max" in (experiment.status().alarm or "")
    experiment.void(0, "booked twice")
    assert experiment.status().alarm is None


def test_before_a_fresh_start_only_the_estimates_change(outage: Experiment) -> None:
    outage.disable("69", "out of stock")
    close(outage, [4.0] * 9)
    plan, known = outage._cache.copy.state.plan.values(), outage.estimates()
    outage.void(6, WHY, last=8)
    assert outage._cache.copy.state.plan.values() == plan
    assert outage.estimates()["59"].mean > known["59"].mean
    assert outage.estimates()["59"].pulls == known["59"].pulls
    assert outage.verify().ok


@pytest.mark.parametrize("order", ["pause", "pin"])
def test_what_operators_have_ordered_stays_in_force(outage: Experiment, order: str) -> None:
    outage.pause("stocktaking") if order == "pause" else outage.pin("69", "a campaign")
    close(outage, [4.0] * 2)
    before = outage.decision()
    outage.void(6, WHY, last=8)
    assert outage.decision() == before
    close(outage, [4.0])
    assert outage.decision() == before._replace(step=19, planned="59")
    outage.resume("done") if order == "pause" else outage.unpin("done")
    close(outage, [4.0] * 5)
    assert [one.role for one in outage.steps(19, 5)] == ["outside", "washout", "washout", "washout", "plan"]
    assert outage.verify().ok


def test_after_the_end_the_better_variant_is_kept_unless_somebody_chose(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another replica, where there may be one, follows."""
    monkeypatch.setattr("afterglow.live.cached_state.REREAD", 0.0)
    with afterglow.live.open(address) as experiments, ExitStack() as stack:
        replica = address.startswith("postgresql")
        others = stack.enter_context(afterglow.live.open(address)) if replica else experiments
        for name, stopped in (("ended", False), ("stopped", True)):
            experiment = experiments.create(name, **ASKED, horizon=100 if stopped else 21, policy="washout-ucb")
            close(experiment, [4.0] * 7 + [8.0] * 7 + [4.0] * 5 + [40.0] * 2)
            if stopped:
                experiment.stop("enough", "69")
            assert experiment.current() == experiment.recommend() == others[name].current() == "69"
            experiment.void(19, WHY, last=20)
            assert experiment.current() == experiment.recommend() == ("69" if stopped else "59")
            assert others[name].current() == experiment.current()
            assert (experiment.status().phase, experiment.status().learned) == ("over", 19)
            assert experiment.verify().ok
    with afterglow.live.open(address) as again:
        assert again["ended"].current() == "59"


def test_a_revision_that_does_not_follow_from_the_log_is_found(outage: Experiment, experiments: Experiments) -> None:
    """A forger who renews all hashes and the table still has to make the replay agree."""
    outage.void(6, WHY, last=8)
    close(outage, [4.0] * 2)
    store: Any = experiments._store
    with store.writing("outage") as log:
        before = NOTHING
        for seq, at, kind, body, _ in list(log.records()):
            values = json.loads(body)
            if kind == "revise":
                values["follows"]["plan"]["state"]["sums"][1] += 1.0
                said = f"record {seq}: what it says is not what follows without the steps it voids"
            forged = body_of(values)
            before = chained(before, seq, at, kind, forged)
            log.session.run("UPDATE events SET body = ?, hash = ? WHERE seq = ?", forged, before, seq)
    assert said in outage.verify().faults


def test_snapshots_take_over_from_a_revision(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 5)
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        close(experiment, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        experiment.void(1, WHY, last=2)
        close(experiment, [2.0] * 9)
        state = experiment._cache.copy.state.text()
        assert experiment.verify().ok
    with afterglow.live.open(address) as again:
        assert again["shipping"]._cache.copy.state.text() == state
        assert again["shipping"].steps(2, 1)[0].reason == WHY


# Others at work


def meanwhile(monkeypatch: pytest.MonkeyPatch, *deeds: Any) -> None:
    """Have something done, by another thread, each time the log was played again beside the experiment."""
    prepare, waiting = LateVoid.prepare, list(deeds)

    def slow(late: LateVoid, store: Any) -> None:
        prepare(late, store)
        if waiting:
            thread = Thread(target=waiting.pop(0), daemon=True)
            thread.start()
            thread.join(60)
            assert not thread.is_alive()

    monkeypatch.setattr(LateVoid, "prepare", slow)


def test_nobody_waits_while_it_is_worked_out(outage: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    def go_on() -> None:
        outage.reward(1.5)
        outage.close_step()
        outage.pin("69", "a campaign")

    meanwhile(monkeypatch, go_on)
    outage.void(6, WHY, last=8)
    assert [one.kind for one in outage.events()[-3:]] == ["close", "pin", "revise"]
    assert outage.steps(16, 1)[0].total == 1.5
    assert outage.verify().ok


def test_if_others_take_steps_back_meanwhile_it_is_worked_out_again(
    outage: Experiment, experiments: Experiments, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there may be a second replica, it is one that does."""
    second = afterglow.live.open(address) if address.startswith("postgresql") else experiments
    other = second["outage"]
    meanwhile(monkeypatch, lambda: other.void(0, "another outage", last=1), lambda: other.void(6, "the same", last=7))
    outage.void(6, WHY, last=8)
    assert [one.body["last"] for one in outage.events()[-3:]] == [7, 1, 8]  # each overtaken by the next
    assert [(one.step, one.reason) for one in outage.steps() if one.void] == [
        (0, "another outage"), (1, "another outage"), (6, "the same"), (7, "the same"), (8, WHY),
    ]  # fmt: skip
    assert other.status() == outage.status()
    assert other.verify().ok
    if second is not experiments:
        second.close()


def test_a_log_that_is_long_is_read_in_parts(outage: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.late_void.BATCH", 3)
    outage.void(6, WHY, last=8)
    assert outage.verify().ok
