"""A longer horizon and the archive: events like others, replayed, verified, refused by name where they don't fit."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from afterglow import live
from afterglow.errors import BadValue, OutOfTurn
from afterglow.live import Experiment, Experiments
from afterglow.policies.registry import WHERE, named
from support.service.live_fixtures import ASKED

EXTENDED = ("thrift-ucb", "lean-ucb", "trim-ucb", "random-turns", "leak-ucb", "washout-ucb", "thompson", "ucb1")
REFUSING = {
    "switchback": {},
    "phased-ucb": {"hold": 5},
    "phased-elimination": {},
    "composite-exp3": {},
    "auto-wash": {},
}
MEANS = {"49": 3.0, "59": 4.5, "69": 2.5}


def play(experiment: Experiment, steps: int, seed: int = 1) -> None:
    random = Random(seed)
    for _ in range(steps):
        experiment.close_step(round(random.uniform(0.5, 1.5) * MEANS[experiment.current()], 2))


@pytest.mark.parametrize("policy", EXTENDED)
def test_an_extended_experiment_goes_on_to_its_new_end_and_replays(policy: str, tmp_path: Path) -> None:
    path = tmp_path / "experiments.db"
    with live.open(path, clock=lambda: 1000.0) as experiments:
        one = experiments.create("shipping", **ASKED | {"window": 2}, policy=policy, horizon=300)
        play(one, 150)
        one.extend(420, "the season was quiet")
        play(one, 60)
        one.disable("69", "sold out")  # the plan is made anew, for what is left of the new horizon
        play(one, 40)
    with live.open(path, clock=lambda: 1000.0) as experiments:  # from the log alone
        one = experiments["shipping"]
        assert (one.spec.horizon, one.status().horizon, one.spec.first_horizon) == (420, 420, 300)
        play(one, 10)
        one.void(160, "counted twice")  # learned long ago: the whole log is replayed, the extension with it
        play(one, 419 - 260)
        assert one.status().phase == "running"
        play(one, 1)
        status, checked = one.status(), one.verify()
    assert (status.phase, status.step, checked.faults) == ("over", 420, ())


def test_an_extension_before_the_end_of_a_hold_changes_what_is_planned_after_it_alone(tmp_path: Path) -> None:
    """A policy that knows no horizon decides as if it had been longer from the start, but for the hold that was cut."""
    with live.open(tmp_path / "a.db", clock=lambda: 1.0) as experiments:
        asked: dict[str, Any] = ASKED | {"policy": "ucb1"}
        short, long = experiments.create("short", **asked, horizon=40), experiments.create("long", **asked, horizon=90)
        play(short, 30)
        short.extend(90, "more")
        play(short, 60)
        play(long, 30)
        play(long, 60)
        assert [one.variant for one in short.steps()] == [one.variant for one in long.steps()]


@pytest.mark.parametrize("policy", REFUSING)
def test_a_policy_whose_schedule_depends_on_the_horizon_refuses_by_name(policy: str, experiments: Experiments) -> None:
    one = experiments.create("fixed", **ASKED | {"window": 1}, policy=policy, horizon=600, options=REFUSING[policy])
    with pytest.raises(OutOfTurn, match=rf"^{policy} has made its schedule for 600 steps, so 'fixed' can't be length"):
        one.extend(700, "longer")
    assert one.spec.horizon == 600


def test_every_policy_says_whether_it_can_be_extended() -> None:
    able = {name for name in WHERE if named(name).extendable}
    assert set(EXTENDED) <= able
    assert not able & set(REFUSING)
    for name in able:
        assert named(name).extend is not None or "horizon" not in named(name).parameters()


def test_an_extension_that_makes_no_sense_is_refused(experiments: Experiments) -> None:
    endless, ended = experiments.create("endless", **ASKED), experiments.create("ended", **ASKED, horizon=60)
    with pytest.raises(OutOfTurn, match="'endless' has no horizon: it runs until stop"):
        endless.extend(100, "why not")
    with pytest.raises(BadValue, match="horizon must be more than the 60 steps there are, got 59"):
        ended.extend(59, "shorter")
    ended.extend(60, "the same")
    assert [one.kind for one in ended.events()] == ["create", "start"]  # nothing to do, nothing logged
    play(ended, 60)
    with pytest.raises(OutOfTurn, match="all 60 steps of 'ended' are played"):
        ended.extend(100, "too late")


def test_an_ended_experiment_is_archived_and_brought_back(address: str) -> None:
    with live.open(address, clock=lambda: 1000.0) as experiments:
        one = experiments.create("shipping", **ASKED)
        with pytest.raises(OutOfTurn, match="'shipping' is running; stop\\(\\) it before it is archived"):
            one.archive("tidy")
        one.stop("done", keep="59")
        one.archive("tidy")
        one.archive("again")  # nothing to do
    with live.open(address, clock=lambda: 1000.0) as experiments:
        one = experiments["shipping"]
        assert (one.status().archived, one.current()) == (True, "59")
        one.unarchive("needed")
        assert not one.status().archived
        assert [each.kind for each in one.events()][-2:] == ["archive", "unarchive"]
        assert one.verify().ok


def test_a_snapshot_keeps_what_was_extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 20)
    monkeypatch.setattr("afterglow.live.follower.BYTES", 10**9)
    with live.open(tmp_path / "a.db", clock=lambda: 1.0) as experiments:
        one = experiments.create("kept", **ASKED, horizon=60)
        play(one, 30)
        one.extend(200, "more")
        play(one, 60)
    with live.open(tmp_path / "a.db", clock=lambda: 1.0) as experiments:
        one = experiments["kept"]
        assert (one.spec.horizon, one.status().phase) == (200, "running")
        assert one.verify().snapshots > 2
        assert one.verify().ok
        assert one.verdicts()  # the past is read from snapshots
