"""Guards in running experiments: totals beside the reward, stops, notices, voids, replay, and what is refused."""

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afterglow.live
from afterglow.errors import BadValue, Conflict, UnknownName
from afterglow.live import Experiment, Experiments
from afterglow.live.domain.guards.settings import read_guards
from afterglow.live.domain.log import NOTHING, body_of, chained
from afterglow.live.store.backup import back_up

COMPLAINTS = {"complaints": {"at_most": "+10%", "against": "control"}}
ASKED: dict[str, Any] = {"variants": ("49", "59", "69"), "window": 2, "horizon": 600, "policy": "switchback"}
LEVELS = {"49": 10.0, "59": 20.0, "69": 10.0}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Experiments]:
    with afterglow.live.open(tmp_path / "guards.db", clock=lambda: 1000.0) as found:
        yield found


def play(experiment: Experiment, steps: int, levels: dict[str, float] = LEVELS, seed: int = 1) -> None:
    """Close steps with totals of complaints around the level of the variant."""
    source = random.Random(seed)
    for _ in range(steps):
        level = levels[experiment.current()]
        experiment.close_step(0.5, metrics={"complaints": max(0.0, round(source.gauss(level, 2), 3))})


def kinds(experiment: Experiment) -> list[str]:
    return [one.kind for one in experiment.events() if one.kind not in ("create", "start", "close")]


def body(experiment: Experiment, kind: str) -> dict[str, Any]:
    return next(one.body for one in experiment.events() if one.kind == kind)


def test_a_variant_beyond_its_limit_is_disabled_and_the_others_go_on(experiments: Experiments) -> None:
    experiment = experiments.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 120)
    assert experiment.status().disabled == ("59",)
    assert kinds(experiment) == ["guarded"]
    said = body(experiment, "guarded")
    assert (said["variant"], said["guard"], said["metric"]) == (1, "complaints", "complaints")
    assert said["excess"][1] > 0
    assert "above the limit" in said["reason"]
    assert {step.variant for step in experiment.steps(said["step"] + 1, 100)} <= {"49", "69"}
    rows = {one.variant: one for one in experiment.guards()}
    assert rows["59"].state == "stopped"
    assert rows["59"].stopped_at == said["step"]
    assert rows["69"].state == "watching"
    assert set(rows) == {"59", "69"}
    assert "Disabled by a guard: 59 (complaints)." in experiment.verdict().sentence
    assert experiment.stopped_by_guards() == 1
    assert experiment.verify().ok


def test_totals_beside_the_reward_are_reported_like_rewards(experiments: Experiments) -> None:
    experiment = experiments.create("shop", **ASKED, guards=COMPLAINTS)
    experiment.reward(0.25, "one")
    experiment.reward(3, "one", metric="complaints")  # keys of a metric are apart from those of rewards
    assert experiment.reward(3, "one", metric="complaints").duplicates == 1
    with pytest.raises(Conflict, match="'one' came with amount 3 before"):
        experiment.reward(4, "one", metric="complaints")
    experiment.rewards([("two", 2.5, None, "complaints"), ("three", 0.5)])
    experiment.close_step()
    (step,) = experiment.steps(0, 1)
    assert (step.total, step.metrics) == (0.75, {"complaints": 5.5})
    assert experiment.verify().ok


def test_what_was_closed_before_stays(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    experiment.close_step(0.5, 0, {"complaints": 4})
    experiment.close_step(0.5, 0, {"complaints": 4})
    with pytest.raises(Conflict, match="complaints of step 0 was closed with 4, got 5"):
        experiment.close_step(0.5, 0, {"complaints": 5})
    experiment.reward(2, metric="complaints")
    with pytest.raises(Conflict, match="complaints has 1 reports that add up to 2, got a total of 7"):
        experiment.close_step(0.5, metrics={"complaints": 7})
    with pytest.raises(BadValue, match="give the reward as the total"):
        experiment.close_step(0.5, metrics={"reward": 7})


def test_the_control_is_never_disabled_but_it_is_told(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards={"complaints": {"at_most": 12.0}})
    play(experiment, 200, {"49": 20.0, "59": 10.0, "69": 20.0})
    assert experiment.status().disabled == ("69",)
    assert sorted(kinds(experiment)) == ["guarded", "limit_exceeded"]
    assert body(experiment, "limit_exceeded")["variant"] == 0
    assert {one.variant: one.state for one in experiment.guards()} == {
        "49": "beyond", "59": "watching", "69": "stopped",
    }  # fmt: skip
    assert experiment.verify().ok


def test_when_all_others_are_disabled_the_control_stays_and_it_is_told(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 300, {"49": 10.0, "59": 20.0, "69": 20.0})
    assert set(experiment.status().disabled) == {"59", "69"}
    assert experiment.current() == "49"
    assert kinds(experiment) == ["guarded", "guarded", "one_left"]
    assert body(experiment, "one_left")["variant"] == 0
    play(experiment, 300)
    assert experiment.recommend() == "49"
    assert experiment.verify().ok


def test_guards_of_the_reward_and_from_below(here: Experiments) -> None:
    limits = {"fewer orders": {"metric": "reward", "at_least": "-20%"}}
    experiment = here.create("shop", **ASKED, guards=limits, reward_max=10.0)
    source = random.Random(2)
    for _ in range(150):
        level = {"49": 5.0, "59": 2.0, "69": 5.0}[experiment.current()]
        experiment.close_step(max(0.0, source.gauss(level, 0.5)))
    assert experiment.status().disabled == ("59",)
    assert "below the limit" in body(experiment, "guarded")["reason"]
    assert experiment.steps(0, 1)[0].metrics is None
    assert experiment.verify().ok


def test_pinned_paused_shadow_and_void_steps_dont_count(here: Experiments) -> None:
    """Complaints are many in all steps that are not in the plan, and none of the guards sees any of them."""
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS, shadow=True)

    def close(steps: int) -> None:
        for _ in range(steps):
            experiment.close_step(0.5, metrics={"complaints": 10 if experiment.decision().role == "plan" else 500})

    close(10)
    experiment.go_live("now")
    for pinned in ("59", "69"):
        experiment.pin(pinned, "looks good")
        close(10)
    experiment.unpin("enough")
    experiment.pause("lunch")
    close(10)
    experiment.resume("go on")
    close(60)
    assert {one.role for one in experiment.steps(count=100)} == {"shadow", "outside", "washout", "plan"}
    assert {one.mean for one in experiment.guards()} == {10.0}
    step = experiment.status().step
    experiment.close_step(0.5, metrics={"complaints": 500})
    before = counted(experiment)
    experiment.void(step, "wrong")
    assert counted(experiment) in (before, (before[0] - 1, before[1] - 500e6))
    assert {one.mean for one in experiment.guards()} == {10.0}
    assert experiment.verify().ok


def counted(experiment: Experiment) -> tuple[int, float]:
    state = experiment._cache.copy.state
    assert state.bounds.guarded is not None
    batches, _ = state.bounds.guarded.counted(1, state.bounds.current)
    return sum(one.steps for one in batches.arms), sum(one.total for one in batches.arms)


def test_a_pinned_variant_is_left_to_whoever_pinned_it(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 20)
    experiment.pin("59", "looks good")
    play(experiment, 60)
    assert not experiment.status().disabled
    experiment.unpin("enough")
    play(experiment, 60)
    assert experiment.status().disabled == ("59",)


def test_a_void_that_takes_the_evidence_away_is_told_and_enabling_begins_again(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 90)
    stopped = body(experiment, "guarded")["step"]
    play(experiment, 20)
    experiment.void(100, "one wrong total")  # not among those that showed it
    assert "guard_withdrawn" not in kinds(experiment)
    experiment.void(0, "complaints were counted twice", last=stopped - 1)
    assert kinds(experiment)[-2:] == ["revise", "guard_withdrawn"]
    assert experiment.status().disabled == ("59",)  # a person decides
    assert {one.variant: one.state for one in experiment.guards()}["59"] == "withdrawn"
    assert experiment.verify().ok
    experiment.void(stopped, "that too")
    assert kinds(experiment).count("guard_withdrawn") == 1
    experiment.enable("59", "it was our mistake")
    rows = {one.variant: one for one in experiment.guards()}
    assert rows["59"].missing == "it hasn't run for a full window yet"
    play(experiment, 150)
    assert kinds(experiment).count("guarded") == 2  # it is bad after all
    assert experiment.verify().ok


def test_a_stop_with_the_last_step_replaces_what_is_kept(here: Experiments) -> None:
    """The experiment ends with the step that shows it: the control is kept in place of the best variant."""
    asked = ASKED | {"policy": "ucb1", "window": 1, "variants": ("49", "59")}

    def end_with(name: str, horizon: int) -> Experiment:
        experiment, source = here.create(name, **asked | {"horizon": horizon}, guards=COMPLAINTS), random.Random(1)
        while experiment.status().phase == "running":
            variant = experiment.current()
            complaints = max(0.0, source.gauss(LEVELS[variant], 2))
            experiment.close_step(0.9 if variant == "59" else 0.1, metrics={"complaints": complaints})
        return experiment

    stopped = body(end_with("long", 160), "guarded")["step"]
    experiment = end_with("short", stopped)
    assert body(experiment, "guarded")["to"] == 0
    assert experiment.current() == experiment.recommend() == "49"
    assert kinds(experiment)[-2:] == ["one_left", "ended"]
    assert body(experiment, "ended")["keep"] == 0
    assert experiment.verify().ok


def test_reopening_backups_and_other_processes_see_the_same(here: Experiments, tmp_path: Path) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 120)
    rows, state = experiment.guards(), experiment._cache.copy.state.text()
    back_up(here._store, tmp_path / "copy.db")
    with afterglow.live.open(tmp_path / "copy.db", read_only=True) as copy:
        again = copy.get("shop")
        assert again.guards() == rows
        assert again._cache.copy.state.text() == state
        assert again.verify().ok


def test_a_stop_that_doesnt_follow_from_the_log_is_a_fault(here: Experiments, tmp_path: Path) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 120)
    place = next(one.seq for one in experiment.events() if one.kind == "guarded")
    here.close()
    with sqlite3.connect(tmp_path / "guards.db") as base:
        before = NOTHING
        for seq, at, kind, stored in base.execute("SELECT seq, at, kind, body FROM events ORDER BY seq").fetchall():
            said = json.loads(stored)
            if seq == place:
                said["mean"] += 1
            text = body_of(said) if seq == place else stored
            before = chained(before, seq, at, kind, text)
            base.execute("UPDATE events SET body = ?, hash = ? WHERE seq = ?", (text, before, seq))
    base.close()
    with afterglow.live.open(tmp_path / "guards.db", read_only=True) as again:
        faults = again.get("shop").verify().faults
    assert any(f"record {place}: its figures are not those that the log leads to" in one for one in faults)


def test_a_schedule_with_gaps_and_late_reports(tmp_path: Path) -> None:
    now = [0.0]
    with afterglow.live.open(tmp_path / "clock.db", clock=lambda: now[0]) as experiments:
        experiment = experiments.create("shop", **ASKED, step_seconds=60, guards=COMPLAINTS)
        source = random.Random(4)
        for step in range(250):
            variant = experiment.current()
            experiment.reward(0.5, f"r{step}")
            experiment.reward(max(0.0, source.gauss(LEVELS[variant], 2)), f"c{step}", metric="complaints")
            now[0] += 60 if step % 20 else 300  # some steps pass without anybody
        assert experiment.status().disabled == ("59",)
        missed = [one for one in experiment.steps() if one.role == "missed"]
        assert missed
        assert all(one.metrics == {"complaints": 0.0} for one in missed)
        assert experiment.verify().ok


@pytest.mark.parametrize(
    ("guards", "says"),
    [
        (["complaints"], "guards must have limits by name"),
        ({"complaints": "+10%"}, "guards must have a limit for 'complaints'"),
        ({"complaints": {}}, "guards must have at_most or at_least for 'complaints', one of them"),
        ({"complaints": {"at_most": "+1%", "at_least": "-1%"}}, "for both, give two guards one metric"),
        ({"complaints": {"at_most": "10 percent"}}, "must have a change such as '\\+10%'"),
        ({"complaints": {"at_most": "ten"}}, "or a number, for 'complaints', got 'ten'"),
        ({"complaints": {"at_most": 10**400}}, "or a number, for 'complaints', got 1000"),
        ({"complaints": {"at_most": "+" + "9" * 400}}, "must have numbers up to"),
        ({"complaints": {"at_most": True}}, "or a number, for 'complaints', got True"),
        ({"complaints": {"at_most": float("nan")}}, "got nan"),
        ({"complaints": {"at_most": 1e15}}, "must have numbers up to 1,000,000,000,000"),
        ({"complaints": {"at_most": "-120%"}}, r"a change from -100% to \+100,000"),
        ({"complaints": {"at_most": 5, "against": "control"}}, "a number alone is the limit itself"),
        ({"complaints": {"at_most": "+5", "against": "59"}}, "the control or a number as against"),
        ({"complaints": {"at_most": -5}}, "limits of at least 0 for 'complaints': totals are never negative, got -5"),
        ({"complaints": {"at_most": "-3", "against": 2}}, "limits of at least 0 for 'complaints'"),
        ({"complaints": {"at_least": 0}}, "a limit above 0 with at_least for 'complaints': no total is below 0"),
        ({"complaints": {"at_least": "-100%"}}, "a limit above 0 with at_least"),
        ({"complaints": {"at_most": "+10%", "against": 0}}, r"a number above 0 as against .*\+10% of 0 is 0"),
        ({"complaints": {"at_most": "+5", "than": 3}}, "has 'than' for 'complaints'; a guard has at_most"),
        ({"": {"at_most": 5}}, "must have names of 1 to 100 characters"),
        ({"a\u202eb": {"at_most": 5}}, "must have names of 1 to 100 characters"),
        ({str(one): {"at_most": 5} for one in range(21)}, "guards must be at most 20, got 21"),
    ],
)
def test_guards_that_cant_be_are_refused_by_name(here: Experiments, guards: Any, says: str) -> None:
    with pytest.raises(BadValue, match=says) as refused:
        here.create("shop", **ASKED, guards=guards)
    assert refused.value.field == "guards"


def test_guards_of_very_many_variants_are_refused(here: Experiments) -> None:
    many = [str(one) for one in range(150)]
    guards = {f"m{one}": {"at_most": 5} for one in range(20)}
    with pytest.raises(BadValue, match="guards times variants must be at most 400, got 3,000"):
        here.create("many", many, 1, policy="ucb1", guards=guards)


@pytest.mark.parametrize("policy", ["random-turns", "thrift-ucb"])
def test_guards_work_with_a_season(here: Experiments, policy: str) -> None:
    """Complaints have a daily cycle as large as the effect; random turns are shorter than a cycle, holds are whole."""
    asked: dict[str, Any] = {"variants": ("49", "59"), "window": 3, "horizon": 3_000, "season": 24, "policy": policy}
    experiment, source = here.create("shop", **asked, guards=COMPLAINTS), random.Random(5)
    while not experiment.status().disabled and experiment.status().step < 2_500:
        cycle = 4 * (experiment.status().step % 24 < 12)
        complaints = max(0.0, source.gauss(LEVELS[experiment.current()] + cycle, 2))
        experiment.close_step(0.3 + 0.1 * source.random(), metrics={"complaints": complaints})
    assert experiment.status().disabled == ("59",)
    assert experiment.verify().ok


def test_metrics_that_arent_there_are_refused_by_name(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    with pytest.raises(UnknownName, match="no metric named 'complaint'; did you mean 'complaints'"):
        experiment.reward(1, metric="complaint")
    for amount in (-1, float("inf"), "3", None, 1e13):
        with pytest.raises(BadValue, match="amount of a metric must be a number between 0 and"):
            experiment.reward(amount, metric="complaints")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="no metric named 'load'"):
        experiment.close_step(0.5, metrics={"load": 3})
    plain = here.create("plain", **ASKED)
    for call in (lambda: plain.reward(1, metric="x"), lambda: plain.close_step(0.5, metrics={"x": 3})):
        with pytest.raises(UnknownName, match="it has no guards, so leave it out"):
            call()
    assert plain.guards() == ()


def test_limits_are_read_as_they_are_written() -> None:
    asked = {
        "a": {"at_most": "+10%"}, "b": {"at_least": "-.5"}, "c": {"at_most": 3}, "d": {"at_most": "+50%", "against": 4},
    }  # fmt: skip
    found = {one.name: (one.limit.sign, one.limit.factor, one.limit.offset) for one in read_guards("guards", asked)}
    assert found == {"a": (1, 1.1, 0.0), "b": (-1, 1.0, -0.5), "c": (1, 0.0, 3.0), "d": (1, 0.0, 6.0)}
    words = [one.words() for one in read_guards("guards", asked)]
    assert words == ["at most +10% against the control", "at least -.5 against the control", "at most 3",
                     "at most +50% against 4"]  # fmt: skip
