"""The current state of an experiment in memory, kept up to date with its log and its schedule.

Every change is a record that is durable before the call returns; if that fails, the copy is read again. It is also read
again, with an error in the log, if the database has lost or replaced records that this process has seen: a standby was
promoted, or a backup restored. That is checked by sequence and hash inside every transaction, so nothing is appended to
a log that this process does not know.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import inf
from threading import RLock
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from afterglow.errors import BadDatabase, Unavailable
from afterglow.live.bystander import Bystander
from afterglow.live.change_signal import ChangeSignal
from afterglow.live.clock_watch import ClockWatch
from afterglow.live.damaged_rows import naming_damaged_rows
from afterglow.live.domain import clock, schedule_events
from afterglow.live.domain.clock import Times
from afterglow.live.domain.commands import Event, Reported
from afterglow.live.domain.decision import Decision, end_of
from afterglow.live.domain.log import Place
from afterglow.live.domain.notices import following
from afterglow.live.domain.rules import rules_of
from afterglow.live.domain.spec import Spec
from afterglow.live.follower import ACCEPT, ALL, MANY, Diverged, FarBehind, Follower
from afterglow.live.store.contract import Busy, Reading, Store, Writing

LOG = logging.getLogger("afterglow.live")
NEVER = -1
TRIES = 3  # of a transaction whose log is not the one that was followed
REREAD = 1.0  # seconds for which a decision is used without a read, where other processes may change it


Begun = TypeVar("Begun", bound=Reading)


class Stored(NamedTuple):
    """A state that can be read without waiting for a lock."""

    spec: Spec
    state: Any
    mark: tuple[int, bytes]  # seq and hash of its last record
    stale: bool  # a step has ended, and could not be closed


class Shown(NamedTuple):
    """Decisions that can be returned without the database."""

    decisions: Mapping[str | None, Decision]  # by unit; one of None, where there are no units
    ends: float  # of the schedule, in milliseconds
    stale: float  # when others may have changed it, by the monotonic clock


class CachedState:
    """The state of one experiment, kept up with its log and the clock; `Experiment` reads and writes through it."""

    def __init__(self, store: Store, name: str, watch: ClockWatch, signal: ChangeSignal) -> None:
        self.name = name
        self.store = store
        self.watch = watch
        self.clock = watch.clock
        self.signal = signal
        self.lock = RLock()
        self.bystander = Bystander(store, name)
        self.copy = Follower(name)
        self.untidy = False
        self.since = 0.0  # when the last transaction began
        self.shown: Shown | None = None
        self.last: Mapping[str | None, Decision] = {}  # the last that were shown, which may be out of date
        self.known_at = 0.0  # when it was right for the last time, by the monotonic clock
        self.ends: float | None = None  # when the current step ends on its schedule, if known
        with self.reading():
            pass

    @property
    def spec(self) -> Spec:
        return self.copy.spec

    @property
    def mark(self) -> tuple[int, bytes]:
        """Seq and hash of the last record that the state has."""
        return self.copy.seq, self.copy.hash

    def glance(self, unit: str | None = None) -> Decision | None:
        """The decision from memory, without the database and without waiting; None if it is not known."""
        shown = self.shown
        if shown is None or self.clock_ms() >= shown.ends or (shown.stale < inf and monotonic() >= shown.stale):
            return None
        return shown.decisions.get(unit)

    def age(self) -> float:
        """For how many seconds other processes may have changed the decision in memory."""
        return 0.0 if self.store.alone else max(0.0, monotonic() - self.known_at)

    @contextmanager
    def current(self, patience: float = inf) -> Iterator[Any]:
        """The current state; `Busy` if others have a lock that it needs for longer than `patience` seconds."""
        with self.held(patience):
            if self.copy.seq < 0 or not self.store.alone:
                with self.reading():
                    pass
            if not self.store.read_only and self.due():
                with self.writing(patience) as log:
                    self.catch_up(log)
            yield self.copy.state

    @contextmanager
    def held(self, patience: float = inf) -> Iterator[None]:
        """The lock of this object."""
        if not self.lock.acquire(timeout=-1 if patience == inf else patience):
            raise Busy(f"{self.name!r} is in use by another call; try again")
        try:
            yield
        finally:
            self.lock.release()

    @contextmanager
    def standing(self, patience: float) -> Iterator[Stored]:
        """The current state, or as much of it as is stored if others have a lock for longer than `patience` seconds."""
        if self.lock.acquire(timeout=patience):
            try:
                stale = self.falls_behind(patience)
                yield Stored(self.spec, self.copy.state, self.mark, stale)
            finally:
                self.lock.release()
        else:
            with self.bystander.following() as copy:
                yield Stored(copy.spec, copy.state, (copy.seq, copy.hash), self.due(copy))

    def falls_behind(self, patience: float) -> bool:
        """Bring the state up to date; whether a step has ended that can't be closed, since others have the lock."""
        try:
            with self.current(patience):
                self.bystander.forget()
        except Busy:
            return self.due()
        return False

    def show(self, since: float) -> None:
        """Publish the decision, for `glance`; others may have changed it `since`, by the monotonic clock."""
        if self.copy.seq < 0:
            raise BadDatabase(f"the log of {self.name} has no records, not even its creation; go back to a backup")
        spec, state = self.copy.spec, self.copy.state
        decisions = rules_of(spec).decisions(spec, state)
        self.last, self.known_at = decisions, since
        self.ends = end_of(spec, state)
        if self.ends is None:
            self.signal.ends.pop(self.name, None)
        else:
            self.signal.ends[self.name] = self.ends
        ends = inf if self.ends is None else round(1000 * self.ends)
        if state.held is None:
            self.signal.held.pop(self.name, None)
        elif self.signal.held.setdefault(self.name) is None:
            self.shown = Shown(decisions, inf, since + REREAD)  # the clock may be right again
            return
        if self.store.alone:
            self.shown = Shown(decisions, ends, inf)
        elif state.phase == "over" or (spec.step_ms and state.phase != "draft"):
            self.shown = Shown(decisions, ends, since + REREAD)
        else:
            self.shown = None

    def confirm(self, head: Place, since: float) -> bool:
        """Whether the state in memory ends with this record, which the database had `since`; without waiting.

        If it does, the decision stays valid for another while. True also if it is being used, and so is read anyway.
        """
        if not self.lock.acquire(blocking=False):
            return True
        try:
            same = self.mark == (head.seq, head.hash)
            if same:
                self.known_at = max(self.known_at, since)
            if same and self.shown is not None and self.shown.stale < inf:
                self.shown = self.shown._replace(stale=max(self.shown.stale, since + REREAD))
            return same
        finally:
            self.lock.release()

    def released(self) -> bool:
        """Whether a step that is held can go on by itself; without waiting."""
        if not self.lock.acquire(blocking=False):
            return False
        try:
            return self.due()
        finally:
            self.lock.release()

    def clock_ms(self) -> int:
        return round(1000 * self.clock())

    def times(self, latest: int | None = None) -> Times:
        """What is known of the time; the clock is believed again if the latest record has its time."""
        times = self.watch.times()
        if clock.confirmed(self.copy.latest if latest is None else latest, times):
            self.watch.believe()
            times = self.watch.times()
        return times

    def now(self) -> int:
        """Milliseconds since 1970, never fewer than before: the time of the next record."""
        return clock.record_time(self.copy.state, self.copy.latest, self.times())

    def due(self, copy: Follower | None = None) -> bool:
        """Whether a step has ended, or is to be held or released because of the clock."""
        copy = copy or self.copy
        if copy.seq < 0 or not copy.spec.step_ms:
            return False
        spec, state, times = copy.spec, copy.state, self.times(copy.latest)
        if state.held is not None:
            return clock.right_again(state, times)
        expected = clock.contradicted(spec, state, copy.latest, times)
        return expected is not None or schedule_events.due(spec, state, times.now)

    def catch_up(self, log: Writing) -> None:
        """Start a scheduled experiment, close the steps that have ended on their schedule; hold one or let it go on."""
        if not self.due():
            return
        spec, state, times = self.spec, self.copy.state, self.times()
        if state.held is not None:
            self.append(log, [schedule_events.release(spec, state, times.clock)], times.clock)
            times = self.times()
        elif (expected := clock.contradicted(spec, state, self.copy.latest, times)) is not None:
            LOG.error(
                "the clock of %r has jumped by %.3f seconds: its step %d is held until the clock is right again, or "
                "until accept_clock",
                self.name, (times.clock - expected) / 1000, state.step,
            )  # fmt: skip
            self.append(log, [schedule_events.hold(state, times.clock, expected)], expected)
        if schedule_events.due(spec, state, times.now):
            reported, close = Reported.of(log.reported(state.step)), rules_of(spec).close
            self.append(log, schedule_events.passed(spec, state, times.now, reported, close))

    def append(self, log: Writing, events: list[Event], at: int | None = None) -> None:
        """Append events, what guards make of them, and notices that follow; `at` is their time, if it is not now."""
        rules, guarded, phase = self.copy.rules, bool(self.copy.spec.guards), self.copy.state.phase
        before = rules.counted(self.copy.spec, self.copy.state) if guarded else None
        if events and events[0].kind == ACCEPT:
            at = events[0].body["clock"]  # even if it is earlier than the last record
            self.watch.believe()
        else:
            at = self.now() if at is None else max(at, self.copy.latest)
        self.untidy |= self.copy.happen(log, at, events)
        if guarded and events:
            for event in rules.guard_events(self.copy.spec, self.copy.state, before, events):
                self.untidy |= self.copy.happen(log, self.now(), [event])
        if events and (told := following(self.copy.spec, self.copy.state, phase)):
            self.untidy |= self.copy.happen(log, self.now(), told)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        with self.lock:
            since = monotonic()  # before the read begins
            with ExitStack() as stack:
                log = self.enter(stack, self.store.reading)
                self.show(since)
                yield log

    @contextmanager
    def aside(self) -> Iterator[Reading]:
        """The log, as far as the current state has it; other experiments don't wait."""
        with self.current(), self.store.aside(self.name) as log, naming_damaged_rows(self.name):
            yield log

    def enter(self, stack: ExitStack, begin: Callable[[str], AbstractContextManager[Begun]]) -> Begun:
        """Begin a transaction and follow the log; begin again if it is not the log that was followed before."""
        known, most = self.copy.seq, MANY
        for _ in range(TRIES):
            with ExitStack() as attempt:
                log = attempt.enter_context(begin(self.name))
                self.since = monotonic()  # others wait from now on
                try:
                    self.copy.follow(log, most)
                except Diverged as diverged:
                    self.start_again(diverged)
                    continue
                except FarBehind:
                    attempt.close()
                    self.read_aside()
                    most = ALL
                    continue
                if 0 <= known < self.copy.accepted:
                    self.watch.believe()
                stack.enter_context(attempt.pop_all())
                return log
        raise Unavailable(f"the log of {self.name!r} is being replaced; try again")

    def read_aside(self) -> None:
        """Read most of the log where nobody waits for it, so that the transaction has little to read."""
        try:
            with self.store.aside(self.name) as log:
                self.copy.follow(log)
        except Diverged as diverged:
            self.start_again(diverged)

    def start_again(self, diverged: Diverged) -> None:
        """Forget what the log no longer has, and say so."""
        known, head = diverged.known, diverged.head
        LOG.error(
            "the log of %r has lost records: this process has seen record %d, the database now ends with record %d or "
            "has another record in its place; a standby was promoted or a backup restored. Calls acknowledged since "
            "then are lost. The experiment goes on from what the database has",
            self.name, known.seq, head.seq,
        )  # fmt: skip
        self.shown, self.ends, self.last = None, None, {}
        self.copy.forget()
        self.store.forget_numbers()
        for tell in self.signal.rewound:
            tell(self.name)

    def writing(self, patience: float = inf) -> AbstractContextManager[Writing]:
        return self.changing(lambda name: self.store.writing(name, patience))

    @contextmanager
    def changing(self, begin: Callable[[str], AbstractContextManager[Writing]]) -> Iterator[Writing]:
        with self.lock:
            before = NEVER
            try:
                with ExitStack() as stack:
                    log = self.enter(stack, begin)
                    before = self.copy.seq
                    yield log
            except BaseException:
                if self.copy.dirty:
                    self.shown = None
                    self.copy.forget()
                elif before > NEVER:  # what was read is valid
                    self.show(self.since)
                raise
            self.copy.dirty = False
            self.show(self.since)
            if self.copy.seq != before:
                self.signal.notify()
            if self.untidy:
                self.untidy = not self.store.tidy()
