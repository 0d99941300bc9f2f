"""Orders to a running experiment: what they do, and what is not learned from because of them."""

from typing import Any

import pytest

from afterglow.errors import BadValue, HorizonReached, OutOfTurn
from afterglow.live import Experiment, Experiments
from support.service.live_fixtures import ASKED


def close(experiment: Experiment, steps: int, total: float = 1.0) -> list[str]:
    """Close steps; their roles."""
    first = experiment.decision().step
    for _ in range(steps):
        experiment.close_step(total)
    return [one.role for one in experiment.steps(first, steps)]


def test_a_pin_is_served_from_the_next_step_and_washed_out_after(experiment: Experiment) -> None:
    close(experiment, 2)
    experiment.pin("49", "the other two are broken")
    assert experiment.current() == "69"
    assert close(experiment, 1) == ["plan"]
    assert experiment.current() == "49"
    assert experiment.status().pinned == "49"
    assert close(experiment, 2)[-1] == "outside"
    experiment.unpin("mended")
    assert close(experiment, 5) == ["outside", "washout", "washout", "washout", "plan"]
    kept = [one for one in experiment.steps(count=experiment.decision().step) if one.role == "plan"]
    assert experiment.status().learned == len(kept)


def test_a_pin_on_what_is_planned_anyway_costs_nothing(experiments: Experiments) -> None:
    experiment = experiments.create("long-holds", **ASKED, policy="trim-ucb")
    experiment.pin(experiment.current(), "just to be sure")
    assert set(close(experiment, 5)) == {"plan"}
    experiment.unpin("sure")
    assert set(close(experiment, 5)) == {"plan"}


def test_a_pause_serves_the_control_and_learns_nothing(experiments: Experiments) -> None:
    experiment = experiments.create("paused", **ASKED, policy="ucb1", control="69")
    experiment.pause("stocktaking")
    assert close(experiment, 4) == ["plan", "outside", "outside", "outside"]
    assert experiment.current() == "69"
    assert experiment.status().phase == "paused"
    experiment.resume("done")
    assert close(experiment, 5) == ["outside", "washout", "washout", "washout", "plan"]
    assert experiment.status().learned == 2


def test_a_disabled_variant_is_not_served_again_until_it_is_enabled(experiment: Experiment) -> None:
    close(experiment, 10)
    experiment.disable("59", "out of stock")
    close(experiment, 1)
    assert "59" not in [one.variant for one in experiment.steps(11)]
    close(experiment, 30)
    assert {one.variant for one in experiment.steps(11)} == {"49", "69"}
    assert experiment.status().disabled == ("59",)
    with pytest.raises(OutOfTurn, match="variant '59' is disabled; enable"):
        experiment.pin("59", "why not")
    experiment.enable("59", "in stock")
    close(experiment, 20)
    assert "59" in [one.variant for one in experiment.steps(41)]


def test_the_last_variant_can_t_be_disabled(experiment: Experiment) -> None:
    experiment.disable("49", "no")
    experiment.disable("59", "no")
    with pytest.raises(OutOfTurn, match="'69' is the last one left; stop"):
        experiment.disable("69", "no")
    close(experiment, 9)
    assert experiment.current() == "69"


def test_a_void_step_makes_the_hold_longer(experiments: Experiments) -> None:
    experiment = experiments.create("phased", **ASKED, horizon=100, policy="phased-ucb", hold=5)
    close(experiment, 3)
    experiment.void(1, "the till was broken")
    experiment.void(1, "twice is the same")
    assert experiment.steps(1, 1)[0].void
    close(experiment, 2)
    assert experiment.current() == "49"  # five steps, one of them void
    close(experiment, 1)
    assert experiment.current() == "59"
    with pytest.raises(OutOfTurn, match="step 6 can't be voided before it has ended; steps 0 to 5 have"):
        experiment.void(6, "too early")


def test_with_heartbeat_a_step_without_a_report_is_void(experiments: Experiments) -> None:
    experiment = experiments.create("beating", **ASKED, heartbeat=True)
    experiment.close_step()
    experiment.reward(0.0)
    experiment.close_step()
    experiment.close_step(0.0)
    assert [one.void for one in experiment.steps(count=3)] == [True, False, False]
    assert experiment.status().learned == 2


def test_shadow_serves_the_control_and_logs_the_plan(experiments: Experiments) -> None:
    experiment = experiments.create("shadowed", **ASKED, policy="ucb1", shadow=True, control="59")
    close(experiment, 12)
    shown = experiment.steps(count=12)
    assert {one.variant for one in shown} == {"59"}
    assert {one.planned for one in shown} == {"49", "59", "69"}
    assert [one.pulls for one in experiment.estimates()] == [0, 12, 0]
    experiment.go_live("looks good")
    assert close(experiment, 5) == ["outside", "washout", "washout", "washout", "plan"]
    assert experiment.current() != experiment.steps(16, 1)[0].variant  # ucb1 tries all


def test_at_its_horizon_an_experiment_keeps_what_it_recommends(experiments: Experiments) -> None:
    experiment = experiments.create("short", **ASKED, horizon=40, policy="trim-ucb", level="plus")
    while experiment.status().phase != "over":
        experiment.close_step(40.0 if experiment.current() == "59" else 0.0)
    assert experiment.current() == experiment.recommend()
    assert experiment.status().status == "inconclusive"
    assert experiment.status().recommended == experiment.current()
    for call in (lambda: experiment.close_step(1.0), lambda: experiment.reward(1.0), lambda: experiment.pin("49", "x")):
        with pytest.raises(HorizonReached, match=r"all 40 steps of 'short' are played; recommend\(\)"):
            call()
    experiment.close_step(experiment.steps(39)[0].total, step=39)


def test_stopping_keeps_the_control_unless_another_is_named(experiments: Experiments) -> None:
    for name, keep, kept in (("one", None, "49"), ("two", "69", "69")):
        experiment = experiments.create(name, **ASKED, policy="ucb1")
        close(experiment, 5)
        experiment.reward(2.5)
        experiment.stop("enough", keep)
        assert experiment.current() == experiment.recommend() == kept
        assert experiment.steps(5) == [(5, "69", "69", "last", 2.5, False, None, None, None, None)]
        with pytest.raises(OutOfTurn, match="was stopped at step 5; create a new one"):
            experiment.reward(1.0)
        assert experiment.verify().ok


def test_a_draft_waits_for_its_start(experiments: Experiments) -> None:
    experiment = experiments.create("draft", **ASKED, start=False)
    for call in (lambda: experiment.reward(1.0), lambda: experiment.pause("x"), lambda: experiment.explain(0)):
        with pytest.raises(OutOfTurn):
            call()
    experiment.start()
    experiment.reward(1.0)
    with pytest.raises(OutOfTurn, match="is started already; it is running"):
        experiment.start()


@pytest.mark.parametrize("reason", ["", "  ", None, "x" * 1001])
def test_an_order_needs_a_reason(experiment: Experiment, reason: Any) -> None:
    with pytest.raises(BadValue, match="reason must be a sentence"):
        experiment.pin("59", reason)


def test_an_emergency_replaces_the_variant_within_the_step_which_is_void(experiments: Experiments) -> None:
    experiment = experiments.create("broken", **ASKED, policy="ucb1", control="49")
    close(experiment, 2)
    assert experiment.current() == "69"
    experiment.emergency("69", "checkout fails")
    assert experiment.decision()[1:4] == ("49", "69", "emergency")
    assert close(experiment, 5) == ["emergency", "washout", "washout", "washout", "plan"]
    assert [(one.variant, one.void, one.reason) for one in experiment.steps(2, 1)] == [("49", True, "checkout fails")]
    assert "69" not in {one.variant for one in experiment.steps(2)}
    assert (experiment.status().learned, experiment.status().disabled) == (3, ("69",))
    experiment.void(0, "wrong total")
    assert experiment.verify().ok


def test_an_emergency_goes_to_the_pinned_variant_and_ends_a_pin_on_its_own(experiments: Experiments) -> None:
    experiment = experiments.create("pinned", **ASKED, policy="ucb1", control="49")
    experiment.pin("59", "to be sure")
    experiment.emergency("49", "fails")
    assert experiment.current() == "59"
    close(experiment, 1)
    experiment.emergency("59", "fails too")
    assert (experiment.current(), experiment.status().pinned) == ("69", None)
    with pytest.raises(OutOfTurn, match="the last one left"):
        experiment.emergency("69", "all are broken")
    experiment.enable("49", "mended")
    experiment.stop("enough")
    assert [one.void for one in experiment.steps(1)] == [True]
    assert experiment.verify().ok


def test_an_emergency_of_a_variant_that_is_not_live_voids_nothing(experiment: Experiment) -> None:
    close(experiment, 2)
    experiment.emergency("59", "fails")
    assert experiment.current() == "69"
    assert close(experiment, 1) == ["outside"]
    assert not any(one.void for one in experiment.steps())
    experiment.emergency("59", "once more changes nothing")
    assert [one.kind for one in experiment.events()].count("emergency") == 1


def test_an_emergency_after_the_end_replaces_the_variant_that_is_kept(experiments: Experiments) -> None:
    experiment = experiments.create("over", **{**ASKED, "horizon": 30}, policy="ucb1", control="49")
    for _ in range(30):
        experiment.close_step(8.0 if experiment.current() == "69" else 1.0)
    assert experiment.current() == "69"
    experiment.emergency("69", "fails in production")
    assert (experiment.current(), experiment.recommend()) == ("49", "49")
    experiment.void(3, "wrong total")
    assert experiment.current() == "49"
    assert experiment.verify().ok
