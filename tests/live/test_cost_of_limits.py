"""At every allowed limit, no call of one experiment delays another experiment by more than a quarter of a second."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from time import monotonic, perf_counter, process_time
from typing import Any

import pytest

import afterglow
from afterglow.errors import AfterglowError
from afterglow.estimation.guards import Excess, GuardCase
from afterglow.live import Experiment, Experiments
from afterglow.live.cached_state import CachedState
from afterglow.live.domain import limits
from afterglow.live.domain.log import NOTHING, Record, chained
from afterglow.live.domain.spec import specify
from afterglow.live.follower import MANY as AT_ONCE
from afterglow.live.follower import FarBehind, Follower
from afterglow.live.store import access
from afterglow.live.store.access import HookRow, TokenRow
from afterglow.live.verify import Audit
from support.service.live_fixtures import Clock
from testbed.quick_disk import quick_folder
from testbed.service import START

MOST = 0.25  # seconds
TRIES = 3  # the machine itself may hold a call up
WEEK = 7 * 86400
THOUSANDS = 10_000  # experiments; to open them takes many times MOST
ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 4, "reward_max": 10.0, "policy": "ucb1"}
MANY = [f"variant {number}" for number in range(limits.VARIANTS)]


@pytest.fixture
def quick(clock: Clock) -> Iterator[tuple[Experiments, Path]]:
    with quick_folder() as folder:
        path = Path(folder) / "experiments.db"
        with afterglow.live.open(path, clock=clock) as experiments:
            yield experiments, path


def slowest(call: Callable[[], Any], other: Callable[[], Any]) -> float:
    """The longest that another call took while this one ran, in seconds in which this process computed.

    Nothing here waits for a disk or a network, so whatever delays a call computes; other processes don't count."""
    done, worst = Event(), 0.0

    def run() -> None:
        try:
            call()
        finally:
            done.set()

    thread = Thread(target=run)
    thread.start()
    end = monotonic() + 60
    while not done.is_set() and monotonic() < end:
        began, computed = perf_counter(), process_time()
        other()
        worst = max(worst, min(perf_counter() - began, process_time() - computed))
        done.wait(0.01)
    thread.join()
    return worst


def rewards(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED, step_seconds=1.0, remember=float(limits.REMEMBER))
    for _ in range(200):
        clock.now += 1
        heavy.reward(1.0)
    numbers = iter(range(10**9))
    return lambda: heavy.rewards([(f"key {next(numbers)}", 1.0) for _ in range(1000)])


def variants(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED | {"variants": MANY, "window": 1})

    def play() -> None:
        for _ in range(20):
            heavy.close_step(1.0)
        heavy.decision()

    return play


def window(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED | {"window": limits.WINDOW, "reward_max": 1.0})

    def play() -> None:
        for _ in range(20):
            heavy.close_step(1.0)
        heavy.status()

    return play


def a_week_away(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED, step_seconds=1.0)

    def away() -> None:
        clock.now += WEEK
        assert not experiments.tick()
        assert heavy.decision().step >= WEEK
        heavy.steps(WEEK // 2, 1000)

    return away


def every_call(heavy: Experiment) -> Callable[[], Any]:
    """All that reads an experiment, and the commands that play its log again."""

    def call() -> None:
        heavy.status()
        heavy.estimates()
        heavy.lifts()
        heavy.summary()
        heavy.verdicts(10)
        heavy.explain(5)
        heavy.steps()
        heavy.events()
        heavy.cost_of_void(1, 3)
        assert heavy.verify().ok

    return call


def readers_of_many_variants(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED | {"variants": MANY, "window": 1})
    for _ in range(20):
        heavy.close_step(1.0)
    return every_call(heavy)


def readers_of_many_steps(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED | {"horizon": limits.HORIZON})
    for number in range(3000):
        heavy.close_step(1.0 + number % 3)
    return every_call(heavy)


def readers_of_many_units(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    names = [f"unit {number}" for number in range(limits.UNITS)]
    asked: dict[str, Any] = {"variants": MANY[: limits.VARIANTS_OF_UNITS], "units": names, "window": 1, "horizon": 999}
    heavy = experiments.create("heavy", **asked)
    for number in range(8):
        heavy.close_step({name: 100.0 + (place + number) % 7 for place, name in enumerate(names)})

    def call() -> None:
        assert heavy.status().verdict.chances
        heavy.differences()
        heavy.lifts()
        heavy.verdicts(4)
        heavy.explain(5, names[7])
        heavy.steps()
        heavy.cost_of_void(1, 3)
        assert heavy.verify().ok

    return call


def readers_of_many_guards(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    names = [f"guard {number}" for number in range(limits.GUARDS)]
    asked = ASKED | {"variants": MANY[: limits.GUARDED // limits.GUARDS], "window": 1}
    heavy = experiments.create("heavy", **asked, guards={name: {"at_most": "+10%"} for name in names})

    def play(steps: int) -> None:
        for number in range(steps):
            heavy.close_step(1.0, metrics={name: 1.0 + (7 * number + place) % 5 for place, name in enumerate(names)})

    play(150)

    def call() -> None:
        play(1)  # what was read before is not read again
        assert {one.state for one in heavy.guards()} == {"watching"}

    return call


def commands(experiments: Experiments, clock: Clock) -> Callable[[], Any]:
    heavy = experiments.create("heavy", **ASKED | {"variants": MANY[:50], "window": 24})
    for number in range(1500):
        heavy.close_step(1.0 + number % 3)
    voided = iter(range(0, 1400, 10))

    def give() -> None:
        heavy.pin(MANY[3], "at a limit")
        heavy.unpin("at a limit")
        heavy.disable(MANY[5], "at a limit")
        heavy.enable(MANY[5], "at a limit")
        first = next(voided)
        heavy.void(first, "at a limit", last=first + 5)

    return give


CALLS: dict[str, Callable[[Experiments, Clock], Callable[[], Any]]] = {
    "a thousand rewards, keys kept for a year": rewards,
    "a thousand variants": variants,
    "a window of a million steps": window,
    "a week away at steps of a second": a_week_away,
    "everything that reads a thousand variants": readers_of_many_variants,
    "everything that reads three thousand steps": readers_of_many_steps,
    "everything that reads two hundred units of twenty variants": readers_of_many_units,
    "everything that reads four hundred guards and variants": readers_of_many_guards,
    "commands, and a late void that plays the log again": commands,
}


@pytest.mark.parametrize("limit", CALLS)
def test_a_call_at_a_limit_holds_no_other_experiment_up(
    quick: tuple[Experiments, Path], clock: Clock, limit: str
) -> None:
    experiments, _ = quick
    light = experiments.create("light", **ASKED)
    call = CALLS[limit](experiments, clock)
    call()  # compiled and cached parts are not what is measured
    assert any(slowest(call, lambda: light.reward(1.0)) < MOST for _ in range(TRIES))


def test_long_logs_are_replayed_where_no_other_experiment_waits(
    quick: tuple[Experiments, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the lock of the store replays a few records at most: with many variants or units each takes long."""
    experiments, _ = quick
    heavy = experiments.create("heavy", **ASKED)
    for _ in range(300):
        heavy.close_step(1.0)
    store: Any = experiments._store
    waiting = list[bool]()  # of each record that is replayed, whether others wait
    take = Follower.take

    def noted(self: Follower, record: Record) -> None:
        waiting.append(store.turn._is_owned())
        take(self, record)

    monkeypatch.setattr(Follower, "take", noted)
    del experiments._open["heavy"]
    heavy = experiments["heavy"]
    heavy.explain(299)
    heavy.events()
    heavy.steps()
    assert len(waiting) > 600
    assert sum(waiting) <= AT_ONCE
    with monkeypatch.context() as patch:
        patch.setattr(Audit, "replay", lambda *given: waiting.append(store.turn._is_owned()))
        waiting.clear()
        heavy.verify()
    assert waiting
    assert not any(waiting)


def test_guards_are_read_once_after_each_record(
    quick: tuple[Experiments, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hundred guards and variants take more than a second."""
    experiments, _ = quick
    heavy = experiments.create("heavy", **ASKED, guards={"complaints": {"at_most": "+10%"}})
    read, excess = list[int](), GuardCase.excess

    def noted(self: GuardCase, arm: int) -> Excess:
        read.append(arm)
        return excess(self, arm)

    monkeypatch.setattr(GuardCase, "excess", noted)
    for _ in range(3):
        assert [one.variant for one in heavy.guards()] == [one.variant for one in heavy.status().guards] == ["59"]
    assert read == [1]
    heavy.close_step(1.0, metrics={"complaints": 1.0})
    assert len(heavy.status(recent=60.0).guards) == 1
    assert read == [1]
    assert len(heavy.guards()) == 1
    assert read == [1, 1]


def test_an_experiment_that_takes_long_to_open_holds_no_other_up(
    quick: tuple[Experiments, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments, _ = quick
    for name in ("heavy", "light"):
        experiments.create(name, **ASKED)
    experiments._open.clear()
    begun, free, read = Event(), Event(), Follower.follow

    def slow(self: Follower, log: Any, most: int) -> None:
        if self.name == "heavy" and not begun.is_set():
            begun.set()
            raise FarBehind
        read(self, log, most)

    monkeypatch.setattr(Follower, "follow", slow)
    monkeypatch.setattr(CachedState, "read_aside", lambda self: free.wait(START))
    thread = Thread(target=lambda: experiments.get("heavy"))
    thread.start()
    assert begun.wait(START)
    try:
        assert experiments["light"].current() == "49"
    finally:
        free.set()
        thread.join()
    assert experiments["heavy"].current() == "49"


def fill(path: Path, count: int, starts: int) -> None:
    """So many experiments that were created and not started, and one that can't be read."""
    spec = specify(name="x", **ASKED)
    with closing(access(path)) as desk, desk.session(change=True) as session:
        for number in range(count):
            body = replace(spec, name=f"e{number}").text()
            mark = chained(NOTHING, 0, starts, "create", body)
            session.run("INSERT INTO experiments (id, name) VALUES (?, ?)", 1000 + number, f"e{number}")
            session.run("INSERT INTO events VALUES (?, 0, ?, 'create', ?, ?)", 1000 + number, starts, body, mark)
        session.run("UPDATE events SET body = '{' WHERE experiment = 1000")


def test_thousands_of_experiments_cost_nothing_while_nothing_happens_and_hold_no_other_up(
    quick: tuple[Experiments, Path], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments, path = quick
    light = experiments.create("light", **ASKED, step_seconds=1.0)
    fill(path, THOUSANDS, round(1000 * clock.now))

    def open_all() -> None:
        while len(experiments._open) < THOUSANDS:
            experiments.tick(0.05)

    assert slowest(open_all, light.decision) < MOST
    now = monotonic()
    monkeypatch.setattr("afterglow.live.schedule.monotonic", lambda: now)  # e0, which fails, is not due again
    assert list(experiments.tick()) == ["e0"]
    assert len(experiments.places()) == THOUSANDS + 1
    queries = list[str]()
    base: Any = experiments._store
    base.base.set_trace_callback(queries.append)
    for _ in range(100):
        experiments.tick()
        experiments.places(1.0)
    assert queries == []  # also those of the one that fails
    clock.now += 1
    experiments.tick()
    assert light.decision().step == 1
    assert len(queries) < 30
    queries.clear()
    assert [name for name, _ in experiments.changes({"light": 0}, 10, ["light"])] == ["light", "light"]
    assert not [one for one in queries if "LEFT JOIN" in one]  # it looks at no other experiment


def test_an_experiment_that_fails_is_tried_less_and_less_often(
    quick: tuple[Experiments, Path], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments, _ = quick
    failing = experiments.create("failing", **ASKED, step_seconds=1.0)
    experiments.create("light", **ASKED, step_seconds=1.0)
    tries = list[float]()
    time = [1000.0]

    def fail(patience: float) -> None:
        tries.append(time[0])
        raise AfterglowError("it can't go on")

    monkeypatch.setattr(failing, "renew", fail)
    monkeypatch.setattr("afterglow.live.schedule.monotonic", lambda: time[0])
    for _ in range(3000):
        time[0] += 0.1
        clock.now += 0.1
        assert list(experiments.tick()) == (["failing"] if tries else [])
    pauses = [round(later - earlier) for earlier, later in pairwise(tries)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert experiments["light"].decision().step == 300
    assert (experiments.next_boundary() or 0.0) > clock.now  # not the time at which the other one should have gone on


def test_tokens_sessions_and_webhooks_at_their_limits_are_read_only_when_they_change(
    quick: tuple[Experiments, Path],
) -> None:
    experiments, path = quick
    light = experiments.create("light", **ASKED)
    with closing(access(path)) as desk:
        for number in range(50):
            desk.put_hook(HookRow(f"h{number}", "https://shop.example/", "secret", None, None, 1))
        for number in range(60):
            session = TokenRow(f"token-{number:03d}", "dashboard", b"", "read", None, number, 10**15)
            desk.put_session(session, now=number, most=20)
        assert [row.id for row in desk.tokens()] == [f"token-{number:03d}" for number in range(40, 60)]
        version = desk.tokens_version()
        assert desk.tokens_version() == version
        desk.revoke_token("token-050", 5)
        assert desk.tokens_version() != version
        assert slowest(lambda: [desk.tokens_version() for _ in range(200)], lambda: light.reward(1.0)) < MOST
