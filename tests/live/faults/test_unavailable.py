"""A PostgreSQL that goes away, cuts its connections, doesn't answer or was never there."""

import os
import signal
from collections.abc import Callable, Iterator
from statistics import median
from time import monotonic

import psycopg
import pytest

import afterglow
from afterglow.errors import BadValue, Unavailable
from support.service.live_fixtures import ASKED, Clock
from testbed.postgres import Server, server

HOURLY = {**ASKED, "policy": "ucb1", "step_seconds": 3600}


@pytest.fixture
def address() -> Iterator[str]:
    made = server().fresh()
    yield made
    server().drop(made)


def test_a_database_that_is_away_is_said_to_be_at_once_and_found_when_it_is_back(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.live.cached_state.REREAD", 0.0)
    other = Server()
    try:
        with afterglow.live.open(other.fresh(), clock=clock) as experiments:
            experiment = experiments.create("hourly", **HOURLY)
            assert experiment.reward(1.0, "before").accepted == 1
            shown = experiment.decision()
            ended = experiments.create("ended", **HOURLY)
            ended.stop("enough", keep="59")
            other.stop()
            took = list[float]()
            for _ in range(5):
                began = monotonic()
                with pytest.raises(Unavailable, match=r"can't be used now: .*; nothing was acknowledged"):
                    experiment.reward(2.0, "meanwhile")
                took.append(monotonic() - began)
            assert median(took) < 2  # whatever holds up the machine itself
            assert experiment.glance() in (shown, None)
            assert ended.current() == "59"  # what is over is served all the same
            clock.hours(1)
            with pytest.raises(Unavailable):
                experiment.current()
            clock.hours(-1)
            other.start()
            wait_for(lambda: experiment.reward(1.0, "before").duplicates == 1)
            assert experiment.reward(2.0, "meanwhile").accepted == 1
            clock.hours(1)
            assert experiment.decision().step == 1
            assert experiment.steps(count=1)[0].total == 3.0
            assert experiment.verify().ok
    finally:
        other.remove()


def wait_for(done: Callable[[], bool]) -> None:
    """Try again until the database is back; the pool itself says how soon that makes sense."""
    deadline = monotonic() + 60
    while True:
        try:
            assert done()
            return
        except Unavailable:
            assert monotonic() < deadline


def test_connections_that_were_cut_are_replaced_without_a_word(address: str) -> None:
    with afterglow.live.open(address) as experiments, psycopg.connect(address, autocommit=True) as base:
        experiment = experiments.create("shipping", **ASKED)
        for _ in range(3):
            base.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'afterglow'"
            )
            assert experiment.reward(1.0).accepted == 1


def test_a_server_that_does_not_answer_is_not_waited_for_for_ever(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with afterglow.live.open(address) as experiments, psycopg.connect(address) as base:
        experiment = experiments.create("shipping", **ASKED)
        found = base.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'afterglow'").fetchall()
        try:
            for (pid,) in found:
                os.kill(pid, signal.SIGSTOP)
            with monkeypatch.context() as patch:
                patch.setattr("afterglow.live.store.deadline.LIMIT", 0.3)
                with pytest.raises(Unavailable, match=r"can't be used now: no answer within 0.3 s; nothing was ack"):
                    experiment.reward(1.0, "asked in vain")
            assert experiment.reward(1.0, "asked in vain").accepted == 1
        finally:
            for (pid,) in found:
                os.kill(pid, signal.SIGCONT)
        experiment.close_step()
        assert experiment.steps(count=1)[0].total == 1.0


def test_a_server_that_was_never_there_is_unavailable_and_its_password_is_not_shown() -> None:
    with pytest.raises(Unavailable) as said:
        afterglow.live.open("postgresql://shop:secret@127.0.0.1:9/experiments?sslmode=disable")
    assert "postgresql://shop@127.0.0.1:9/experiments?sslmode=disable can't be used now" in str(said.value)
    assert "secret" not in str(said.value)


def test_an_address_that_can_t_be_read_is_refused() -> None:
    with pytest.raises(BadValue, match="can't be read as an address"):
        afterglow.live.open("postgresql://host/db?no_such_setting=1")
