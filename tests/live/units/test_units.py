"""Live experiments with units: create, serve, report, command, answer."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import afterglow
from afterglow.errors import AfterglowError, BadValue, Conflict, OutOfTurn, UnknownName
from afterglow.estimation.verdict import Gained
from afterglow.live import Experiment, Experiments
from support.service.live_fixtures import Clock
from testbed.postgres import server

UNITS = ["north", "south", "east", "west", "up", "down", "near", "far"]
LEVELS = dict(zip(UNITS, [1200.0, 800.0, 400.0, 950.0, 300.0, 500.0, 700.0, 650.0], strict=True))
ASKED: dict[str, Any] = {"variants": ["A", "B"], "window": 4, "horizon": 160, "units": UNITS, "levels": LEVELS}


def play(experiment: Experiment, steps: int, gain: float = 0.08, seed: int = 1) -> None:
    """Steps with a shock that all units share, ten times as large as their own noise."""
    random = Random(seed)
    for _ in range(steps):
        shock = random.gauss(1, 0.2)
        experiment.close_step({
            unit: round(LEVELS[unit] * (shock + random.gauss(0, 0.02) + gain * (experiment.current(unit) == "B")), 2)
            for unit in UNITS
        })  # fmt: skip


@pytest.fixture
def clocked(address: str, clock: Clock) -> Iterator[Experiments]:
    with afterglow.live.open(address, clock=clock) as made:
        yield made


@pytest.fixture
def regions(experiments: Experiments) -> Experiment:
    return experiments.create("regions", **ASKED, unit="EUR")


def test_units_run_different_variants_and_the_end_is_tested(regions: Experiment, address: str) -> None:
    assert {regions.current(unit) for unit in UNITS} == {"A", "B"}
    assert regions.status().variant is None
    play(regions, 160)
    verdict, test = regions.verdict(), regions.test()
    assert (verdict.grade, verdict.recommended, test.p < 0.05) == ("tested", "B", True)
    assert verdict.p == test.p
    assert verdict.to_control is not None
    assert verdict.to_control.percent is not None
    assert verdict.to_control.percent[1] < 8 < verdict.to_control.percent[2]
    assert verdict.to_control.mean == pytest.approx(verdict.to_control.percent[0] / 100 * sum(LEVELS.values()))
    assert "Variants do differ" in verdict.sentence
    assert "EUR" in regions.summary()
    assert "a variant in one unit doesn't change totals of another" in verdict.assumes
    assert {regions.current(unit) for unit in UNITS} == {"B"}
    assert [one.arm for one in regions.differences()] == ["A", "B"]
    assert regions.verify().ok


def test_what_all_units_share_changes_nothing(experiments: Experiments) -> None:
    one, other = (experiments.create(name, **ASKED, seed=3) for name in ("one", "other"))
    random = Random(5)
    for step in range(80):
        own = {unit: random.gauss(1, 0.02) for unit in UNITS}
        assert [one.current(unit) for unit in UNITS] == [other.current(unit) for unit in UNITS]
        one.close_step({unit: LEVELS[unit] * own[unit] for unit in UNITS})
        other.close_step({unit: LEVELS[unit] * (own[unit] + step) for unit in UNITS})  # a drift without end


def test_the_test_is_one_look_at_the_end(regions: Experiment) -> None:
    play(regions, 20)
    with pytest.raises(OutOfTurn, match="one look at the end that was fixed before; 140 of 160 steps are left"):
        regions.test()
    regions.stop("enough")
    assert regions.verdict().grade in ("stopped", "leading")
    with pytest.raises(OutOfTurn, match="one look"):
        regions.test()


@pytest.mark.parametrize("totals", [{}, dict.fromkeys(UNITS, 0), {"north": 100}])
def test_the_control_is_kept_if_nothing_could_be_compared(experiments: Experiments, totals: dict[str, float]) -> None:
    made = experiments.create("quiet", **ASKED | {"horizon": 40, "levels": None}, control="A")
    for _ in range(40):
        made.close_step(totals)
    assert {made.current(unit) for unit in UNITS} == {"A"}
    assert (made.recommend(), made.verdict().recommended, made.verdict().grade) == ("A", None, "inconclusive")
    assert made.summary().endswith("no two units had totals in the same counted steps, or all of them were 0.")
    assert made.verify().ok


def test_a_restart_without_time_keeps_what_was_best_and_says_so(experiments: Experiments) -> None:
    made = experiments.create("late", **ASKED | {"horizon": 64})
    play(made, 61)
    assert made.recommend() == "B"
    made.disable("A", "sold out")
    play(made, 1)
    made.enable("A", "back again")
    play(made, 2)
    assert {made.current(unit) for unit in UNITS} == {"B"}
    assert "Nothing was learned since the policy last started afresh" in made.summary()


def test_the_only_variant_left_is_recommended(experiments: Experiments) -> None:
    made = experiments.create("few", **ASKED | {"horizon": 24})
    play(made, 10)
    made.disable("A", "sold out")
    play(made, 2)
    assert (made.verdict().recommended, made.recommend(), made.verdict().grade) == ("B", "B", "exploring")
    to_control = made.verdict().to_control
    assert to_control is not None
    assert to_control.missing == "the policy started afresh without A"
    assert made.summary().endswith(
        "B is the only variant that is enabled. Enable another variant to compare, or stop now and keep B."
    )
    play(made, 12)
    assert (made.verdict().recommended, made.verdict().grade) == ("B", "inconclusive")
    assert made.summary().endswith("24 of 24 steps, over: B is the only variant that is enabled. Keep B.")


def test_what_the_plan_has_gained_is_the_difference_times_level_and_steps(regions: Experiment) -> None:
    play(regions, 8)
    assert regions.verdict().gained == Gained(None, None, None)  # too early for an interval
    play(regions, 152)
    verdict = regions.verdict()
    assert verdict.gained is not None
    assert verdict.to_control is not None
    assert verdict.to_control.mean is not None
    on_b = sum(LEVELS[one.unit] for one in regions.steps(0, 160) if one.variant == "B" and one.unit is not None)
    assert verdict.gained.mean == pytest.approx(verdict.to_control.mean * on_b / sum(LEVELS.values()))
    assert verdict.gained.low is not None
    assert 0 < verdict.gained.low < (verdict.gained.mean or 0.0)
    assert "In all the experiment has brought +" in regions.summary()


def test_a_silent_unit_loses_its_own_part_only(regions: Experiment) -> None:
    for step in range(24):
        regions.close_step({unit: LEVELS[unit] for unit in UNITS if unit != "east" or step % 4})
    rows = [one for one in regions.steps() if one.unit == "east" and one.total is not None]
    assert [one.void for one in rows] == [step % 4 == 0 for step in range(24)]
    assert not any(one.void for one in regions.steps() if one.unit != "east")
    status = regions.status()
    assert status.learned == 7 * 24  # every round of four steps has a void one
    assert status.excluded == 24
    assert regions.decision("north").role != "washout"


def test_a_unit_is_silent_until_it_has_reported_and_then_zero_unless_there_is_a_heartbeat(
    clocked: Experiments, clock: Clock
) -> None:
    asked = {**ASKED, "units": ["x", "y"], "levels": None, "step_seconds": 3600.0}
    for heartbeat in (False, True):
        made = clocked.create(f"beat-{heartbeat}", **asked, heartbeat=heartbeat)
        made.reward(5.0, unit="x")
        clock.hours(1)
        made.rewards([("k", 2.0, None, None, "y")])
        clock.hours(1)
        rows = {(one.step, one.unit): (one.total, one.void) for one in made.steps(0, 2)}
        assert rows[0, "x"] == (5.0, False)
        assert rows[0, "y"] == (0.0, True)  # never reported
        assert rows[1, "x"] == (0.0, heartbeat)
        assert [one.silent for one in made.status().units] == [1, 0]
        made.rewards([("x2", 9.0, None, None, "x"), ("y2", 2.0, None, None, "y")])
        clock.hours(1)
        assert [one.void for one in made.steps(2, 1)] == [heartbeat, False]  # x may have reports of the step before


def test_steps_that_were_missed_are_lost_in_all_units(clocked: Experiments, clock: Clock) -> None:
    made = clocked.create("hourly", **{**ASKED, "horizon": 5000}, step_seconds=3600.0)
    made.rewards([(unit, 10.0, None, None, unit) for unit in UNITS])
    clock.hours(1000)
    assert made.decision("far").step == 1000
    assert made.decision("far").role == "washout"
    assert {one.role for one in made.steps(1, 998)} == {"missed"}
    assert made.verify().ok


def test_emergency_takes_a_variant_off_in_all_units(regions: Experiment) -> None:
    play(regions, 5)
    on = [unit for unit in UNITS if regions.current(unit) == "B"]
    assert on
    regions.emergency("B", "it fails")
    assert {regions.current(unit) for unit in UNITS} == {"A"}
    regions.close_step(LEVELS)
    rows = {one.unit: one for one in regions.steps(5, 1)}
    assert {unit for unit, one in rows.items() if one.void} == set(on)
    assert rows[on[0]].reason == "it fails"
    assert regions.verify().ok


def test_pins_take_a_unit(regions: Experiment) -> None:
    regions.pin("A", "a fair in the north", unit="north")
    play(regions, 1)
    assert regions.current("north") == "A"
    assert regions.status().pinned is None
    assert regions.status().units[0].pinned == "A"
    regions.unpin("over", unit="south")  # isn't pinned
    play(regions, 1)
    assert regions.current("north") == "A"
    regions.pin("B", "everywhere")
    play(regions, 1)
    assert {regions.current(unit) for unit in UNITS} == {"B"}
    assert regions.status().pinned == "B"


def test_a_late_void_of_one_unit_is_what_follows_without_it(experiments: Experiments) -> None:
    """Voided late or never reported: the same plan, to the bit, as long as the plan stays the same."""
    late, early = (experiments.create(name, **ASKED) for name in ("late", "early"))
    for step in range(40):
        totals = {unit: LEVELS[unit] * (1 + 0.001 * ((7 * step + place) % 5)) for place, unit in enumerate(UNITS)}
        late.close_step(totals | ({"west": 9e6} if step == 9 else {}))
        early.close_step({unit: total for unit, total in totals.items() if (unit, step) != ("west", 9)})
    late.void(9, "a wrong file", unit="west")
    plans = [one._cache.copy.state.plan.values() for one in (late, early)]
    if [row.variant for row in late.steps()] == [row.variant for row in early.steps()]:
        assert plans[0]["state"] == plans[1]["state"]
    assert [one.unit for one in late.steps(9, 1) if one.void] == ["west"]
    assert late.verify().ok
    assert late.cost_of_void(20, 22, "east").lost > 0
    late.void(9, "again", unit="west")  # changes nothing
    assert [one.kind for one in late.events()].count("revise") == 1


def test_an_experiment_goes_on_from_its_log_and_snapshots(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.follower.EVERY", 10)
    monkeypatch.setattr("afterglow.live.follower.BYTES", 10**9)
    with afterglow.live.open(address) as experiments:
        made = experiments.create("regions", **ASKED)
        play(made, 30)
        made.pin("A", "why", unit="far")
        play(made, 15)
        text = made._cache.copy.state.text()
    with afterglow.live.open(address) as experiments:
        assert experiments["regions"]._cache.copy.state.text() == text
        assert experiments["regions"].verify().ok
        assert experiments["regions"].verify().snapshots > 2
        assert len(experiments["regions"].verdicts(5)) > 1


def test_a_shadow_serves_the_control_and_goes_live(experiments: Experiments) -> None:
    made = experiments.create("dry", **ASKED, shadow=True, control="B")
    assert {made.current(unit) for unit in UNITS} == {"B"}
    assert {made.decision(unit).planned for unit in UNITS} == {"A", "B"}
    play(made, 60)
    said = made.verdict()
    assert (said.grade, said.chances) == ("exploring", {})
    assert [row.missing for row in made.lifts()] == ["in shadow mode all units get the control"]
    assert said.sentence == "Not known yet which is best: in shadow mode all units get the control."
    made.go_live("it looks right")
    play(made, 1)
    assert {made.current(unit) for unit in UNITS} == {"A", "B"}
    assert made.verify().ok


def test_it_is_explained_and_backed_up(regions: Experiment, experiments: Experiments, tmp_path: Path) -> None:
    play(regions, 30)
    why = regions.explain(12, "east")
    assert (why.unit, why.step, why.variant) == ("east", 12, regions.steps(12, 1)[2].variant)
    assert f"{why.planned} is " in why.because
    assert "still in play" in why.because
    with pytest.raises(BadValue, match="unit is missing"):
        regions.explain(12)
    experiments.backup(tmp_path / "copy.db")
    with afterglow.live.open(tmp_path / "copy.db") as copies:
        assert copies["regions"].steps() == regions.steps()
        assert copies["regions"].verify().ok


def test_live_decides_as_the_agent_for_units_does(regions: Experiment) -> None:
    team = afterglow.Units(["A", "B"], UNITS, 4, 160, LEVELS, seed=1)
    random = Random(8)
    for _ in range(160):
        planned = team.select()
        assert {unit: regions.current(unit) for unit in UNITS} == planned
        totals = {unit: round(LEVELS[unit] * random.gauss(1, 0.1), 2) for unit in UNITS}
        team.update(totals)
        regions.close_step(totals)
    assert repr(list(team.estimates())) == repr(list(regions.differences()))


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"units": ["x"]}, "units", "units must be at least 2"),
    ({"units": ["x", "x"]}, "units", "x"),
    ({"units": [f"u{n}" for n in range(201)]}, "units", "units must be at most 200, got 201"),
    ({"variants": [f"v{n}" for n in range(21)]}, "variants", "variants must be at most 20, got 21"),
    ({"levels": {"north": 5}}, "levels", "levels must have all units or be left out"),
    ({"levels": LEVELS | {"nowhere": 2.0}}, "levels", "no unit named 'nowhere'"),
    ({"levels": LEVELS | {"north": -1.0}}, "levels", "levels of north"),
    ({"units": None}, "levels", "levels must be left out where there are no units"),
    ({"horizon": None}, "horizon", "horizon is missing"),
    ({"horizon": 5}, "horizon", "lengthen it"),
    ({"policy": "lean-ucb"}, "policy", "must decide for several units"),
    ({"reward_max": 9.0}, "reward_max", "their totals may be any numbers"),
    ({"profile": [1.0, 2.0]}, "profile", "must be left out with units"),
    ({"typical": 3.0}, "typical", "must be left out with units"),
    ({"nonsense": 1}, "options", "nonsense"),
]


@pytest.mark.parametrize(("change", "field", "said"), WRONG)
def test_settings_that_can_t_be_are_refused_by_name(
    experiments: Experiments, change: dict[str, Any], field: str, said: str
) -> None:
    with pytest.raises(BadValue) as refused:
        experiments.create("regions", **(ASKED | change))
    assert said in str(refused.value)
    assert refused.value.field == field
    assert experiments.names() == []


def test_units_are_asked_for_where_there_are_some_and_refused_where_there_are_none(
    regions: Experiment, experiments: Experiments
) -> None:
    plain = experiments.create("plain", ["A", "B"], 2)
    calls: list[tuple[Any, type[AfterglowError], str]] = [
        (regions.current, BadValue, "unit is missing: the experiment has the units north, south"),
        (lambda: regions.current("nort"), UnknownName, "did you mean 'north'"),
        (lambda: regions.reward(1.0), BadValue, "unit is missing"),
        (lambda: regions.reward(1.0, unit="nowhere"), UnknownName, "no unit named 'nowhere'"),
        (lambda: regions.close_step(5.0), BadValue, "total must be a mapping from units to totals, got 5.0"),
        (lambda: regions.close_step({"nowhere": 5.0}), UnknownName, "no unit named 'nowhere'"),
        (lambda: regions.close_step({"north": float("nan")}), BadValue, "total must be a number between"),
        (lambda: regions.pin("A", "x", unit="nowhere"), UnknownName, "no unit named 'nowhere'"),
        (regions.estimates, OutOfTurn, "use differences()"),
        (lambda: regions.extend(500, "more"), OutOfTurn, "can't be lengthened"),
        (lambda: regions.expect(1, [1.0]), BadValue, "takes no expected totals"),
        (lambda: plain.current("north"), BadValue, "unit must be left out"),
        (lambda: plain.reward(0.5, unit="north"), BadValue, "unit must be left out"),
        (lambda: plain.close_step({"north": 0.5}), BadValue, "total must be a number"),
        (lambda: plain.pin("A", "x", unit="north"), BadValue, "unit must be left out"),
        (lambda: plain.void(0, "x", unit="north"), BadValue, "unit must be left out"),
        (lambda: plain.explain(0, "north"), BadValue, "unit must be left out"),
        (plain.differences, OutOfTurn, "has no units; use estimates() or verdict()"),
        (plain.test, OutOfTurn, "has no units"),
    ]
    for call, kind, said in calls:
        with pytest.raises(kind) as refused:
            call()
        assert said in str(refused.value), said
    assert regions.decision("north").step == plain.decision().step == 0


def test_a_key_counts_once_in_one_unit(regions: Experiment) -> None:
    assert regions.reward(-5.5, "k", unit="north").accepted == 1  # negative totals are fine
    assert regions.reward(-5.5, "k", unit="north").duplicates == 1
    with pytest.raises(Conflict, match="came with this amount for another total before"):
        regions.reward(-5.5, "k", unit="south")
    with pytest.raises(Conflict, match=r"rewards of 'north' that add up to -5\.5, got total 3"):
        regions.close_step({"north": 3.0})
    regions.close_step(LEVELS | {"north": -5.5}, step=0)
    regions.close_step(LEVELS | {"north": -5.5}, step=0)  # again
    with pytest.raises(Conflict, match="the first total stays"):
        regions.close_step({"south": 1.0}, step=0)
    assert regions.steps(0, 1)[0].total == -5.5


def test_two_replicas_serve_report_and_close_the_same_units() -> None:
    address = server().fresh()
    with afterglow.live.open(address) as here, afterglow.live.open(address) as there:
        one = here.create("regions", **ASKED)
        other = there["regions"]
        for step in range(12):
            for replica in (one, other, one):  # the last sends again what it has sent
                key = f"{step} {replica is one}"
                replica.rewards([(f"{key} {unit}", LEVELS[unit], None, None, unit) for unit in UNITS])
            if step == 5:
                other.pin("A", "a fair", unit="east")
            if step == 10:
                one.void(4, "a wrong file", last=7, unit="far")
            (one if step % 2 else other).close_step()
            assert [one.decision(unit) for unit in UNITS] == [other.decision(unit) for unit in UNITS]
        totals = {(row.step, row.unit): row.total for row in other.steps(0, 12)}
        assert totals == {(step, unit): 2 * LEVELS[unit] for step in range(12) for unit in UNITS}
        assert one.differences() == other.differences()
        assert other.verify().ok
    server().drop(address)
