"""Experiments in PostgreSQL: several processes at once, and a database that goes away and comes back."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier, Event
from time import time

import psycopg
import pytest

import afterglow
from afterglow.errors import BadDatabase, Conflict, OutOfTurn, Unavailable
from afterglow.live import Experiments
from afterglow.live.cached_state import REREAD
from afterglow.live.reward_keys import digest_of
from afterglow.live.store import pool as connections
from support.service.live_fixtures import ASKED, Clock
from testbed.postgres import server

HOURLY = {**ASKED, "policy": "ucb1", "step_seconds": 3600}


@pytest.fixture
def address() -> Iterator[str]:
    made = server().fresh()
    yield made
    server().drop(made)


@pytest.fixture
def replicas(address: str, clock: Clock) -> Iterator[tuple[Experiments, Experiments]]:
    with afterglow.live.open(address, clock=clock) as one, afterglow.live.open(address, clock=clock) as two:
        yield one, two


# Several at once


def test_two_replicas_racing_at_every_boundary_make_one_decision_for_each_step(
    replicas: tuple[Experiments, Experiments], clock: Clock
) -> None:
    replicas[0].create("hourly", **HOURLY)
    copies = [replica.get("hourly") for replica in replicas]
    steps, threads = 40, 8
    together = Barrier(threads, timeout=60)
    seen = [dict[int, set[str]]() for _ in range(threads)]
    paid = [dict[int, int]() for _ in range(threads)]

    def serve(number: int) -> None:
        mine = copies[number % 2]
        for turn in range(steps):
            if together.wait() == 0 and turn:
                clock.hours(1)
            together.wait()
            for repeat in range(3):
                decision = mine.decision()
                seen[number].setdefault(decision.step, set()).add(decision.variant)
                receipt = mine.reward(0.001, f"{number} {turn} {repeat}")
                assert receipt.accepted == 1
                assert decision.step == receipt.step == turn
                paid[number][turn] = paid[number].get(turn, 0) + 1

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(serve, range(threads)))
    clock.hours(1)
    rows = copies[0].steps()
    assert rows == copies[1].steps()
    for row in rows[:steps]:
        assert {variant for one in seen for variant in one[row.step]} == {row.variant}
        assert row.total == sum(one[row.step] for one in paid) / 1000
    assert copies[0].verify().ok


def test_the_same_keys_sent_to_both_at_once_count_once(replicas: tuple[Experiments, Experiments]) -> None:
    replicas[0].create("shipping", **ASKED)
    copies = [replica.get("shipping") for replica in replicas]
    rounds, together = 30, Barrier(4, timeout=60)

    def report(number: int) -> int:
        accepted = 0
        for turn in range(rounds):
            batch = [(f"{turn} {key}", 0.01) for key in range(20)]
            together.wait()
            accepted += copies[number % 2].rewards(batch[::-1] if number > 1 else batch).accepted
        return accepted

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(report, range(4))) == 20 * rounds
    copies[1].close_step()
    assert copies[0].steps(count=1)[0].total == 0.2 * rounds


def test_of_two_amounts_for_one_key_one_is_refused_wherever_it_was_sent(
    replicas: tuple[Experiments, Experiments],
) -> None:
    replicas[0].create("shipping", **ASKED)
    copies, together = [replica.get("shipping") for replica in replicas], Barrier(2, timeout=60)

    def report(number: int) -> list[bool]:
        taken = []
        for turn in range(30):
            together.wait()
            try:
                taken.append(copies[number].reward(0.01 + number, f"key {turn}").accepted == 1)
            except Conflict:
                taken.append(False)
        return taken

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(report, range(2))
    assert all(a != b for a, b in zip(one, two, strict=True))


def test_no_reward_slips_past_the_end_of_its_step(replicas: tuple[Experiments, Experiments]) -> None:
    replicas[0].create("shipping", **ASKED, policy="ucb1")
    copies = [replica.get("shipping") for replica in replicas]

    def report(number: int) -> dict[int, int]:
        sums = dict[int, int]()
        for turn in range(60):
            receipt = copies[number % 2].reward(0.001, f"{number} {turn}")
            sums[receipt.step] = sums.get(receipt.step, 0) + 1
        return sums

    def close(_: int) -> dict[int, int]:
        for _ in range(40):
            copies[0].close_step()
        return {}

    with ThreadPoolExecutor(5) as pool:
        sums = list(pool.map(lambda number: (close if number == 4 else report)(number), range(5)))
    copies[1].close_step()
    for row in copies[1].steps(count=41):
        assert row.total == sum(one.get(row.step, 0) for one in sums) / 1000
    assert copies[1].verify().ok


def test_an_order_given_to_one_replica_is_followed_by_the_other(
    replicas: tuple[Experiments, Experiments], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = replicas
    one.create("hourly", **HOURLY)
    assert two["hourly"].glance() is None or two["hourly"].glance() == one["hourly"].decision()
    one["hourly"].pin("69", "a visit")
    clock.hours(1)
    assert two["hourly"].current() == one["hourly"].current() == "69"
    monkeypatch.setattr("afterglow.live.cached_state.REREAD", 0.0)
    two["hourly"].status()
    one["hourly"].stop("enough", keep="59")
    assert two["hourly"].current() == "59"
    assert two["hourly"].decision().role == "over"


def test_a_decision_is_as_old_as_what_was_read_not_as_its_arrival(
    replicas: tuple[Experiments, Experiments], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that is held up behind its reading must not show as fresh what others may have changed long ago."""
    now = [100.0]
    monkeypatch.setattr("afterglow.live.cached_state.monotonic", lambda: now[0])
    experiment = replicas[0].create("hourly", **HOURLY)
    take_time = replicas[0]._store.take_time  # type: ignore[attr-defined]

    def held_up(opened: object, after: float) -> None:
        take_time(opened, after)
        now[0] += REREAD

    experiment.status()
    assert experiment.glance() is not None
    monkeypatch.setattr(replicas[0]._store, "take_time", held_up)
    experiment.status()
    assert experiment.glance() is None


def test_both_replicas_may_create_the_tables_at_once(address: str) -> None:
    together = Barrier(4, timeout=60)

    def start(_: int) -> list[str]:
        together.wait()
        with afterglow.live.open(address) as experiments:
            return experiments.names()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start, range(4))) == [[]] * 4


def test_one_of_several_processes_leads(replicas: tuple[Experiments, Experiments]) -> None:
    one, two = (replica._store for replica in replicas)
    with one.lead("webhooks", 60) as first, two.lead("webhooks", 60) as second, two.lead("something else", 60) as other:
        assert (first, second, other) == (True, False, True)
    with two.lead("webhooks", 60) as second:
        assert second


def test_a_process_that_is_frozen_leads_no_longer_after_a_while(replicas: tuple[Experiments, Experiments]) -> None:
    one, two = (replica._store for replica in replicas)
    lead = one.lead("webhooks", 0.01)
    assert lead.__enter__()
    for _ in range(1000):
        with two.lead("webhooks", 60) as second:
            if second:
                break
        Event().wait(0.01)
    assert second
    with pytest.raises(Unavailable, match="idle-session timeout"):
        lead.__exit__(None, None, None)
    for _ in range(20):  # its connections have no limit of that kind any more
        with one.lead("webhooks", 60) as first:
            assert first
        assert one.names() == []


# Time


def test_the_time_of_the_database_decides(address: str) -> None:
    with afterglow.live.open(address) as experiments, psycopg.connect(address) as base:
        experiment = experiments.create("hourly", **HOURLY)
        (there,) = base.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone() or (0.0,)
        assert abs(experiments.now() - there) < 60
        assert abs((experiment.decision().valid_until or 0.0) - 3600 - there) < 60
        known = experiments._store.reading_of_clock  # type: ignore[attr-defined]
        early = known._replace(time=known.time + 7200.0)  # this machine's clock is two hours early
        experiments._store.reading_of_clock = early  # type: ignore[attr-defined]
        assert experiment.reward(1.0).step == 0
        assert abs(experiments.now() - time()) < 60


# Layout, reading, keys


def test_a_database_of_somebody_else_is_refused(address: str) -> None:
    with psycopg.connect(address) as base:
        base.execute("CREATE TABLE orders (id INTEGER)")
    with pytest.raises(BadDatabase, match="holds something else than Afterglow's experiments; name another database"):
        afterglow.live.open(address)
    with psycopg.connect(address) as base:
        base.execute("CREATE SCHEMA afterglow")
    with afterglow.live.open(address + "&options=-csearch_path%3Dafterglow") as experiments:
        experiments.create("shipping", **ASKED)


def test_services_in_schemas_of_one_database_each_deliver(address: str) -> None:
    with psycopg.connect(address) as base:
        base.execute("CREATE SCHEMA shop")
    with afterglow.live.open(address) as ones, afterglow.live.open(f"{address}&options=-csearch_path%3Dshop") as others:
        with ones._store.lead("webhooks", 60) as first, others._store.lead("webhooks", 60) as second:
            assert (first, second) == (True, True)
        with others._store.lead("webhooks", 60) as second:
            assert second  # it was let go


def test_a_reader_changes_nothing(address: str) -> None:
    with pytest.raises(BadDatabase, match="holds something else"):
        afterglow.live.open(address, read_only=True)
    with afterglow.live.open(address) as experiments, afterglow.live.open(address, read_only=True) as others:
        written = experiments.create("shipping", **ASKED, policy="ucb1")
        read = others.get("shipping")
        for step in range(5):
            assert read.decision() == written.decision()
            written.close_step(float(step))
        with pytest.raises(OutOfTurn, match="was opened to read only; open it without read_only"):
            read.reward(1.0)


def test_digests_and_salts_are_gone_from_the_tables_after_sealing(address: str) -> None:
    with afterglow.live.open(address) as experiments, psycopg.connect(address, autocommit=True) as base:
        experiment = experiments.create("shipping", **ASKED, remember=0)
        experiment.reward(0.5, "the key")
        ((salt,),) = base.execute("SELECT salt FROM spans").fetchall()
        ((digest,),) = base.execute("SELECT digest FROM rewards").fetchall()
        assert digest == digest_of(b"the key", salt)
        experiment.close_step()
        assert base.execute("SELECT FROM spans WHERE salt = %s", [salt]).fetchall() == []
        assert base.execute("SELECT FROM rewards").fetchall() == []
        assert experiment.steps(count=1)[0].total == 0.5


def test_long_reads_leave_connections_for_short_calls(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    with afterglow.live.open(address) as experiments:
        shop = experiments.create("shop", **ASKED)
        with ExitStack() as reads:
            for _ in range(connections.LONG):
                reads.enter_context(experiments._store.aside("shop"))
            with pytest.raises(Unavailable, match="overloaded: 8 long reads are going on, the most at once; try again"):
                experiments.verify()
            assert shop.reward(1.0, "a").accepted == 1
        assert [one.ok for one in experiments.verify()] == [True]
