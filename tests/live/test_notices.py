"""Notices in the log: alarms, leaders, verdicts, silence and the end; replay leads to the same state."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from afterglow import live
from afterglow.live import Experiment, Experiments
from support.service.live_fixtures import ASKED, Clock

HOURLY: dict[str, Any] = {"variants": ["49", "59"], "window": 1, "reward_max": 10.0, "step_seconds": 3600}


@pytest.fixture
def experiments(tmp_path: Path, clock: Clock) -> Iterator[Experiments]:
    with live.open(tmp_path / "experiments.db", clock=clock) as made:
        yield made


def kinds(experiment: Experiment) -> list[str]:
    return [one.kind for one in experiment.events() if one.kind not in ("create", "start", "close", "missed")]


def test_nothing_is_learned_until_the_first_report_and_that_is_told(experiments: Experiments, clock: Clock) -> None:
    experiment = experiments.create("silent", **HOURLY)
    for _ in range(4):
        clock.hours(1)
        experiment.decision()
    assert [one.void for one in experiment.steps(0, 4)] == [True] * 4
    assert (experiment.status().learned, kinds(experiment)) == (0, ["never_reported"])
    experiment.reward(1.0)
    clock.hours(1)
    experiment.decision()
    assert (experiment.status().learned, kinds(experiment)) == (1, ["never_reported", "reports_resumed"])
    for _ in range(3):
        clock.hours(1)
        experiment.decision()
    assert kinds(experiment)[2:] == ["reports_stopped"]
    assert experiment.status().learned == 4  # without a heartbeat a step without a report counts as zero
    assert experiment.verify().ok


def test_a_leader_a_verdict_and_the_end_are_told_once(experiments: Experiments) -> None:
    experiment = experiments.create("clear", **{**ASKED, "horizon": 120}, policy="lean-ucb")
    while experiment.status().phase == "running":
        experiment.close_step(9.0 if experiment.current() == "59" else 1.0)
        experiment.announce()
    assert not experiment.announce()
    told = [one for one in experiment.events() if one.kind in ("leads", "verdict", "ended")]
    assert [one.kind for one in told].count("ended") == 1
    assert told[0].kind == "leads"
    assert {one.body["variant"] for one in told if one.kind == "leads"} == {1}
    grades = [one.body["grade"] for one in told if one.kind == "verdict"]
    assert grades
    assert all(one != other for one, other in pairwise(grades))
    assert told[-1].body.get("keep", told[-1].body.get("variant")) == 1
    assert experiment.verify().ok


def test_an_alarm_is_raised_and_cleared(experiments: Experiments) -> None:
    experiment = experiments.create("capped", **ASKED, policy="ucb1")
    experiment.rewards([(str(number), 10.0) for number in range(5)])
    experiment.close_step()
    assert experiment.status().alarm
    assert experiment.announce()
    assert experiment.alarmed()
    experiment.void(0, "sent twice")
    assert experiment.announce()
    assert [one for one in kinds(experiment) if one.startswith("alarm")] == ["alarm_raised", "alarm_cleared"]
    assert not experiment.alarmed()
    assert experiment.verify().ok


@pytest.mark.parametrize("again", [1, 2])
def test_what_was_told_is_known_after_a_restart(tmp_path: Path, again: int) -> None:
    clock = Clock()
    with live.open(tmp_path / "experiments.db", clock=clock) as experiments:
        experiment = experiments.create("silent", **HOURLY)
        clock.hours(3.5)
        experiment.decision()
    with live.open(tmp_path / "experiments.db", clock=clock) as experiments:
        clock.hours(again)
        experiments.get("silent").decision()
        assert kinds(experiments.get("silent")) == ["never_reported"]
