"""Studies of several units."""

from pathlib import Path
from typing import Any

import pytest

from afterglow import Study
from afterglow.cli import run
from afterglow.errors import BadValue

WORLD: dict[str, Any] = {
    "rewards": ["discrete:0.4@1", "discrete:0.3@1"],
    "window": 4,
    "units": 4,
    "common": "noise:0.1,0.9",
    "own": "noise:0.02",
}


def test_a_study_of_units_runs_and_counts_shares_of_unit_steps(tmp_path: Path) -> None:
    world = WORLD | {"units": [2, 4], "told": "none", "loadings": [0.5, 1.5]}
    study = Study(policies=["panel-elimination"], worlds=[world], horizon=300, runs=5, name="units")
    found = study.run(out=tmp_path).summary().rows
    assert len(found) == 2
    assert all(0.5 < row["best_arm"] <= 1 and row["found"] == 1 for row in found)
    assert "4 units, common noise:0.1,0.9, own noise:0.02, loadings 0.5 to 1.5, levels not told" in str(found)


@pytest.mark.parametrize(
    ("policy", "world", "sentence"),
    [
        ("lean-ucb", WORLD, "policy must decide for several units, lean-ucb decides for one"),
        ("panel-elimination", {"rewards": [0.4, 0.3], "window": 4}, "this world has one; write units = 8 in the world"),
        ("panel-elimination", WORLD | {"baseline": 1}, "units have common and own income in its place"),
        (
            "panel-elimination",
            {"rewards": [0.4, 0.3], "window": 4, "own": 1},
            "it describes units; write units = 8 too",
        ),
        ("panel-elimination", WORLD | {"loadings": 3}, "loadings must be the least and the greatest"),
        ("panel-elimination", WORLD | {"units": 1}, "units must be a whole number of at least 2, got 1"),
    ],
)
def test_what_does_not_fit_units_is_refused(policy: str, world: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue) as refusal:
        Study(policies=[policy], worlds=[world], horizon=300)
    assert sentence in str(refusal.value)


def test_the_command_simulates_units(capsys: pytest.CaptureFixture[str]) -> None:
    call = "simulate --policy panel-elimination --means 0.4,0.3 --window 4 --horizon 300 --runs 3 --units 4"
    assert run([*call.split(), "--common", "noise:0.1,0.9", "--own", "noise:0.02"]) == 0
    shown = capsys.readouterr().out
    assert "noise:0.1,0.9" in shown
    assert "of the unit-steps" in shown
    assert run([*call.split()[:-2], "--own", "noise:0.1"]) == 2
    assert "--own describes units; give --units too" in capsys.readouterr().err
