"""Experiments with units that were created before variants had to be compared: they serve what they served."""

import json
import sqlite3
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

import afterglow
from afterglow.live import Experiment
from assets.make_former_units import ASKED, close, served

STORED = Path(__file__).parents[2] / "assets" / "former"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "units.db"
    copy(STORED / "units-1.sqlite", path)
    path.chmod(0o600)
    return path


def plain(made: Experiment) -> Any:
    return json.loads(json.dumps(served(made)))


@pytest.mark.parametrize("snapshots", [True, False])
def test_units_of_version_1_serve_and_decide_as_they_did(stored: Path, snapshots: bool) -> None:
    expected = json.loads((STORED / "units-1.json").read_text())
    if not snapshots:
        with sqlite3.connect(stored) as base:
            base.execute("DELETE FROM snapshots")
        base.close()
    after = expected["running"].pop("after")
    with afterglow.live.open(stored, clock=lambda: 1e9) as experiments:
        assert {name: plain(experiments[name]) for name in experiments.names()} == expected
        close(experiments["running"], 10)
        assert plain(experiments["running"]) == after
        for name in experiments.names():
            found = experiments[name].verify()
            assert (found.ok, found.snapshots > 0) == (True, snapshots), found


def test_units_that_are_created_now_keep_the_control_until_two_were_compared(tmp_path: Path) -> None:
    with afterglow.live.open(tmp_path / "units.db", clock=lambda: 1e9) as experiments:
        made = experiments.create("ended", **ASKED, seed=1)
        close(made, 40)
        assert made.spec.computed["units"] == 2
        assert made.recommend() == "A"
        assert made.verify().ok
