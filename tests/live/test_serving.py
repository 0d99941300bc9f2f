"""What a service builds on: reports together, a glance without the database, news, and time that is kept."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadFormat, BadValue, Conflict, OutOfTurn, Unavailable, UnknownName
from afterglow.live import Experiment, Experiments, Receipt
from support.service.live_fixtures import ASKED, Clock

HOURLY: dict[str, Any] = {**ASKED, "policy": "ucb1", "step_seconds": 3600}


@pytest.fixture
def clocked(address: str, clock: Clock) -> Iterator[Experiments]:
    with afterglow.live.open(address, clock=clock) as made:
        yield made


# Locks


def test_a_list_shows_what_is_stored_while_another_call_has_the_experiment(clocked: Experiments, clock: Clock) -> None:
    """A command may take long."""
    shop, free, begun = clocked.create("shop", **HOURLY), Event(), Event()
    clock.hours(1)
    shop.reward(1.0)

    def take_long() -> None:
        with shop._cache.held():
            begun.set()
            free.wait(60)

    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(take_long)
        assert begun.wait(60)
        try:
            now = shop.listed(patience=0.0)
            assert (now.status.step, now.status.stale, now.decision.step, now.reported) == (1, False, 1, False)
            clock.hours(1)
            later = shop.listed(patience=0.0)
            assert (later.status.step, later.status.stale) == (1, True)
            with pytest.raises(Unavailable, match="'shop' is in use by another call"):
                shop.renew(patience=0.0)
        finally:
            free.set()
        busy.result()
    after = shop.listed()
    assert (after.status.step, after.status.stale, after.reported) == (2, False, True)
    assert after.status == shop.status()


# Reports


def test_of_several_reports_each_is_taken_whole_or_refused_by_itself(experiment: Experiment) -> None:
    experiment.reward(1.0, "known")
    taken = experiment.report(
        [
            [("a", 1.0), ("b", 2.0)],
            [("c", 1.0), ("known", 5.0)],
            [("d", -1.0)],
            [("a", 1.0), ("e", 0.5)],
            [("e", 0.25), ("f", 0.25)],
            [],
            [("\ud800", 1.0)],
        ]
    )
    assert [one for one in taken if isinstance(one, Receipt)] == [(0, 2, 0), (0, 1, 1), (0, 0, 0)]
    assert [type(taken[number]) for number in (1, 2, 4, 6)] == [Conflict, BadValue, Conflict, BadValue]
    assert "key 'known' came with amount 1 before, now with 5" in str(taken[1])
    experiment.close_step()
    assert experiment.steps(count=1)[0].total == 4.5


def test_a_key_that_was_refused_with_its_batch_is_free(experiment: Experiment) -> None:
    experiment.reward(1.0, "known")
    assert isinstance(experiment.report([[("new", 1.0), ("known", 2.0)]])[0], Conflict)
    assert experiment.report([[("new", 3.0)]]) == [(0, 1, 0)]


def test_reports_to_what_is_not_running_are_each_told_so(experiments: Experiments) -> None:
    draft = experiments.create("draft", **ASKED, start=False)
    assert [type(one) for one in draft.report([[("a", 1.0)], [("b", 1.0)]])] == [OutOfTurn] * 2


def test_a_batch_sent_again_counts_once_for_as_long_as_keys_are_kept(clocked: Experiments, clock: Clock) -> None:
    """For the time that is set at least, and for twice that time at most."""
    batch = [(f"key {number}", 0.01) for number in range(1500)]
    experiment = clocked.create("shipping", **ASKED, remember=3 * 3600.0)
    assert experiment.rewards(batch) == (0, 1500, 0)
    for step in range(6):
        assert experiment.rewards(batch[:700]) == (step, 0, 700)
        clock.hours(1)
        experiment.close_step()
    assert experiment.rewards(batch[:700]) == (6, 700, 0)
    forgetful = clocked.create("forgetful", **ASKED, remember=0)
    for step in range(2):
        assert forgetful.rewards(batch) == (step, 1500, 0)
        assert forgetful.rewards(batch) == (step, 0, 1500)
        forgetful.close_step()


@pytest.mark.parametrize(("seconds", "known"), [(1.0, 3600), (3600.0, 3), (86400.0, 3)])
def test_keys_are_kept_for_an_hour_or_three_steps_unless_told_otherwise(
    clocked: Experiments, clock: Clock, seconds: float, known: int
) -> None:
    experiment = clocked.create("shipping", **ASKED, step_seconds=seconds)
    experiment.reward(1.0, "first")
    for passed in (1, known - 2):
        clock.now += passed * seconds
        experiment.reward(1.0, f"at {clock.now}")
    clock.now += seconds
    assert experiment.reward(1.0, "first") == (known, 0, 1)
    for _ in range(3):  # each begins a span
        clock.now += known * seconds
        experiment.reward(1.0, f"at {clock.now}")
    with pytest.raises(Conflict, match=r"step 0 is sealed: its keys are erased") as refused:
        experiment.reward(1.0, "first", step=0)
    assert (refused.value.kind, refused.value.field) == ("sealed", "step")
    assert experiment.reward(1.0, "first", step=experiment.decision().step).accepted == 1
    assert experiment.verify().ok


def test_a_key_is_looked_up_twice_however_long_keys_are_kept(clocked: Experiments, clock: Clock) -> None:
    experiment = clocked.create("shipping", **ASKED, step_seconds=1.0, remember=86400.0)
    for _ in range(200):
        clock.now += 1000
        experiment.reward(1.0)
        with clocked._store.reading("shipping") as log:
            assert len(log.spans()) <= 2


# A glance


def test_a_glance_is_the_decision_or_nothing(clocked: Experiments, clock: Clock) -> None:
    experiment = clocked.create("hourly", **HOURLY)
    assert experiment.glance() == experiment.decision() == (0, "49", "49", "plan", 1_003_600.0, None)
    clock.hours(0.999)
    assert experiment.glance() == experiment.decision()
    clock.hours(0.001)
    assert experiment.glance() is None
    assert experiment.decision().step == 1
    assert experiment.glance() == experiment.decision()
    experiment.stop("enough")
    assert experiment.glance() == experiment.decision() == (1, "49", "49", "over", None, None)


def test_a_glance_does_not_wait_for_somebody_who_writes(clocked: Experiments) -> None:
    experiment = clocked.create("hourly", **HOURLY)
    shown, inside, go_on = experiment.decision(), Event(), Event()

    def hold() -> None:
        with experiment._cache.writing():
            inside.set()
            assert go_on.wait(30)

    writer = Thread(target=hold)
    writer.start()
    assert inside.wait(30)
    assert experiment.glance() == shown == experiment.decision()
    go_on.set()
    writer.join()


def test_a_glance_survives_orders_that_are_refused(clocked: Experiments) -> None:
    experiment = clocked.create("hourly", **HOURLY)
    shown = experiment.glance()
    with pytest.raises(UnknownName):
        experiment.pin("79", "a slip of the pen")
    with pytest.raises(BadValue):
        experiment.reward(-1.0)
    assert experiment.glance() == shown is not None


def test_after_a_change_that_failed_nothing_is_shown_that_is_not_in_the_log(
    clocked: Experiments, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = clocked.create("hourly", **HOURLY)
    clock.hours(1)
    with monkeypatch.context() as patch:
        patch.setattr("afterglow.live.follower.write", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            experiment.current()
    assert experiment.glance() is None
    assert experiment.decision().step == 1
    assert experiment.verify().ok


# Time


def test_a_tick_closes_what_has_ended_in_every_experiment(clocked: Experiments, clock: Clock) -> None:
    clocked.create("hourly", **HOURLY)
    clocked.create("daily", **{**HOURLY, "step_seconds": 86400})
    clocked.create("by-hand", **ASKED)
    clocked.create("draft", **HOURLY, start=False)
    assert clocked.next_boundary() == clock.now + 3600
    clock.hours(1)
    assert clocked.tick() == {}
    assert [one.decision().step for one in clocked] == [1, 0, 0, 0]
    assert clocked.next_boundary() == clock.now + 3600
    clocked["hourly"].stop("enough")
    assert clocked.next_boundary() == clock.now + 23 * 3600


def test_nothing_is_due_where_no_clock_runs(clocked: Experiments) -> None:
    clocked.create("by-hand", **ASKED)
    assert clocked.tick() == {}
    assert clocked.next_boundary() is None


def test_an_experiment_that_can_t_go_on_does_not_stop_the_others(
    address: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with afterglow.live.open(address, clock=clock) as experiments:
        experiments.create("old", **{**HOURLY, "policy": "trim-ucb"})
        experiments.create("hourly", **HOURLY)
    from dataclasses import replace

    from afterglow.policies import registry

    newer = {"trim-ucb": replace(registry.named("trim-ucb"), version=99), "ucb1": registry.named("ucb1")}
    monkeypatch.setattr("afterglow.live.domain.spec.version_of", lambda name, version: newer[name])
    clock.hours(1)
    with afterglow.live.open(address, clock=clock) as experiments:
        wrong = experiments.tick()
        assert wrong.keys() == {"old"}
        assert isinstance(wrong["old"], BadFormat)
        assert experiments["hourly"].decision().step == 1


# News


def test_changes_are_all_records_since_in_order(clocked: Experiments, clock: Clock) -> None:
    for name in ("one", "two"):
        clocked.create(name, **HOURLY)
    places = dict.fromkeys(("one", "two"), -1)
    seen = list[tuple[str, int]]()
    for _ in range(4):
        clock.hours(1)
        clocked["two"].pin("59", "a visit")
        clocked.tick()
        clocked["two"].unpin("gone")
    while news := clocked.changes(places, count=3):
        assert len(news) <= 3
        for name, one in news:
            assert one.seq == places[name] + 1
            places[name] = one.seq
            seen.append((name, one.seq))
    assert places == clocked.heads() == {"one": 6, "two": 14}  # with the notice that nothing is reported
    assert [name for name, _ in clocked.changes({}, only=["one"])] == ["one"] * 7
    times = [one.at for _, one in clocked.changes({})]
    assert times == sorted(times)


def test_who_waits_is_told_of_what_is_appended(clocked: Experiments) -> None:
    experiment = clocked.create("by-hand", **ASKED)
    assert not clocked.wait(0.0)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(3):
            waiting = pool.submit(clocked.wait, 30.0)
            while not waiting.done():
                experiment.close_step(1.0)
            assert waiting.result()


def test_readers_hear_of_what_others_append(
    address: str, clocked: Experiments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.live.experiments.POLL", 0.01)
    experiment = clocked.create("by-hand", **ASKED)
    with afterglow.live.open(address, read_only=True) as others, ThreadPoolExecutor(1) as pool:
        assert not others.wait(0.02)
        waiting = pool.submit(others.wait, 30.0)
        while not waiting.done():
            experiment.close_step(1.0)
        assert waiting.result()
