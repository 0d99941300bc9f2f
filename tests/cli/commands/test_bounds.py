"""`afterglow bounds`."""

import json
from typing import Any

import pytest

from afterglow.cli import run
from afterglow.policies import phased_elimination
from afterglow.theory import bounds

PLACE = ["--arms", "5", "--horizon", "1e5", "--window", "10"]


def found(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["bounds", *arguments, *PLACE, "--json"]) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return data


def test_phased_ucb_has_its_hold_its_level_and_both_theorems(capsys: pytest.CaptureFixture[str]) -> None:
    data = found(["--policy", "phased-ucb", "--gaps", "0.1,0.2,0.3,0.4"], capsys)
    assert data == bounds("phased-ucb", 5, 100_000, 10, [0.1, 0.2, 0.3, 0.4])
    assert data["hold"] == 466
    assert data["log_delta"] == pytest.approx(92.103, abs=1e-3)
    assert data["theorem_1_corrected"] < data["theorem_1_paper"]


def test_settings_change_what_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    assert found(["--policy", "phased-ucb", "--set", "constants=corrected"], capsys)["hold"] == 839


def test_the_elimination_family_has_its_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    data = found(["--policy", "phased-elimination"], capsys)
    assert data["schedule"] == phased_elimination.schedule(100_000, 10)
    assert data["theorem_2_paper"] > 0
    data = found(["--policy", "odaaf", "--set", "mean_delay=4.5"], capsys)
    assert data["schedule"][0] == 518
    assert data["theorem_2_paper"] is None


def test_the_text_names_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    for policy in ("phased-ucb", "phased-elimination", "trim-ucb"):
        assert run(["bounds", "--policy", policy, *PLACE]) == 0
        shown = capsys.readouterr().out
        given = ("policy", "arms", "horizon", "window", "gaps", "gaps_assumed")
        figures = [name for name in bounds(policy, 5, 100_000, 10) if name not in given]
        assert [name for name in figures if name not in shown] == []


def test_a_policy_without_bounds_is_refused_with_those_that_have_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bounds", "--policy", "ucb1", *PLACE]) == 2
    assert capsys.readouterr().err.startswith("no bound is written down for ucb1; there are bounds for phased-ucb, ")


def test_what_a_policy_must_know_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bounds", "--policy", "odaaf", *PLACE]) == 2
    said = "odaaf needs --set mean_delay; give it, for instance --set mean_delay=5\n"
    assert capsys.readouterr().err == said
