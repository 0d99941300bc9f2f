"""Steps by the clock: computed from time, filled after an outage, never backwards."""

from collections.abc import Iterator
from typing import Any

import pytest

import afterglow
from afterglow.errors import HorizonReached, OutOfTurn
from afterglow.live import Experiment
from support.service.live_fixtures import Clock

ASKED: dict[str, Any] = {"variants": ["49", "59", "69"], "window": 3, "reward_max": 10.0, "step_seconds": 3600}


@pytest.fixture
def make(address: str, clock: Clock) -> Iterator[Any]:
    with afterglow.live.open(address, clock=clock) as experiments:
        yield lambda **settings: experiments.create("hourly", **{**ASKED, "policy": "ucb1", **settings})


def roles(experiment: Experiment) -> list[str]:
    return [one.role for one in experiment.steps()]


def test_the_step_follows_from_the_time(make: Any, clock: Clock) -> None:
    experiment = make()
    assert experiment.decision()[:5] == (0, "49", "49", "plan", 1_003_600.0)
    experiment.reward(1.0)
    clock.hours(0.999)
    assert experiment.decision().step == 0
    clock.hours(0.001)
    assert experiment.decision()[:5] == (1, "59", "59", "plan", 1_007_200.0)


def test_a_reward_joins_the_step_in_which_it_arrives(make: Any, clock: Clock) -> None:
    experiment = make()
    assert experiment.reward(1.5).step == 0
    clock.hours(0.5)
    assert experiment.reward(2.5).step == 0
    clock.hours(0.5)
    assert experiment.reward(4.0).step == 1
    clock.hours(1)
    experiment.current()
    assert [one.total for one in experiment.steps()] == [4.0, 4.0, None]


@pytest.mark.parametrize("back", [0.25, 1, 500])
def test_a_clock_that_jumps_back_changes_nothing(make: Any, clock: Clock, back: float) -> None:
    experiment = make()
    for _ in range(3):
        clock.hours(1)
        experiment.reward(1.0)
    before = experiment.decision()
    clock.hours(-back)
    assert experiment.decision() == before
    assert experiment.reward(2.0).step == 3
    times = [one.at for one in experiment.events()]
    assert times == sorted(times)
    clock.hours(back + 1)
    assert experiment.decision().step == 4
    assert experiment.steps(3, 1)[0].total == 3.0


@pytest.mark.parametrize("gone", [2, 24, 50])
def test_steps_that_nobody_was_there_for_are_void_and_washed_out(make: Any, clock: Clock, gone: int) -> None:
    experiment = make()
    experiment.reward(2.0)
    clock.hours(gone)
    experiment.reward(1.0)
    assert roles(experiment) == ["plan", *["missed"] * (gone - 1), "washout"]
    assert [one.void for one in experiment.steps()] == [False, *[True] * (gone - 1), False]
    assert experiment.steps(0, 1)[0].total == 2.0
    for _ in range(2):
        clock.hours(1)
        experiment.current()
    assert roles(experiment)[gone:] == ["washout", "washout", "plan"]
    assert experiment.steps(gone, 1)[0].total == 1.0
    assert experiment.status().learned == 1
    assert experiment.verify().ok
    with pytest.raises(OutOfTurn, match="step 1 of 'hourly' was missed: nothing was requested or reported"):
        experiment.explain(1)


def test_a_gap_of_a_hundred_thousand_steps_is_filled_in_one_go(make: Any, clock: Clock) -> None:
    experiment = make(step_seconds=1.0)
    experiment.reward(2.0)
    clock.now += 100_000.0
    assert experiment.reward(1.0).step == 100_000
    assert [one.role for one in experiment.steps(99_999)] == ["missed", "washout"]
    assert experiment.verify().ok


def test_a_stop_of_the_process_is_filled_like_any_other_gap(address: str, make: Any, clock: Clock) -> None:
    experiment = make()
    clock.hours(1)
    experiment.reward(1.0)
    experiment._cache.store.close()
    clock.hours(24)
    with afterglow.live.open(address, clock=clock) as again:
        assert again["hourly"].decision().step == 25
        assert roles(again["hourly"]) == ["plan", "plan", *["missed"] * 23, "washout"]
        assert again["hourly"].steps(1, 1)[0].total == 1.0


def test_with_heartbeat_a_silent_step_is_void_though_it_was_served(make: Any, clock: Clock) -> None:
    experiment = make(heartbeat=True)
    for reported in (True, False, True, True):
        experiment.current()
        if reported:
            experiment.reward(0.5)
        clock.hours(1)
    experiment.current()
    assert [(one.role, one.void) for one in experiment.steps(count=4)] == [
        ("plan", False), ("plan", True), ("plan", True), ("plan", False),
    ]  # fmt: skip
    assert "may have reports of the silent steps before it" in experiment.explain(2).why
    assert "nothing was reported" in experiment.explain(1).why


def test_a_late_batch_that_doubles_the_next_total_is_not_learned(make: Any, clock: Clock) -> None:
    """Hourly batches, one of which arrives an hour late together with the next."""
    experiment = make(heartbeat=True, policy="ucb1", window=1)
    for hour, amounts in enumerate([[1.0], [1.0], [], [1.0, 1.0], [1.0]]):
        experiment.current()
        for place, amount in enumerate(amounts):
            experiment.reward(amount, f"{hour}-{place}")
        clock.hours(1)
    experiment.current()
    steps = experiment.steps(count=5)
    assert [one.step for one in steps if one.void] == [2, 3]
    assert {one.total for one in steps if not one.void} == {1.0}
    assert experiment.status().learned == 3
    assert experiment.verify().ok


@pytest.mark.parametrize("jump", [1, 40])
def test_the_horizon_ends_by_the_clock(make: Any, clock: Clock, jump: int) -> None:
    experiment = make(horizon=5)
    while experiment.status().phase != "over":
        clock.hours(jump)
    assert len(experiment.steps()) == experiment.decision().step == 5
    assert experiment.decision().valid_until is None
    with pytest.raises(HorizonReached):
        experiment.reward(1.0)
    assert experiment.verify().ok


def test_before_its_time_the_control_is_served_and_nothing_is_counted(make: Any, clock: Clock) -> None:
    experiment = make(starts=clock.now + 7200, control="69")
    clock.hours(1)
    assert experiment.status().phase == "scheduled"
    assert experiment.decision()[:5] == (0, "69", "69", "waiting", 1_000_000 + 2 * 3600)
    with pytest.raises(OutOfTurn, match="is not started; it starts on its own at its start time"):
        experiment.reward(1.0)
    experiment.start()  # changes nothing
    clock.hours(1)
    assert experiment.decision()[:5] == (0, "49", "49", "plan", 1_000_000 + 3 * 3600)
    experiment.reward(1.0)
    clock.hours(1)
    assert experiment.decision().step == 1
    assert [one.total for one in experiment.steps(0, 1)] == [1.0]
    assert [one.kind for one in experiment.events()] == ["create", "schedule", "start", "close"]
    assert experiment.verify().ok


@pytest.mark.parametrize("waiting", [{"start": False}, {"starts": 1_000_000.0 + 7200}])
def test_what_has_not_begun_can_be_called_off(make: Any, clock: Clock, waiting: dict[str, Any]) -> None:
    experiment = make(**waiting)
    experiment.stop("a wrong year", keep="59")
    clock.hours(3)
    assert (experiment.status().phase, experiment.decision()[:5]) == ("over", (0, "59", "59", "over", None))
    assert experiment.steps() == []
    with pytest.raises(OutOfTurn, match="was stopped at step 0; create a new one"):
        experiment.start()
    assert experiment.verify().ok


def test_a_scheduled_start_that_nobody_was_there_for_begins_with_the_slot_that_it_is_then(
    make: Any, clock: Clock
) -> None:
    experiment = make(starts=clock.now + 3600)
    clock.hours(7.5)
    assert experiment.decision()[:5] == (0, "49", "49", "plan", 1_000_000 + 8 * 3600)


def test_a_draft_and_a_start_in_the_past_begin_with_the_slot_that_it_is_now(make: Any, clock: Clock) -> None:
    experiment = make(start=False, starts=clock.now - 10 * 3600 - 60)
    clock.hours(5)
    experiment.start()
    assert experiment.decision()[:5] == (0, "49", "49", "plan", clock.now + 3540)
    clock.hours(1)
    assert experiment.decision().step == 1


def test_a_step_of_the_clock_can_t_be_closed_by_hand(make: Any) -> None:
    with pytest.raises(OutOfTurn, match="steps of 'hourly' end on a schedule; report rewards"):
        make().close_step(1.0)
