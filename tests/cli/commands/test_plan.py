"""`afterglow plan`."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from afterglow import Agent
from afterglow.cli import run
from afterglow.lab.plan.planner import plan

PLACE = ["plan", "--arms", "2", "--window", "4", "--horizon", "400", "--runs", "20"]
KNOWN = [*PLACE, "--gap", "20%", "--mean", "0.4", "--noise", "0.1"]


def test_json_has_the_fields_of_the_python_call_and_so_has_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run([*KNOWN, "--json", "--out", str(tmp_path / "new")]) == 0
    told = json.loads(capsys.readouterr().out)
    found = plan(2, 4, 400, 0.2, 0.4, 0.1, runs=20)
    assert told == json.loads(json.dumps(found.to_dict()))
    assert json.loads((tmp_path / "new" / "plan.json").read_text(encoding="utf-8")) == told


def test_the_answer_comes_first_and_every_candidate_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*KNOWN, "--season", "6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Yes: the best of 2 arms is found in ")
    assert lines[1].startswith("It will most likely end ")
    text = "\n".join(lines)
    for word in (
        "whole cycles of 6 steps",
        "smallest gap",
        "shortest run",
        "trim-ucb",
        "lean-ucb",
        "switchback",
        "tested",
        "proof",
        "± is a 95 % interval",
    ):
        assert word in text


def test_what_was_planned_is_said_with_its_cycle_and_the_agent_can_be_copied(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*PLACE, "--gap", "20%", "--mean", "400", "--noise", "100", "--reward-max", "1000"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "use thrift-ucb noise=0.1 (as a share of reward_max)" in text
    line = 'Agent(arms=["A", "B"], window=4, horizon=400, policy="thrift-ucb", reward_max=1000, noise=0.1)'
    assert line in text
    assert eval(line, {"Agent": Agent}).reward_max == 1000
    assert run([*KNOWN, "--season", "6", "--swing", "30%", "--spread", "last"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "mean 0.4, noise 0.1 per pull, a cycle of 6 steps with amplitude 30 %, spread last" in text


def test_a_hopeless_plan_says_what_would_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*PLACE, "--gap", "0.01"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Hopeless: ")
    assert "would help" in text
    assert "note: the noise is taken as the largest possible" in text


def test_a_history_is_read_and_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "totals.csv"
    rows = [f"2026-01-{1 + hour // 24:02d} {hour % 24:02d}:00;{500 + (hour * 37) % 41}" for hour in range(240)]
    path.write_text("hour;sales\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert run([*PLACE, "--gap", "0.1", "--history", str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "history 240 totals of an hour from column 'sales', 1 Jan 2026 to 10 Jan 2026 23:00 level 520, noise " in text
    )
    assert "window 4 (4 hours), 400 steps (about 2 weeks), gap 10 %" in text


def test_a_history_with_several_rows_for_each_step_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "totals.csv"
    rows = [f"2026-01-{1 + hour // 24:02d};{500 + (hour * 37) % 41}" for hour in range(24 * 28)]
    path.write_text("day;sales\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert run([*PLACE, "--gap", "0.1", "--history", str(path)]) == 1
    assert "28 of 28 steps (1 Jan 2026 to 28 Jan 2026) have several; give each row its own time" in (
        capsys.readouterr().err
    )


def test_a_history_with_several_columns_is_read_as_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "totals.csv"
    rows = [f"2026-01-01 {hour:02d}:00;{7 + hour % 3};{1 + (hour * 37) % 41 / 100:.3f}" for hour in range(24)]
    path.write_text("hour;blue;green\n" + "\n".join(rows) + "\n", encoding="utf-8")
    call = [*PLACE, "--gap", "0.1", "--history", str(path)]
    assert run(call) == 1
    assert "(blue, green); name it, such as --column blue" in capsys.readouterr().err
    assert run([*call, "--column", "green", "--decimal", ".", "--zone", "Europe/Berlin"]) == 0
    assert "24 totals of an hour from column 'green' (not 'blue'), 1 Jan 2026" in capsys.readouterr().out


@pytest.fixture
def closed_on_sundays(tmp_path: Path) -> str:
    path = tmp_path / "sales.csv"
    days = [date(2025, 1, 1) + timedelta(days=day) for day in range(280)]
    rows = [f"{day},{1000 + 20 * day.weekday() + day.toordinal() * 37 % 41}" for day in days if day.weekday() < 6]
    path.write_text("day,sales\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_a_shop_that_is_closed_on_sundays_has_a_plan(
    closed_on_sundays: str, capsys: pytest.CaptureFixture[str]
) -> None:
    call = [*PLACE, "--gap", "0.1", "--history", closed_on_sundays]
    assert run(call) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "240 totals of a day from column 'sales', 1 Jan 2025 to 7 Oct 2025, 40 missing level 1,070, " in text
    assert "note: 1 of 7 phases of the cycle have no total at all and are taken to be like the mean of the oth" in text
    assert run([*call, "--missing", "zero"]) == 0
    assert "280 totals of a day from column 'sales', 1 Jan 2025 to 7 Oct 2025\n" in "\n".join(
        line.rstrip() for line in capsys.readouterr().out.splitlines()
    )
    assert run([*call, "--missing", "mean"]) == 2
    assert "it is one of nan, zero" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["--gap", "much"], "--gap must be a number, got 'much'"),
        (["--gap", "50"], "--gap must be a share, such as 0.05 or 5%, got 50; did you mean 50%?"),
        (["--gap", "0,05"], "--gap must be a number, got '0,05'; the decimal sign is a point"),
        (["--gap", "5%", "--horizon", "1.000"], "without thousands signs, got '1.000'; write 1000"),
        (["--gap", "5%", "--mean", "1300"], "must stay below --reward-max, the maximum reward of one pull, which is"),
        (["--gap", "5%", "--window", "900"], "window must be at most the horizon, got a window of 900 and 400 steps"),
        (["--gap", "0"], "--gap must be a number above 0 (relative to the mean, 0.05 = 5 %), got 0.0"),
        (["--gap", "0.1", "--arms", "1"], "--arms must be a whole number of at least 2, got 1"),
        (["--gap", "0.1", "--history", "none.csv"], "none.csv"),
        ([], "afterglow plan needs --gap"),
        (["--gap", "0.1", "--zone", "UTC"], "--zone says how to read a history, and there is no file of one; give --h"),
        (
            ["--gap", "0.1", "--swing", "0.3"],
            "--swing is the amplitude of a cycle, and there is none; give --season, or ",
        ),
    ],
)
def test_a_wrong_call_exits_with_a_sentence(
    wrong: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*PLACE, *wrong]) in (1, 2)
    assert sentence in capsys.readouterr().err


def test_simulate_takes_a_baseline_and_a_season(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["simulate", "--policy", "washout-ucb", "--means", "0.9,0.5", "--window", "4", "--horizon", "500"]
    assert run([*call, "--runs", "3", "--baseline", "seasonal:0.5,0.25", "--season", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["baseline"] == "seasonal:0.5,0.25"
    assert told["settings"]["season"] == 2
