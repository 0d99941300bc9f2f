"""Hundreds of lives of an experiment, with faults at every boundary of a transaction; one seed decides each."""

import logging

import pytest

from afterglow.estimation.guards import Excess, GuardCase
from afterglow.live import reward_keys
from afterglow.live.follower import Follower
from afterglow.live.reward_keys import Batch, Named
from afterglow.live.store.contract import Reading, Span
from testbed.simulation import FAILED, Life, failures

SEEDS, WITH_UNITS = 600, 200  # `make bench` runs 200,000 of the first


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "afterglow")  # records are lost on purpose


def test_every_promise_holds_in_every_life() -> None:
    assert failures([*range(SEEDS), *FAILED]) == {}


def test_every_promise_holds_in_every_life_of_an_experiment_with_units() -> None:
    assert failures(range(WITH_UNITS), units=True) == {}


def beyond_at_once(case: GuardCase, arm: int) -> bool:
    """Stops that follow from the totals alone, as real ones do, and come early."""
    return case.batches.arms[arm].steps > 0


def some_excess(case: GuardCase, arm: int) -> Excess:
    level, limit = case.plain(arm)
    return Excess(2e6, 1e6, 3e6, level, limit)


def test_guards_stop_a_variant_once_whatever_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GuardCase, "is_beyond", beyond_at_once)
    monkeypatch.setattr(GuardCase, "excess", some_excess)
    monkeypatch.setattr(GuardCase, "unseen", lambda case, arm: None)
    monkeypatch.setattr(GuardCase, "plain", lambda case, arm: (case.batches.arms[arm].total, 0.0))
    lives = [Life(seed) for seed in range(300)]
    for life in lives:
        life.run()
    stops = [sum(one.kind == "guarded" for one in life.base.data["e"].log) for life in lives]
    assert sum(stops) > 100


def test_a_seed_decides_everything() -> None:
    lives = [Life(12), Life(12)]
    for life in lives:
        life.run()
    one, other = ([(record.kind, record.at, record.body) for record in life.base.data["e"].log] for life in lives)
    assert one == other


def follow_by_number_alone(self: Follower, log: Reading, most: int) -> None:
    """As it was before: nothing notices that records were replaced."""
    if log.head().seq == self.seq:
        return
    if self.seq < 0:
        self.begin(log)
    for record in log.records(self.seq):
        self.take(record)


def count_again(named: Named, oldest: Span) -> Batch:
    """As it was before: a reward whose keys are erased is taken for a new one."""
    return named.batch


def test_the_simulation_finds_what_was_wrong_before(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Follower, "read_on", follow_by_number_alone)
        assert failures(range(100))
    with monkeypatch.context() as patch:
        patch.setattr(reward_keys, "still_known", count_again)
        assert failures(range(200))
