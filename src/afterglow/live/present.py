"""An experiment's state now: a copy in memory of what the log says, and how it is kept up with the log and the clock.

Every change is a record that is durable before the call returns; if that fails, the copy is thrown away and read
again.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import inf
from threading import RLock
from time import monotonic
from typing import NamedTuple

from afterglow.live import orders
from afterglow.live.decision import Decision, decided
from afterglow.live.history import Follower
from afterglow.live.news import News
from afterglow.live.orders import Event, Reported
from afterglow.live.spec import Spec
from afterglow.live.state import State
from afterglow.live.store.contract import Reading, Store, Writing

NEVER = -1
REREAD = 1.0  # seconds for which a decision is taken as it is where others may change it


class Shown(NamedTuple):
    """A decision that can be given without asking the database."""

    decision: Decision
    ends: float  # by the clock, in milliseconds
    stale: float  # when others may have changed it, by the monotonic clock


class Present:
    """What `Experiment` stands on."""

    def __init__(self, store: Store, name: str, clock: Callable[[], float], news: News) -> None:
        self.name = name
        self._store = store
        self._clock = clock
        self._news = news
        self._turn = RLock()
        self._copy = Follower(name)
        self._tidy = False
        self._shown: Shown | None = None
        self._boundary: float | None = None
        with self._reading():
            pass

    @property
    def spec(self) -> Spec:
        return self._copy.spec

    def glance(self) -> Decision | None:
        """The decision, if it is known without the database and without waiting for anybody."""
        shown = self._shown
        if shown is None or self._now_ms() >= shown.ends or (shown.stale < inf and monotonic() >= shown.stale):
            return None
        return shown.decision

    def boundary(self) -> float | None:
        """When the step in hand ends by the clock, as far as is known without the database."""
        return self._boundary

    @contextmanager
    def _present(self) -> Iterator[State]:
        """The state now, by the clock."""
        with self._turn:
            if self._copy.seq < 0 or not self._store.alone:
                with self._reading():
                    pass
            if not self._store.read_only and self._due():
                with self._writing() as log:
                    self._catch_up(log)
            yield self._copy.state

    def _show(self, since: float) -> None:
        """Publish the decision, for `glance`; others may have changed it `since`, by the monotonic clock."""
        spec, state = self._copy.spec, self._copy.state
        decision = decided(spec, state)
        self._boundary = decision.valid_until
        ends = inf if self._boundary is None else round(1000 * self._boundary)
        if self._store.alone:
            self._shown = Shown(decision, ends, inf)
        elif state.phase == "over" or (spec.step_ms and state.phase != "draft"):
            self._shown = Shown(decision, ends, since + REREAD)
        else:
            self._shown = None

    def _now_ms(self) -> int:
        return round(1000 * self._clock())

    def _now(self) -> int:
        """Milliseconds since 1970, never fewer than before."""
        return max(self._now_ms(), self._copy.latest)

    def _due(self) -> bool:
        copy = self._copy
        return copy.seq >= 0 and orders.due(copy.spec, copy.state, self._now())

    def _catch_up(self, log: Writing) -> None:
        """Start what is scheduled, close the steps that have ended by the clock."""
        if self._due():
            spec, state = self.spec, self._copy.state
            self._happen(log, orders.passed(spec, state, self._now(), Reported(*log.reported(state.step))))

    def _happen(self, log: Writing, events: list[Event]) -> None:
        self._tidy |= self._copy.happen(log, self._now(), events)

    @contextmanager
    def _reading(self) -> Iterator[Reading]:
        with self._turn:
            since = monotonic()  # before what is read was true, however long it takes to arrive
            with self._store.reading(self.name) as log:
                self._copy.follow(log)
                self._show(since)
                yield log

    def _writing(self) -> AbstractContextManager[Writing]:
        return self._changing(self._store.writing)

    @contextmanager
    def _changing(self, begin: Callable[[str], AbstractContextManager[Writing]]) -> Iterator[Writing]:
        with self._turn:
            before, since = NEVER, 0.0
            try:
                with begin(self.name) as log:
                    since = monotonic()  # others wait by now
                    self._copy.follow(log)
                    before = self._copy.seq
                    yield log
            except BaseException:
                if self._copy.dirty:
                    self._shown = None
                    self._copy.forget()
                elif before > NEVER:  # what was read is true
                    self._show(since)
                raise
            self._copy.dirty = False
            self._show(since)
            if self._copy.seq != before:
                self._news.tell()
            if self._tidy:
                self._tidy = not self._store.tidy()
