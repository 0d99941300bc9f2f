"""Guards in experiments with units: totals by unit, stops in all units, voids, replay, and what is refused."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afterglow.live
from afterglow.errors import BadValue, Conflict, UnknownName
from afterglow.estimation import unit_guards
from afterglow.live import Experiment, Experiments
from afterglow.live.domain.rules import rules_of
from afterglow.live.domain.units.state import initial, restored

SIZES = {"north": 10.0, "south": 20.0, "east": 40.0, "west": 80.0, "up": 15.0, "down": 30.0}
UNITS = list(SIZES)
COMPLAINTS = {"complaints": {"at_most": "+10%", "against": "control"}}
ASKED: dict[str, Any] = {
    "variants": ["49", "59", "69"], "window": 3, "horizon": 300, "units": UNITS, "commit": 250, "seed": 5,
}  # fmt: skip
EFFECTS = {"49": 1.0, "59": 1.5, "69": 1.0}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Experiments]:
    with afterglow.live.open(tmp_path / "guards.db", clock=lambda: 1000.0) as found:
        yield found


def play(experiment: Experiment, steps: int, effects: dict[str, float] = EFFECTS, seed: int = 1) -> None:
    """Complaints of units of different sizes, with a shock that they share, larger than any effect."""
    source = random.Random(seed)
    for _ in range(steps):
        shock = source.choice([0.3, 1.0, 3.0])
        served = {unit: experiment.current(unit) for unit in UNITS}
        complaints = {
            unit: round(SIZES[unit] * effects[served[unit]] * shock * source.uniform(0.9, 1.1), 3) for unit in UNITS
        }
        experiment.close_step(dict.fromkeys(UNITS, 100.0 * shock), metrics={"complaints": complaints})


def told(experiment: Experiment) -> list[str]:
    return [one.kind for one in experiment.events() if one.kind not in ("create", "start", "close")]


def states(experiment: Experiment) -> dict[str, str]:
    return {one.variant: one.state for one in experiment.guards()}


def test_a_variant_beyond_its_limit_is_disabled_in_all_units(experiments: Experiments) -> None:
    experiment = experiments.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 45)
    assert (experiment.status().disabled, told(experiment)) == (("59",), ["guarded"])
    (stop,) = (one.body for one in experiment.events() if one.kind == "guarded")
    later = experiment.steps(stop["step"] + 1, 100)
    assert {one.variant for one in later} == {"49", "69"}
    assert stop["mean"] / stop["limit"] == pytest.approx(1.5 / 1.1, rel=0.03)
    assert stop["excess"][1] > 0
    assert "above the limit" in stop["reason"]
    assert states(experiment) == {"59": "stopped", "69": "watching"}
    assert "Disabled by a guard: 59 (complaints)." in experiment.verdict().sentence
    assert experiment.stopped_by_guards() == 1
    assert experiment.verify().ok


def test_units_report_metrics_like_rewards(experiments: Experiments) -> None:
    experiment = experiments.create("shop", **ASKED, guards=COMPLAINTS)
    experiment.reward(0.25, "one", unit="south")
    experiment.reward(3, "one", metric="complaints", unit="south")  # keys of a metric are apart from those of rewards
    assert experiment.reward(3, "one", metric="complaints", unit="south").duplicates == 1
    with pytest.raises(Conflict, match="'one' came with this amount for another total before"):
        experiment.reward(3, "one", metric="complaints", unit="east")
    with pytest.raises(UnknownName):
        experiment.reward(3, metric="complaints", unit="moon")
    experiment.rewards([("two", 2.5, None, "complaints", "south"), ("three", 2, None, "complaints", "down")])
    assert experiment.verify().ok
    experiment.close_step(metrics={"complaints": {"north": 7, "west": None}})
    rows = {one.unit: one for one in experiment.steps(0, 1)}
    assert {unit: row.metrics for unit, row in rows.items() if row.metrics != {"complaints": 0.0}} == {
        "south": {"complaints": 5.5}, "down": {"complaints": 2.0}, "north": {"complaints": 7.0},
    }  # fmt: skip
    assert [unit for unit, row in rows.items() if row.void] == ["east", "west", "up"]  # of which nothing is known
    assert experiment.verify().ok


def test_what_was_closed_before_stays(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    for _ in range(2):
        experiment.close_step({"north": 1}, 0, {"complaints": {"north": 4}})
    with pytest.raises(Conflict, match="complaints of 'north' in step 0 was closed with 4, got 5"):
        experiment.close_step({"north": 1}, 0, {"complaints": {"north": 5}})
    experiment.reward(2, metric="complaints", unit="north")
    with pytest.raises(Conflict, match="complaints of 'north' has 1 reports that add up to 2, got a total of 7"):
        experiment.close_step({"north": 1}, metrics={"complaints": {"north": 7}})
    for metrics, says in (
        ({"complaints": 7}, "metrics must have totals by unit for 'complaints'"),
        ({"reward": {"north": 7}}, "give the reward as the total"),
        ({"complaints": {"moon": 7}}, "moon"),
        ({"complaint": {"north": 7}}, "did you mean 'complaints'"),
        ({"complaints": {"north": -1}}, "must be a number between 0 and"),
    ):
        given: Any = metrics
        with pytest.raises(BadValue, match=says):
            experiment.close_step({"north": 1}, metrics=given)
    assert experiment.status().step == 1


@pytest.mark.parametrize(
    ("guard", "says"),
    [
        (
            {"at_most": 12},
            "a change in percent against the control with units, such as .*, for 'c', got at most 12",
        ),
        ({"at_most": "+0.5"}, "must have a change in percent"),
        ({"at_most": "+10%", "against": 20}, "must have a change in percent"),
        ({"at_most": "-100%"}, "must have a change in percent"),
        ({"at_least": "-20%", "metric": "reward"}, "must watch totals beside the reward with units, 'c' watches"),
    ],
)
def test_limits_that_dont_compare_units_are_refused_by_name(here: Experiments, guard: Any, says: str) -> None:
    with pytest.raises(BadValue, match=says) as refused:
        here.create("shop", **ASKED, guards={"c": guard})
    assert refused.value.field == "guards"


def test_a_void_takes_the_evidence_away_and_enable_counts_anew(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 60)
    assert states(experiment)["59"] == "stopped"
    experiment.void(4, "a wrong file", last=45)
    assert told(experiment) == ["guarded", "revise", "guard_withdrawn"]
    assert (states(experiment)["59"], experiment.status().disabled) == ("withdrawn", ("59",))
    assert experiment.verify().ok
    experiment.enable("59", "it was a wrong file")
    assert states(experiment)["59"] == "waiting"
    play(experiment, 80, dict.fromkeys(EFFECTS, 1.0), seed=2)
    assert states(experiment)["59"] == "watching"  # what it was before doesn't count
    assert experiment.verify().ok


def test_another_fit_doesnt_make_a_log_wrong(here: Experiments, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop is compared by what it has counted, and whether it was withdrawn is what the log says."""
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 60)
    experiment.void(3, "a wrong file", last=5, unit="north")
    assert told(experiment) == ["guarded", "revise"]
    monkeypatch.setattr(unit_guards, "HEAVIEST", 1.5)
    assert experiment.verify().ok
    monkeypatch.setattr(unit_guards, "LEAST_RUNS", 1000)  # nothing would be stopped
    assert experiment.verify().ok


def test_a_stop_must_have_counted_what_the_log_has(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 45)
    spec, rules = experiment.spec, rules_of(experiment.spec)
    events, state = [one for one in experiment.events() if one.kind in ("start", "close", "guarded")], initial(spec)
    place = next(place for place, one in enumerate(events) if one.kind == "guarded")
    for one in events[:place]:
        rules.apply(spec, state, one.kind, one.body)
    stop = events[place].body
    (steps, total), control = stop["counted"]["variant"], stop["counted"]["control"]
    assert rules.guard_follows(spec, state, stop)
    for wrong in (
        {"counted": {"variant": [steps + 1, total], "control": control}},
        {"counted": {"variant": [steps, total + 0.001], "control": control}},
        {"counted": {"variant": control, "control": [steps, total]}},
        {"counted": None},
        {"mean": stop["limit"]},
        {"variant": 2},
    ):
        assert not rules.guard_follows(spec, state, stop | wrong), wrong


def test_a_void_of_some_units_leaves_a_stop_that_the_others_show(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 100)
    experiment.void(3, "a wrong file", last=20, unit="north")
    assert told(experiment) == ["guarded", "revise"]
    assert states(experiment)["59"] == "stopped"
    assert experiment.verify().ok


def test_the_control_is_served_when_all_others_are_disabled(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 120, {"49": 1.0, "59": 1.5, "69": 1.6})
    assert told(experiment) == ["guarded", "guarded", "one_left"]
    assert {experiment.current(unit) for unit in UNITS} == {"49"}
    play(experiment, 180)
    assert experiment.recommend() == "49"
    assert experiment.verify().ok


def test_a_guard_from_below_and_one_of_another_metric(here: Experiments) -> None:
    limits = {"fewer": {"metric": "visits", "at_least": "-20%"}, **COMPLAINTS}
    experiment = here.create("shop", **ASKED, guards=limits)
    source = random.Random(2)
    for _ in range(80):
        visits = {unit: SIZES[unit] * (0.5 if experiment.current(unit) == "69" else 1) for unit in UNITS}
        metrics = {"visits": {unit: one * source.uniform(0.9, 1.1) for unit, one in visits.items()}}
        experiment.close_step(dict.fromkeys(UNITS, 1.0), metrics=metrics)
    (stop,) = (one.body for one in experiment.events() if one.kind == "guarded")
    assert (stop["guard"], stop["variant"], "below the limit" in stop["reason"]) == ("fewer", 2, True)
    assert {one.state for one in experiment.guards() if one.guard == "complaints"} == {"unreported"}
    assert experiment.verify().ok


def test_a_variant_that_is_pinned_somewhere_is_left_to_whoever_pinned_it(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    experiment.pin("59", "a promise", unit="north")
    play(experiment, 90)
    assert (told(experiment), states(experiment)["59"]) == (["pin"], "beyond")
    experiment.unpin("kept", unit="north")
    play(experiment, 20, seed=2)
    assert told(experiment) == ["pin", "unpin", "guarded"]


def test_a_snapshot_has_what_guards_counted(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED, guards=COMPLAINTS)
    play(experiment, 41)
    state = experiment._cache.copy.state
    assert state.guarded.fresh
    assert restored(experiment.spec, state.text()).text() == state.text()
    assert restored(experiment.spec, state.text()).stops == state.stops


def test_after_the_last_step_a_guard_can_still_replace_what_is_kept(here: Experiments) -> None:
    experiment = here.create("shop", **ASKED | {"horizon": 90, "variants": ["49", "59"]}, guards=COMPLAINTS)
    experiment.pin("59", "a promise", unit="north")
    source = random.Random(3)
    for step in range(90):
        if step == 89:
            experiment.unpin("kept", unit="north")
        served = {unit: experiment.current(unit) for unit in UNITS}
        complaints = {unit: SIZES[unit] * EFFECTS[served[unit]] * source.uniform(0.9, 1.1) for unit in UNITS}
        totals = {unit: source.uniform(0.9, 1.1) + 0.2 * (served[unit] == "59") for unit in UNITS}
        experiment.close_step(totals, metrics={"complaints": complaints})
    (stop,) = (one.body for one in experiment.events() if one.kind == "guarded")
    assert (stop["step"], stop["to"]) == (90, 0)
    assert {experiment.current(unit) for unit in UNITS} == {experiment.recommend()} == {"49"}
    assert experiment.verify().ok
