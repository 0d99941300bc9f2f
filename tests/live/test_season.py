"""`random-turns` live: its season goes on in steps that it doesn't learn from."""

import json
import sqlite3
from pathlib import Path
from random import Random
from shutil import copy
from typing import Any

import pytest

import afterglow
from afterglow.live import Experiment
from assets.make_former_turns import close, served

STORED = Path(__file__).parents[1] / "assets" / "former"
SEASON, SLOT = 24, 2  # steps; a slot is a sixth of a window of 12


def seasonal(step: int) -> float:
    """The total of a step, the same in both steps of a slot and in every season, whatever is played."""
    return 10.0 + (step % SEASON // SLOT) ** 2


def play(made: Experiment, steps: int) -> None:
    for _ in range(steps):
        made.close_step(seasonal(step_of(made)))


def step_of(made: Experiment) -> int:
    step = made.status().step
    assert step is not None
    return step


def interrupt(made: Experiment, random: Random) -> None:
    """One of the ways in which steps are not learned from."""
    step, steps = step_of(made), random.randrange(1, 30)
    way = random.choice(["pin", "pause", "void", "late void"])
    if way == "pin":
        made.pin(random.choice(["A", "B", "C"]), "a fair")
        play(made, steps)
        made.unpin("it is over")
    elif way == "pause":
        made.pause("a holiday")
        play(made, steps)
        made.resume("it is over")
    elif way == "void" or step <= 40:
        made.void(step - 1, "an outage")
    else:
        made.void(first := random.randrange(step - 30), "an outage", last=first + random.randrange(25))


def learned(made: Experiment) -> Any:
    """The state of the policy."""
    with made._cache.current() as state:
        return state.plan.holding.state


@pytest.mark.parametrize("seed", range(3))
def test_every_slot_of_the_season_keeps_its_own_totals(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    with afterglow.live.open(tmp_path / "season.db", clock=lambda: 1e9) as experiments:
        made = experiments.create(
            "season", ["A", "B", "C"], window=12, season=SEASON, reward_max=1000, seed=seed
        )  # fmt: skip
        for _ in range(15):
            play(made, random.randrange(1, 40))
            interrupt(made, random)
        play(made, 60)
        state = learned(made)
        met = [slot for slot in range(SEASON // SLOT) if state.counts[slot]]
        assert len(met) == SEASON // SLOT
        assert [1000 * state.usual[slot] for slot in met] == pytest.approx([seasonal(SLOT * slot) for slot in met])
        assert state.clock == step_of(made) - step_of(made) % SLOT
        assert made.verify().ok


def test_a_void_step_costs_one_slot_and_a_pin_a_window(tmp_path: Path) -> None:
    with afterglow.live.open(tmp_path / "season.db", clock=lambda: 1e9) as experiments:
        rows = []
        for name in ("whole", "void", "pin"):
            made = experiments.create(name, ["A", "B", "C"], window=12, season=SEASON, reward_max=1000, seed=5)
            play(made, 96)
            if name == "void":
                play(made, 2)
                made.void(96, "an outage", last=97)
            elif name == "pin":
                made.pin("A", "a fair")
                play(made, 2)
                made.unpin("it is over")
            play(made, 96 - (0 if name == "whole" else 2))
            rows.append(learned(made).rows)
        assert (rows[0] - rows[1], rows[0] - rows[2]) == (
            1,
            2 + 12 // SLOT,
        )  # the pin begins with the next step, and so touches two slots


@pytest.mark.parametrize("snapshots", [True, False])
def test_random_turns_of_version_3_serve_and_decide_as_they_did(tmp_path: Path, snapshots: bool) -> None:
    expected: dict[str, Any] = json.loads((STORED / "turns-3.json").read_text())
    after = expected["running"].pop("after")
    path = tmp_path / "turns.db"
    copy(STORED / "turns-3.sqlite", path)
    path.chmod(0o600)
    if not snapshots:
        with sqlite3.connect(path) as base:
            base.execute("DELETE FROM snapshots")
        base.close()
    with afterglow.live.open(path, clock=lambda: 1e9) as experiments:
        assert {name: plain(experiments[name]) for name in experiments.names()} == expected
        close(experiments["running"], 40)
        assert plain(experiments["running"]) == after
        assert all(experiments[name].verify().ok for name in experiments.names())


def plain(made: Experiment) -> Any:
    return json.loads(json.dumps(served(made)))
