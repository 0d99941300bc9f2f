"""A release that computes bounds or batches in another way: states are computed again, what can't be is refused."""

import json
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadFormat
from afterglow.estimation import bounds
from afterglow.live import follower
from afterglow.live.domain import versions
from support.service.live_fixtures import Clock

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 2, "reward_max": 10.0, "policy": "leak-ucb"}


def play(experiment: Any, steps: int) -> None:
    for step in range(steps):
        experiment.close_step(float(1 + step % 3))


@pytest.fixture
def stored(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An experiment with snapshots."""
    monkeypatch.setattr(follower, "EVERY", 10)
    monkeypatch.setattr(follower, "BYTES", 10**9)
    with afterglow.live.open(address, clock=Clock()) as experiments:
        play(experiments.create("old", **ASKED), 60)
    return address


def change(patch: pytest.MonkeyPatch) -> None:
    """The next release: other looks, hence other bounds, with another number."""
    patch.setattr(bounds, "FIRST_LOOK", 3)
    patch.setattr("afterglow.live.domain.bounds.FIRST_LOOK", 3)
    patch.setitem(versions.COMPUTED, "bounds", 2)


def state_of(experiment: Any) -> Any:
    return json.loads(experiment._cache.copy.state.text())


def test_a_spec_says_what_it_was_computed_with(stored: str) -> None:
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        assert experiments["old"].spec.computed == {"batches": 2, "bounds": 1, "state": 2}


def test_other_bounds_are_computed_again_from_the_log(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        before = state_of(experiments["old"])
        decisions = [(one.step, one.variant) for one in experiments["old"].steps()]
    change(monkeypatch)
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        found = experiments["old"]
        after = state_of(found)
        assert after["books"] != before["books"]
        assert after["computed"] == {"batches": 2, "bounds": 2, "state": 2}
        assert {key: value for key, value in after.items() if key not in ("books", "computed")} == {
            key: value for key, value in before.items() if key != "books"
        }
        assert [(one.step, one.variant) for one in found.steps()] == decisions
        assert found.verify().ok, found.verify()
        play(found, 30)  # with snapshots of its own
        play(experiments.create("new", **ASKED), 60)
        fresh = state_of(experiments["new"])
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        assert experiments["old"].verify().ok
        assert state_of(experiments["new"]) == fresh


def test_a_change_without_another_number_is_found(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change(monkeypatch)
    monkeypatch.setitem(versions.COMPUTED, "bounds", 1)
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        assert "it is not the state that the log leads to" in experiments["old"].verify().faults[0]


def test_an_experiment_of_a_later_release_is_refused_by_name(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        change(patch)
        with afterglow.live.open(stored, clock=Clock()) as experiments:
            experiments.create("new", **ASKED)
    told = "experiment 'new' has version 2 of bounds, this release has version 1; go on with afterglow 0.1.0 or later"
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        with pytest.raises(BadFormat, match=told):
            experiments.get("new")
        experiments["old"].close_step(1.0)  # the others go on


def test_a_revision_with_other_bounds_is_refused_by_name(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        experiments["old"].void(3, "a wrong total")
        assert experiments["old"].verify().ok
    change(monkeypatch)
    with afterglow.live.open(stored, clock=Clock()) as experiments:
        with pytest.raises(BadFormat, match="has steps that were voided with version 1 of bounds, this release has"):
            experiments.get("old")
        made = experiments.create("other", **ASKED)
        play(made, 40)
        made.void(3, "a wrong total")
        assert made.verify().ok
