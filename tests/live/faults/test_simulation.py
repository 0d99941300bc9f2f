"""Thousands of lives of an experiment, with faults at every boundary of a transaction; one seed decides each."""

import dataclasses
import logging
from collections.abc import Collection, Sequence

import httpx
import pytest

from afterglow.estimation.guards import Excess, GuardCase
from afterglow.live import follower, reward_keys
from afterglow.live.domain.log import Record
from afterglow.live.domain.spec import Spec
from afterglow.live.follower import Follower
from afterglow.live.log_entries import LogEntry
from afterglow.live.reward_keys import NEVER_SENT, Batch, Named
from afterglow.live.store.access import HookRow
from afterglow.live.store.contract import KeptReward, Reading, Span, Writing
from afterglow.service.background.webhook_delivery import Deliveries, DeliveryLane
from testbed.simulated_store import Tables
from testbed.simulation import FAILED, Life, failures

SEEDS, WITH_UNITS, WITH_STOPS = 1300, 400, 300  # each seed decides another life; `make bench` runs 200,000


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "afterglow")  # records are lost on purpose


def test_every_promise_holds_in_every_life() -> None:
    assert failures([*range(SEEDS), *FAILED]) == {}


def test_every_promise_holds_in_every_life_of_an_experiment_with_units() -> None:
    assert failures(range(SEEDS, SEEDS + WITH_UNITS), units=True) == {}


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
    first, stops = SEEDS + WITH_UNITS, 0
    for seed in range(first, first + WITH_STOPS):
        life = Life(seed)
        life.run()
        stops += sum(one.kind == "guarded" for one in life.base.data["e"].log)
    assert stops > 100


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


store_rewards, known_amounts, take_record = Tables.put_rewards, Tables.amounts, Follower.take


def lose_one(self: Tables, span: int, step: int, rewards: Sequence[KeptReward]) -> None:
    """The last reward of a large group is acknowledged and not stored."""
    store_rewards(self, span, step, rewards[:-1] if len(rewards) > 2 else rewards)


def look_under_the_last_salt(self: Tables, span: int, digests: Collection[bytes]) -> dict[bytes, tuple[int, int]]:
    """A key that is sent again after a new salt was made is taken for a new one."""
    return known_amounts(self, span, digests) if span == self.salts[-1].number else {}


def take_all_but_voids(self: Follower, record: Record) -> None:
    """A process that reads of a void doesn't apply it; the one that was asked for it has."""
    rules = self.rules
    if record.kind in ("void", "revise"):
        self.rules = dataclasses.replace(rules, apply=lambda spec, state, kind, body: None)
    try:
        take_record(self, record)
    finally:
        self.rules = rules


def erase_at_once(log: Writing, spec: Spec, step: int, now: int) -> bool:
    """Keys are erased when their step is sealed."""
    return log.forget(NEVER_SENT)


async def send_once(
    self: Deliveries, http: httpx.AsyncClient, hook: HookRow, name: str, lane: DeliveryLane, event: LogEntry
) -> bool:
    """A webhook that was refused is not sent again."""
    await self.deliver(http, hook, name, event)
    return True


PLANTED: dict[str, tuple[object, str, object]] = {
    "replaced records are not noticed": (Follower, "read_on", follow_by_number_alone),
    "rewards whose keys are erased count again": (reward_keys, "still_known", count_again),
    "an acknowledged reward is not stored": (Tables, "put_rewards", lose_one),
    "a retry counts again after a new salt": (Tables, "amounts", look_under_the_last_salt),
    "a void is not replayed": (Follower, "take", take_all_but_voids),
    "keys are lost at the seal": (follower, "rotate", erase_at_once),
    "an event is lost": (Deliveries, "sent", send_once),
}


@pytest.mark.parametrize("units", [False, True], ids=["one total", "units"])
@pytest.mark.parametrize("fault", PLANTED)
def test_the_simulation_finds_planted_faults(fault: str, units: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*PLANTED[fault])
    assert failures(range(200), units, most=1)
