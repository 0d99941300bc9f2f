"""A clock that jumps: the step is held, an alarm is raised, and nothing ends for good. Both clocks are the test's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.live import Experiment, Experiments
from afterglow.live.clock_watch import ClockWatch
from afterglow.live.store.steady_time import ClockReading, read_clock
from support.service.live_fixtures import Clock
from testbed.postgres import server

YEAR = 365 * 24.0
ASKED: dict[str, Any] = {
    "variants": ["49", "59"], "window": 1, "reward_max": 10.0, "step_seconds": 3600, "policy": "ucb1", "horizon": 100,
}  # fmt: skip


class Machine:
    """A clock that can be set, and one that can't."""

    def __init__(self) -> None:
        self.clock, self.steady = Clock(), Clock(50.0)

    def hours(self, hours: float) -> None:
        self.clock.hours(hours)
        self.steady.hours(hours)

    @contextmanager
    def open(self, address: str | Path) -> Iterator[Experiments]:
        with afterglow.live.open(address, clock=self.clock, monotonic=self.steady) as experiments:
            yield experiments


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def running(address: str, machine: Machine) -> Iterator[Experiment]:
    with machine.open(address) as experiments:
        experiment = experiments.create("hourly", **ASKED)
        for _ in range(3):
            experiment.reward(1.0)
            machine.hours(1)
        experiment.reward(2.0)
        yield experiment


def kinds(experiment: Experiment, after: int) -> list[str]:
    return [one.kind for one in experiment.events(after)]


def last_seq(experiment: Experiment) -> int:
    return experiment.events()[-1].seq


@pytest.mark.parametrize("jump", [YEAR, 30.0, 2.0])
def test_a_clock_that_is_wrong_for_a_second_changes_nothing(running: Experiment, machine: Machine, jump: float) -> None:
    before = last_seq(running)
    machine.clock.hours(jump)
    assert (running.decision().step, running.decision().role, running.decision().valid_until) == (3, "plan", None)
    assert running.reward(3.0).step == 3
    assert running.status().alarm is not None
    assert running.status().held
    machine.clock.hours(-jump)
    machine.hours(1 / 3600 + 0.1)
    running.renew()
    assert running.decision().valid_until == 1_000_000 + 4 * 3600
    assert kinds(running, before) == ["clock_jump", "clock_agrees"]
    assert not running.status().held
    machine.hours(0.9)
    running.current()
    assert (running.steps(3, 1)[0].total, running.steps(3, 1)[0].void) == (5.0, False)
    assert running.status().phase == "running"
    assert running.verify().ok


def test_a_jump_that_does_not_reach_the_next_step_is_not_even_noticed(running: Experiment, machine: Machine) -> None:
    before = last_seq(running)
    machine.clock.hours(0.5)
    running.renew()
    machine.hours(0.4)
    running.renew()
    assert kinds(running, before) == []
    assert running.decision().step == 3
    machine.hours(0.1)  # by the clock the step is over, by the monotonic clock it is not
    running.renew()
    assert kinds(running, before) == ["clock_jump"]


def test_a_step_that_is_held_beyond_its_end_is_void(running: Experiment, machine: Machine) -> None:
    machine.clock.hours(YEAR)
    running.reward(1.0)
    machine.hours(5)
    assert running.reward(4.0).step == 3
    machine.clock.hours(-YEAR)
    machine.hours(0.01)
    running.renew()
    assert running.decision().step == 8
    held = running.steps(3, 1)[0]
    assert (held.total, held.void, held.reason) == (7.0, True, "held too long, because the clock had jumped")
    assert [one.role for one in running.steps(4)] == ["missed"] * 4 + ["plan"]
    assert running.verify().ok


@pytest.mark.parametrize("jump", [50.0, YEAR])
def test_an_accepted_jump_goes_on_by_the_clock(running: Experiment, machine: Machine, jump: float) -> None:
    machine.clock.hours(jump)
    running.renew()
    running.accept_clock("the clock was a year behind")
    running.renew()
    assert (running.steps(3, 1)[0].void, running.steps(3, 1)[0].reason) == (True, "the clock was a year behind")
    assert running.status().phase == ("over" if jump == YEAR else "running")
    assert running.decision().step == (100 if jump == YEAR else 53)
    assert running.verify().ok
    if jump < YEAR:
        machine.hours(1)
        assert running.decision().step == 54


@pytest.mark.parametrize("back", [2.0, YEAR])
def test_a_clock_that_went_back_holds_the_step_until_it_is_accepted(
    running: Experiment, machine: Machine, back: float
) -> None:
    machine.clock.hours(-back)
    running.renew()
    machine.hours(1)
    running.renew()
    assert running.status().held
    assert "jumped back by" in (running.status().alarm or "")
    running.accept_clock("the clock was ahead")
    assert (running.decision().step, running.decision().valid_until) == (3, machine.clock.now + 3600)
    machine.hours(1)
    running.reward(1.0)
    machine.hours(1)
    running.renew()
    assert running.decision().step == 5
    assert [one.void for one in running.steps(3, 2)] == [True, False]
    assert running.verify().ok


def test_a_command_without_a_jump_changes_nothing(running: Experiment) -> None:
    before = last_seq(running)
    running.accept_clock("by mistake")
    assert last_seq(running) == before


@pytest.mark.parametrize(("stop", "held"), [(20.0, False), (30 * 24.0, True), (-3.0, True)])
def test_after_a_stop_the_last_record_says_what_can_be_believed(
    address: str, machine: Machine, stop: float, held: bool
) -> None:
    with machine.open(address) as experiments:
        experiments.create("hourly", **ASKED | {"horizon": None}).reward(1.0)
        machine.hours(0.9)
        experiments["hourly"].renew()
        machine.hours(4)
        experiments["hourly"].renew()
    machine.clock.hours(stop)
    machine.steady = Clock(3.0)  # another boot
    with machine.open(address) as experiments:
        again = experiments["hourly"]
        again.renew()
        assert again.status().held == held
        assert again.decision().step == (4 if held else 24)
        machine.hours(1)
        again.renew()
        assert again.status().held == held
        if held:
            again.accept_clock("it was so")
            again.renew()
            assert again.decision().step == (5 if stop < 0 else 725) - (stop < 0)
        assert again.verify().ok


@pytest.mark.parametrize(("stop", "phase"), [(20.0, "over"), (48.0, "running")])
def test_a_long_stop_does_not_end_an_experiment_unasked(
    address: str, machine: Machine, stop: float, phase: str
) -> None:
    with machine.open(address) as experiments:
        experiments.create("hourly", **ASKED | {"horizon": 10}).reward(1.0)
    machine.clock.hours(stop)
    machine.steady = Clock(3.0)
    with machine.open(address) as experiments:
        experiments["hourly"].renew()
        assert experiments["hourly"].status().phase == phase
        experiments["hourly"].accept_clock("it was stopped") if phase == "running" else None
        experiments["hourly"].renew()
        assert experiments["hourly"].status().phase == "over"


@pytest.mark.parametrize("wrong", [YEAR, -200.0])
def test_a_wrong_clock_at_the_start_that_is_set_right_needs_no_command(
    address: str, machine: Machine, wrong: float
) -> None:
    with machine.open(address) as experiments:
        experiments.create("hourly", **ASKED).reward(1.0)
        machine.hours(2)
        experiments["hourly"].renew()
    machine.clock.hours(wrong)
    machine.steady = Clock(3.0)
    with machine.open(address) as experiments:
        again = experiments["hourly"]
        assert again.decision().step == 2
        assert again.status().held
        machine.clock.hours(-wrong)
        machine.hours(3)
        again.renew()
        assert (again.decision().step, again.status().held) == (5, False)
        assert again.verify().ok


def test_a_second_jump_is_not_taken_for_the_end_of_the_first(address: str, machine: Machine) -> None:
    with machine.open(address) as experiments:
        experiments.create("hourly", **ASKED).reward(1.0)
        machine.clock.hours(YEAR)
        experiments["hourly"].renew()
    machine.clock.hours(-YEAR)
    machine.hours(0.5)
    machine.steady = Clock(3.0)
    with machine.open(address) as experiments:  # it knows the time, and nobody has asked yet
        machine.clock.hours(30)
        experiments["hourly"].renew()
        assert experiments["hourly"].status().held
        machine.clock.hours(-30)
        experiments["hourly"].renew()
        assert (experiments["hourly"].decision().step, experiments["hourly"].status().held) == (0, False)


def test_a_scheduled_start_waits_for_the_right_time(address: str, machine: Machine) -> None:
    with machine.open(address) as experiments:
        made = experiments.create("later", **ASKED, starts=machine.clock.now + 40 * 86_400)
        machine.clock.hours(YEAR)
        made.renew()
        assert (made.status().phase, made.status().held) == ("scheduled", True)
        machine.clock.hours(-YEAR)
        made.renew()
        assert (made.status().phase, made.status().held) == ("scheduled", False)
    machine.hours(40 * 24 + 1)
    machine.steady = Clock(3.0)
    with machine.open(address) as experiments:  # nothing was appended for forty days, and that is right
        assert experiments["later"].decision().step == 0
        assert experiments["later"].status().phase == "running"


@pytest.fixture
def shared() -> Iterator[str]:
    """A database for several processes."""
    made = server().fresh()
    yield made
    server().drop(made)


def test_a_replica_that_was_stopped_believes_the_others(shared: str, machine: Machine) -> None:
    address, frozen = shared, Machine()
    frozen.clock = machine.clock
    with machine.open(address) as one, frozen.open(address) as other:
        one.create("hourly", **ASKED | {"horizon": None})
        other["hourly"].renew()
        machine.hours(3)  # the other machine stands still
        one["hourly"].renew()
        other["hourly"].renew()
        assert other["hourly"].decision().step == 3
        assert not other["hourly"].status().held
        machine.hours(2)
        other["hourly"].renew()  # it comes first, and doubts the clock
        assert other["hourly"].status().held
        one["hourly"].renew()  # which this one can confirm
        for each in (one, other):
            each["hourly"].renew()
            assert (each["hourly"].decision().step, each["hourly"].status().held) == (5, False)
        assert one["hourly"].verify().ok


def test_slow_readings_and_drifting_machines_are_no_jumps() -> None:
    found = [ClockReading(1000.0, 0.0, 0.1), ClockReading(1030.0, 0.1, 30.5), ClockReading(1032.0, 31.0, 32.5)]
    found.append(ClockReading(1032.0 + 86_400 + 40, 86_431.5, 86_432.5))
    left = iter(found)
    watch = ClockWatch(lambda: next(left), lambda: 0.0)
    assert [watch.times().expected for _ in found] == [None] * 4


def test_the_machine_s_own_clocks_agree(tmp_path: Path) -> None:
    watch = ClockWatch(read_clock, lambda: read_clock().time)
    assert all(watch.times().expected is None for _ in range(100))
