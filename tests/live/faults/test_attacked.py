"""Faults that an attack on units, guards and commands after the end found."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from afterglow import live
from afterglow.errors import AfterglowError
from afterglow.live import Experiments
from testbed.quick_disk import quick_folder

GAINS = {"a": 0.1, "b": 0.9, "c": 0.5}
UNITS = ["n", "s", "w"]


@pytest.fixture
def experiments() -> Iterator[Experiments]:
    with quick_folder() as folder, live.open(Path(folder) / "e.db", clock=lambda: 1.8e9) as made:
        yield made


def test_a_unit_that_is_pinned_at_the_horizon_keeps_its_pin(experiments: Experiments) -> None:
    rng = random.Random(3)
    made = experiments.create("x", list(GAINS), window=1, horizon=60, control="c", units=UNITS)
    for step in range(60):
        if step == 50:
            made.pin("a", "a contract", unit="n")
        made.close_step({unit: 100 * (1 + GAINS[made.current(unit)]) + rng.random() for unit in UNITS})
    assert {unit: made.current(unit) for unit in UNITS} == {"n": "a", "s": "b", "w": "b"}
    made.void(5, "a wrong file", unit="s")
    assert made.current("n") == "a"
    assert made.verify().ok
    made.emergency("a", "broken")
    assert made.current("n") != "a"
    assert made.verify().ok


def test_a_void_does_not_undo_what_an_emergency_put_in_place_of_a_pin(experiments: Experiments) -> None:
    rng = random.Random(3)
    made = experiments.create("o", list(GAINS), window=1, horizon=60, control="c", policy="switchback")
    for step in range(60):
        if step == 58:
            made.pin("a", "keep a")
        made.close_step(GAINS[made.current()] + rng.random() / 20)
    made.emergency("a", "broken")
    assert made.current() == "c"
    made.void(5, "a wrong total")
    assert made.current() == "c"
    assert made.verify().ok


def test_a_limit_that_is_no_longer_exceeded_is_watched_again(experiments: Experiments) -> None:
    rng = random.Random(3)
    asked: dict[str, Any] = {"policy": "switchback", "guards": {"c": {"at_most": 5}}}
    made = experiments.create("g", ["a", "b"], window=1, horizon=400, **asked)
    for _ in range(30):
        made.close_step(0.2, metrics={"c": 20 + rng.random() if made.current() == "a" else 1 + rng.random()})
    assert [one.state for one in made.guards() if one.variant == "a"] == ["beyond"]
    made.void(0, "a wrong file", last=29)
    for _ in range(60):
        made.close_step(0.2, metrics={"c": 1 + rng.random()})
    assert [one.state for one in made.guards() if one.variant == "a"] == ["watching"]
    assert made.verify().ok


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("close_step", {"total": 0.7, "step": 0.5}), ("close_step", {"total": 0.7, "step": True}),
        ("close_step", {"total": 0.3, "step": "3"}), ("close_step", {"total": 0.3, "metrics": [1]}),
        ("explain", {"step": "0"}), ("explain", {"step": 0.5}), ("steps", {"first": 0, "count": -1}),
        ("steps", {"first": float("nan")}), ("current", {"unit": []}), ("current", {"unit": {}}),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_and_nothing_is_taken(
    experiments: Experiments, call: str, given: dict[str, Any]
) -> None:
    made = experiments.create("w", ["a", "b"], window=1)
    made.close_step(0.5)
    made.close_step(0.7)
    with pytest.raises(AfterglowError):
        getattr(made, call)(**given)
    assert made.status().step == 2
