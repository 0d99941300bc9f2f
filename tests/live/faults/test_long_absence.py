"""A week away at steps of a millisecond: 600 million missed steps are one row for every call that goes over steps."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.cli import run
from afterglow.errors import BadValue
from afterglow.live import Experiment, Experiments
from afterglow.live.step_table import refuse_long_absence
from support.service.live_fixtures import Clock

WEEK = 7 * 86400
ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 2, "step_seconds": 0.001, "horizon": 10**12}
KINDS: dict[str, dict[str, Any]] = {
    "alone": {"reward_max": 10.0, "policy": "ucb1"},
    "units": {"units": ["north", "south"]},
    "guards": {"reward_max": 10.0, "policy": "ucb1", "guards": {"complaints": {"at_most": "+10%"}}},
}


@pytest.fixture
def here(tmp_path: Path, clock: Clock) -> Iterator[Experiments]:
    with afterglow.live.open(tmp_path / "experiments.db", clock=clock) as found:
        yield found


def away(experiments: Experiments, clock: Clock, kind: str) -> Experiment:
    """Three steps, a week away, three steps."""
    made = experiments.create("shop", **ASKED, **KINDS[kind])
    unit = made.spec.units[0] if made.spec.units else None
    for pause in (0.001, 0.001, float(WEEK), 0.001, 0.001):
        made.reward(1.0, unit=unit)
        clock.now += pause
    assert made.first_decision().step >= 1000 * WEEK
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_all_is_verified_and_can_be_voided(here: Experiments, clock: Clock, kind: str) -> None:
    made = away(here, clock, kind)
    (missed,) = made.missed()
    found = made.verify()
    assert (found.ok, found.steps) == (True, made.first_decision().step)
    made.void(1, "a test order", last=missed.stop)  # from before the week to behind it
    made.void(missed[5], "a test order", last=missed[-5])
    assert [one.void for one in made.steps(missed.stop - 1, 2)] == [True] * 2 * max(1, len(made.spec.units))
    assert made.verify().ok


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("last_step = last_step - 1", "the table has no row|the table has .* the log leads to"),
        ("last_step = last_step + 1", "the table has a row for the steps to"),
        ("last_step = NULL", "the log leads to"),
        ("served = 1 - served", "the log leads to"),
    ],
)
def test_a_changed_row_of_missed_steps_is_found(
    here: Experiments, clock: Clock, tmp_path: Path, change: str, fault: str
) -> None:
    made = away(here, clock, "alone")
    with sqlite3.connect(tmp_path / "experiments.db") as base:
        base.execute(f"UPDATE steps SET {change} WHERE last_step IS NOT NULL")
    base.close()
    found = made.verify()
    assert not found.ok
    with pytest.raises(AssertionError, match=fault):
        raise AssertionError("\n".join(found.faults))


@pytest.mark.parametrize("kind", ["alone", "guards"])
def test_an_export_names_what_it_refuses(
    here: Experiments, clock: Clock, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made, path = away(here, clock, kind), str(tmp_path / "experiments.db")
    assert run(["export", path, "shop"]) != 0
    assert "missed steps, a row for each of them would be more than 1,000,000" in capsys.readouterr().err
    with pytest.raises(BadValue, match="use `afterglow export --without-missed`"):
        refuse_long_absence(made)  # also asked by the download of the dashboard
    assert run(["export", path, "shop", "--what", "events"]) == 0
    assert capsys.readouterr().out.count(",missed,") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_can_leave_missed_steps_out(
    here: Experiments, clock: Clock, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made, path = away(here, clock, kind), str(tmp_path / "experiments.db")
    assert run(["export", path, "shop", "--without-missed"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    (missed,) = made.missed()
    steps = [*range(missed.start), *range(missed.stop, made.first_decision().step + 1)]
    assert [int(row.split(",")[0]) for row in rows] == [one for one in steps for _ in made.spec.units or (None,)]
