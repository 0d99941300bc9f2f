"""The verdict on the page: what to do, how sure that is, what it assumes, and how the chances have changed."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

import afterglow
from afterglow.live import Experiment
from afterglow.live.domain.guards.stops import GuardStatus
from afterglow.live.domain.spec import specify
from afterglow.live.domain.state import Phase
from afterglow.live.past_steps import Step
from afterglow.live.summary import Reached, money
from afterglow.live.verdict_history import history
from afterglow.service.dashboard.charts.dates import DAY, HOUR, date_ticks
from afterglow.service.dashboard.charts.gained import gained_chart
from afterglow.service.dashboard.charts.totals import taken_out
from afterglow.service.dashboard.charts.verdict import chance_chart, lift_chart, why_unknown
from afterglow.service.dashboard.plan_answer import settings
from afterglow.service.dashboard.rendering import ENVIRONMENT
from afterglow.service.dashboard.sentences import disabled, in_short

MEANS = {"49": 20.0, "59": 30.0, "69": 20.0}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with afterglow.live.open(tmp_path_factory.mktemp("verdict") / "experiments.db") as experiments:
        made = experiments.create("shipping", list(MEANS), 4, 400, policy="trim-ucb", reward_max=100.0, unit="EUR")
        random = Random(3)
        for _ in range(240):
            made.close_step(round(MEANS[made.current()] + random.gauss(0, 3), 3))
        yield made


def test_the_past_is_replayed_to_what_was_known_then(played: Experiment) -> None:
    points = played.verdicts(12)
    assert [point.step for point in points] == [20 * number for number in range(1, 12)]
    assert points[-1].chances["59"] > 0.9
    assert points[-1].recommended == "59"
    assert all(sum(point.chances.values()) == pytest.approx(1) for point in points if point.chances)


def test_a_long_past_is_read_within_a_budget(played: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.live.verdict_history.BUDGET", 50)
    points = history(played._cache.store, "shipping", 240, 12)
    assert [point.step for point in points] == [20, 40, 48]  # two records come before the first step


def test_the_gain_over_time_ends_with_what_the_verdict_says(played: Experiment) -> None:
    found, past, reached = played.verdict(), played.verdicts(12), Reached(Phase.RUNNING, 240, 0, 0)
    chart = gained_chart(played.spec, past, reached, found)
    assert chart is not None
    assert chart.latest in played.summary().replace(" compared with 49 alone", "")
    known = 1 + sum(one.gained is not None and one.gained.mean is not None for one in past)
    assert (len(chart.line.split()), len(chart.band.split())) == (known, 2 * known)
    assert chart.line.split()[-1].startswith("1000,")
    assert 0 < chart.zero <= 100
    nothing = [one._replace(gained=None) for one in past]
    assert gained_chart(played.spec, nothing, reached, found) is None
    macros: Any = ENVIRONMENT.get_template("verdict.html").module
    assert f"Now: {chart.latest}." in macros.gained(chart)
    later = gained_chart(played.spec, past, reached, replace(found, gained=None))
    assert later is not None
    assert later.until == past[-1].step
    assert f"It is not known now; at step {past[-1].step} it was {later.latest}." in macros.gained(later)
    assert "Not known yet" in macros.gained(None)


def test_the_list_says_which_variant_is_ahead_unless_an_alarm_stands(played: Experiment) -> None:
    found = played.verdict()
    assert found.to_control is not None
    assert found.to_control.percent is not None
    assert in_short(found) == f"59: +{found.to_control.percent[0]:.1f} % against 49"
    assert in_short(replace(found, grade="exploring")) == in_short(replace(found, alarm="totals are wrong")) == ""


def test_a_guard_that_disabled_a_variant_is_named() -> None:
    stop = GuardStatus("load", "calls", "59", "at most 3", "stopped", 4.0, 3.0, 1.0, 0.5, 1.5, None, 17)
    assert disabled(["59", "69"], [stop]) == [
        "59 was disabled by the guard “load”.",
        "69 is disabled and won’t be served.",
    ]


def test_every_variant_has_a_row_and_a_line_with_numbers_in_the_unit(played: Experiment) -> None:
    lifts = lift_chart(played.spec, played.lifts())
    assert lifts is not None
    assert (lifts.control, lifts.unit, [row.variant for row in lifts.rows]) == ("49", "EUR", ["59", "69"])
    row = lifts.rows[0]
    assert row.mean is not None
    assert row.low < row.mean < row.low + row.width
    assert row.text.startswith("+")
    assert row.percent.startswith("+")
    reached = Reached(Phase.RUNNING, 240, 0, 0)
    chances = chance_chart(played.spec, played.verdicts(12), reached, played.verdict())
    assert chances is not None
    assert [line.variant for line in chances.lines] == list(MEANS)
    assert chances.lines[1].points.endswith(f"1000,{1000 * (1 - played.verdict().chances['59']):.0f}")
    assert not chances.dated
    assert chance_chart(played.spec, [], reached, played.verdict()) is None  # one point makes no line
    afresh = chance_chart(played.spec, played.verdicts(12), reached, replace(played.verdict(), chances={}))
    assert afresh is not None
    assert {line.now for line in afresh.lines} == {"not known now"}  # started afresh: none is called disabled


def test_an_interval_that_is_all_that_totals_allow_is_a_reason_and_no_result(played: Experiment) -> None:
    first, second = played.lifts()
    empty = replace(first, low=-100.0, high=100.0, percent=(5.0, -500.0, 500.0))
    lifts = lift_chart(played.spec, (empty, second))
    assert lifts is not None
    assert (lifts.rows[0].mean, lifts.rows[0].range) == (None, "too few steps for an interval")
    assert lifts.rows[0].percent == ""
    assert lifts.rows[1].mean is not None
    assert lift_chart(played.spec, (empty,)) is None
    said = money(played.spec, replace(played.verdict(), to_control=empty))
    assert said.startswith("There are too few steps for an interval of 59 compared with the control 49, and of what ")


def test_a_difference_that_is_missing_is_a_row_with_its_reason(played: Experiment) -> None:
    lifts = lift_chart(played.spec, played.lifts())
    assert lifts is not None
    unknown = lifts.rows[1]._replace(mean=None, range="no run of 69 has lasted a window")
    macros: Any = ENVIRONMENT.get_template("verdict.html").module
    shown = macros.lifts(lifts._replace(rows=[lifts.rows[0], unknown]), "49")
    assert '<td class="missing" colspan="4">No run of 69 has lasted a window.</td>' in shown
    assert "No difference to 49 is known yet." in macros.lifts(None, "49")
    rows = [replace(one, mean=None, missing=f"{one.arm} hasn't run") for one in played.lifts()]
    assert why_unknown(rows) == "59 hasn't run; 69 hasn't run"
    assert why_unknown([*rows, replace(rows[0], missing="too few")]) == ""
    assert "No difference to 49 is known yet: 59 hasn’t run." in macros.lifts(None, "49", "59 hasn’t run")
    assert "Not known yet" in macros.chances(None)


@pytest.mark.parametrize(
    ("seconds", "labels"),
    [
        (10.0, ["09:00:00", "09:00:05", "09:00:10"]),
        (6 * HOUR, ["09:00", "10:00", "11:00", "12:00", "13:00", "14:00", "15:00"]),
        (2 * DAY, ["12:00", "18:00", "17 Nov", "06:00", "12:00", "18:00", "18 Nov", "06:00"]),
        (30 * DAY, ["19 Nov", "26 Nov", "3 Dec", "10 Dec"]),
        (4000 * DAY, 11),
    ],
)
def test_dates_are_round_and_few(seconds: float, labels: Any) -> None:
    found = [label for _, label in date_ticks(1_794_819_600.0, seconds)]
    assert len(found) == labels if isinstance(labels, int) else found == labels


def step(number: int, total: float | None, expected: float | None) -> Step:
    return Step(number, "49", "49", "plan", total, False, None, expected)


def test_the_share_of_the_variance_that_was_expected_is_told_from_50_steps_on() -> None:
    spec = specify("told", list(MEANS), 4, typical=10.0, policy="washout-ucb", reward_max=100.0)
    steps = [step(number, 20.0 + number % 5 + (number % 2), 10.0 + number % 5) for number in range(50)]
    assert taken_out(spec, steps) == "Taken out: 89 % of the variance."
    assert taken_out(spec, steps[:49]) == ""
    useless = [step(number, 20.0 + number % 2, 10.0 + number % 5) for number in range(50)]
    assert taken_out(spec, useless).startswith("Taken out: nothing; what was expected adds 800 % to the variance.")
    assert taken_out(specify("none", list(MEANS), 4), steps) == ""


def test_a_plan_says_of_random_turns_that_it_is_told_the_cycle() -> None:
    plan: dict[str, Any] = {"settings": {}, "profile": None, "season": 168}
    assert settings(plan | {"policy": "random-turns"}) == ", told a cycle of 168 steps"
    assert settings(plan | {"policy": "lean-ucb"}) == ", whole cycles of 168 steps"
