"""One running experiment: ask for the variant, report rewards, close steps, give orders.

The state in memory is a copy of what the log says. Every change is a record that is durable before the call returns;
if that fails, the copy is thrown away and read again.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import RLock
from typing import Any, NamedTuple
from uuid import uuid4

from afterglow.errors import Conflict, OutOfTurn
from afterglow.estimates import Estimates
from afterglow.live import orders
from afterglow.live.amounts import micros, units
from afterglow.live.events import recommended
from afterglow.live.history import Follower, Happening, Step, happenings, steps_of
from afterglow.live.keys import settle
from afterglow.live.orders import Event, Reported
from afterglow.live.spec import Spec
from afterglow.live.state import State
from afterglow.live.status import Explanation, Status, estimates, status
from afterglow.live.store.contract import Store, Writing
from afterglow.live.verify import Verdict, verify


class Decision(NamedTuple):
    """What is live: `valid_until` is when the step ends, in seconds since 1970, if a clock ends it."""

    step: int
    variant: str
    planned: str
    role: str
    valid_until: float | None


class Receipt(NamedTuple):
    """Rewards that are on the disk: they joined the total of `step`."""

    step: int
    accepted: int
    duplicates: int


class Experiment:
    """Made by `Experiments.create` and `Experiments.get`."""

    def __init__(self, store: Store, name: str, clock: Callable[[], float]) -> None:
        self.name = name
        self._store = store
        self._clock = clock
        self._turn = RLock()
        self._copy = Follower(name)
        self._tidy = False
        with self._reading():
            pass

    @property
    def spec(self) -> Spec:
        return self._copy.spec

    @property
    def variants(self) -> tuple[str, ...]:
        return self.spec.variants

    # Serve and report

    def current(self) -> str:
        """The live variant, the same for everybody until the step ends."""
        return self.decision().variant

    def decision(self) -> Decision:
        """The live variant, with its step and how it came about."""
        with self._present() as state:
            spec, over = self.spec, state.phase == "over"
            end = (state.starts + spec.step_ms * (state.step + 1)) / 1000 if spec.step_ms and not over else None
            served, planned = spec.variants[state.served], spec.variants[state.planned]
            return Decision(state.step, served, planned, "over" if over else str(state.role), end)

    def reward(self, amount: float, key: str | None = None) -> Receipt:
        """Add an amount to the total of this step. Sent again with its key, it counts once."""
        return self.rewards([(key or uuid4().hex, amount)])

    def rewards(self, rewards: Iterable[tuple[str, float]]) -> Receipt:
        """Add amounts, each with a key of its own: all of them or, if one is refused, none."""
        given = list(rewards)
        with self._turn:
            while True:
                with self._changing(self._store.reporting) as log:
                    if not self._due():
                        return self._take(log, given)
                with self._writing() as log:
                    self._catch_up(log)

    def _take(self, log: Writing, given: list[tuple[str, float]]) -> Receipt:
        spec, state = self.spec, self._copy.state
        orders.started(spec, state)
        amounts = [(key, orders.amount(spec, amount)) for key, amount in given]
        new = settle(log, state.step, spec.remember, amounts)
        log.put_rewards(state.step, new)
        return Receipt(state.step, len(new), len(given) - len(new))

    def close_step(self, total: float | None = None, step: int | None = None) -> None:
        """End the step in hand, or `step` if it is that one, with its total; None takes the sum of its rewards.

        Sent again with its step, it is harmless; with another total it is refused.
        """
        with self._writing() as log:
            spec, state = self.spec, self._copy.state
            if spec.step_ms:
                raise OutOfTurn(f"the clock closes the steps of {spec.name!r}; report rewards with reward()")
            if step is not None and step != state.step:
                self._closed_before(log, step, total)
                return
            orders.started(spec, state)
            self._happen(log, [orders.close(spec, state, total, Reported(*log.reported(state.step)))])

    def _closed_before(self, log: Writing, step: int, total: float | None) -> None:
        spec, now = self.spec, self._copy.state.step
        row = next(log.steps(step, 1), None) if 0 <= step < now else None
        if row is None:
            raise OutOfTurn(f"step {step:,} is not the one to close; that is step {now:,}")
        if total is not None and micros("total", total, spec.most) != row.total:
            raise Conflict(f"step {step:,} was closed with {units(row.total or 0):,g}, got {total!r}; the first stays")

    # Orders; all take effect with the next step

    def start(self) -> None:
        """Begin step 0 of an experiment that was created with `start=False`."""
        self._order(lambda spec, state: [orders.start(spec, state, self._now())])

    def pin(self, variant: str, reason: str) -> None:
        """Serve one variant, whatever the plan, until `unpin`."""
        self._order(lambda spec, state: orders.pin(spec, state, variant, reason))

    def unpin(self, reason: str) -> None:
        self._order(lambda spec, state: orders.unpin(spec, state, reason))

    def pause(self, reason: str) -> None:
        """Serve the control and learn nothing until `resume`."""
        self._order(lambda spec, state: orders.pause(spec, state, reason))

    def resume(self, reason: str) -> None:
        self._order(lambda spec, state: orders.resume(spec, state, reason))

    def disable(self, variant: str, reason: str) -> None:
        """Take a variant out; the policy starts afresh with the others."""
        self._order(lambda spec, state: orders.disable(spec, state, variant, reason))

    def enable(self, variant: str, reason: str) -> None:
        """Take a variant in again; the policy starts afresh with it."""
        self._order(lambda spec, state: orders.enable(spec, state, variant, reason))

    def go_live(self, reason: str) -> None:
        """Leave shadow mode: serve what is planned from now on."""
        self._order(lambda spec, state: orders.go_live(spec, state, reason))

    def void(self, step: int, reason: str) -> None:
        """Don't learn from a step of the hold in hand; the hold gets one more."""
        self._order(lambda spec, state: orders.void(spec, state, step, reason))

    def stop(self, reason: str, keep: str | None = None) -> None:
        """End the experiment now, and serve `keep` from then on: the control, unless it is named."""
        with self._writing() as log:
            self._catch_up(log)
            state = self._copy.state
            reported = Reported(*log.reported(state.step))
            self._happen(log, [orders.stop(self.spec, state, keep, reason, reported)])

    def _order(self, order: Callable[[Spec, State], list[Event]]) -> None:
        with self._writing() as log:
            self._catch_up(log)
            self._happen(log, order(self.spec, self._copy.state))

    # Know

    def status(self) -> Status:
        with self._present() as state:
            return status(self.spec, state)

    def estimates(self) -> Estimates:
        """Mean and interval of every variant: valid together, at any step, whatever was voided or pinned."""
        with self._present() as state:
            return estimates(self.spec, state)

    def recommend(self) -> str:
        """The variant to keep, as things stand."""
        with self._present() as state:
            return self.spec.variants[state.served if state.phase == "over" else recommended(state)]

    def explain(self, step: int) -> Explanation:
        """The numbers that drove the decision of a step."""
        with self._present(), self._reading() as log:
            return self._copy.explain(log, step)

    def steps(self, first: int = 0, count: int | None = None) -> list[Step]:
        """What each step served and brought, from `first` on."""
        with self._present(), self._reading() as log:
            return steps_of(self.spec, log, first, count)

    def events(self, after: int = -1, count: int | None = None) -> list[Happening]:
        """The log, from the record behind number `after` on."""
        with self._present(), self._reading() as log:
            return happenings(log, after, count)

    def verify(self) -> Verdict:
        """Replay the whole log and compare hashes, decisions, totals and snapshots."""
        with self._turn, self._store.reading(self.name) as log:
            return verify(self.name, log)

    # The copy and the log

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

    def _now(self) -> int:
        """Milliseconds since 1970, never fewer than before."""
        return max(round(1000 * self._clock()), self._copy.latest)

    def _due(self) -> bool:
        copy = self._copy
        if copy.seq < 0 or not copy.spec.step_ms or copy.state.phase in ("draft", "over"):
            return False
        return orders.step_at(copy.spec, copy.state, self._now()) > copy.state.step

    def _catch_up(self, log: Writing) -> None:
        """Close the steps that have ended by the clock."""
        spec, state = self.spec, self._copy.state
        if spec.step_ms and self._due():
            self._happen(log, orders.passed(spec, state, self._now(), Reported(*log.reported(state.step))))

    def _happen(self, log: Writing, events: list[Event]) -> None:
        self._tidy |= self._copy.happen(log, self._now(), events)

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        with self._turn, self._store.reading(self.name) as log:
            self._copy.follow(log)
            yield log

    def _writing(self) -> AbstractContextManager[Writing]:
        return self._changing(self._store.writing)

    @contextmanager
    def _changing(self, begin: Callable[[str], AbstractContextManager[Writing]]) -> Iterator[Writing]:
        with self._turn:
            try:
                with begin(self.name) as log:
                    self._copy.follow(log)
                    yield log
            except BaseException:
                self._copy.doubt()
                raise
            self._copy.dirty = False
            if self._tidy:
                self._tidy = not self._store.tidy()

    def __repr__(self) -> str:
        spec, state = self.spec, self._copy.state
        steps = f"step {state.step:,}" + ("" if spec.horizon is None else f" of {spec.horizon:,}")
        return f"<Experiment {self.name}: {len(spec.variants)} variants, {spec.policy}, {steps}, {state.phase}>"
