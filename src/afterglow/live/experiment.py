"""One running experiment: ask for the variant, report rewards, close steps, give orders."""

from collections.abc import Callable, Iterable, Sequence
from uuid import uuid4

from afterglow.errors import AfterglowError, Conflict, OutOfTurn, Unavailable
from afterglow.estimation.estimates import Estimates
from afterglow.live.cached_state import CachedState, ChangeSignal
from afterglow.live.domain import commands
from afterglow.live.domain.amounts import Amount, micros, units
from afterglow.live.domain.commands import Event, Reported
from afterglow.live.domain.decision import Decision, Receipt, decided
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import State
from afterglow.live.domain.status import Explanation, Status, estimates, status
from afterglow.live.domain.transitions import recommended
from afterglow.live.follower import LogEntry, Step, log_entries
from afterglow.live.late_void import LateVoid
from afterglow.live.reward_keys import readable, settle
from afterglow.live.store.contract import Raced, Store, Writing
from afterglow.live.verify import Verification, verify


class Experiment:
    """Made by `Experiments.create` and `Experiments.get`."""

    def __init__(self, store: Store, name: str, clock: Callable[[], float], signal: ChangeSignal) -> None:
        self.name = name
        self._cache = CachedState(store, name, clock, signal)

    @property
    def spec(self) -> Spec:
        return self._cache.spec

    @property
    def variants(self) -> tuple[str, ...]:
        return self.spec.variants

    # Serve and report

    def current(self) -> str:
        """The live variant, the same for everybody until the step ends."""
        return self.decision().variant

    def decision(self) -> Decision:
        """The live variant, with its step and how it came about."""
        known = self._cache.glance()
        if known is not None:
            return known
        try:
            with self._cache.current() as state:
                return decided(self.spec, state)
        except Unavailable:
            shown = self._cache.shown
            if shown is None or shown.decision.role != "over":
                raise
            return shown.decision  # nothing but a late void changes it

    def glance(self) -> Decision | None:
        """The decision, if it is known without the database and without waiting for anybody."""
        return self._cache.glance()

    def boundary(self) -> float | None:
        """When the current step ends by the clock, as far as is known without the database."""
        return self._cache.ends

    def reward(self, amount: Amount, key: str | None = None) -> Receipt:
        """Add an amount to the total of this step. Sent again with its key, it counts once."""
        return self.rewards([(key or uuid4().hex, amount)])

    def rewards(self, rewards: Iterable[tuple[str, Amount]]) -> Receipt:
        """Add amounts, each with a key of its own: all of them or, if one is refused, none."""
        (taken,) = self.report([list(rewards)])
        if isinstance(taken, AfterglowError):
            raise taken
        return taken

    def report(self, batches: Sequence[Sequence[tuple[str, Amount]]]) -> list[Receipt | AfterglowError]:
        """Many calls of `rewards` in one go to the disk: a receipt for each, or why it was refused."""
        suspect = False
        with self._cache.lock:
            while True:
                try:
                    with self._cache.changing(self._cache.store.reporting) as log:
                        if not self._cache.due():
                            return self._take(log, batches, suspect)
                except Raced:
                    suspect = True
                    continue
                with self._cache.writing() as log:
                    self._cache.catch_up(log)

    def _take(
        self, log: Writing, batches: Sequence[Sequence[tuple[str, Amount]]], suspect: bool
    ) -> list[Receipt | AfterglowError]:
        spec, state = self.spec, self._cache.copy.state
        try:
            commands.started(spec, state)
        except OutOfTurn as refused:
            return [refused] * len(batches)
        read = [readable(spec, batch) for batch in batches]
        taken = settle(log, state.step, spec.remember, read, suspect)
        return [
            one if isinstance(one, AfterglowError) else Receipt(state.step, one, len(batch) - one)
            for one, batch in zip(taken, batches, strict=True)
        ]

    def close_step(self, total: Amount | None = None, step: int | None = None) -> None:
        """End the step in hand, or `step` if it is that one, with its total; None takes the sum of its rewards.

        Sent again with its step, it is harmless; with another total it is refused.
        """
        with self._cache.writing() as log:
            spec, state = self.spec, self._cache.copy.state
            if spec.step_ms:
                raise OutOfTurn(f"the clock closes the steps of {spec.name!r}; report rewards with reward()")
            if step is not None and step != state.step:
                self._closed_before(log, step, total)
                return
            commands.started(spec, state)
            self._cache.append(log, [commands.close(spec, state, total, Reported(*log.reported(state.step)))])

    def _closed_before(self, log: Writing, step: int, total: Amount | None) -> None:
        spec, now = self.spec, self._cache.copy.state.step
        row = next(log.steps(step, 1), None) if 0 <= step < now else None
        if row is None:
            raise OutOfTurn(f"step {step:,} is not the one to close; that is step {now:,}")
        if total is not None and micros("total", total, spec.most) != row.total:
            raise Conflict(f"step {step:,} was closed with {units(row.total or 0):,g}, got {total!r}; the first stays")

    # Orders; all take effect with the next step

    def start(self) -> None:
        """Begin step 0 of an experiment that was created with `start=False`, or schedule it before its `starts`."""
        self._order(lambda spec, state: commands.start(spec, state, self._cache.now()))

    def pin(self, variant: str, reason: str) -> None:
        """Serve one variant, whatever the plan, until `unpin`."""
        self._order(lambda spec, state: commands.pin(spec, state, variant, reason))

    def unpin(self, reason: str) -> None:
        self._order(lambda spec, state: commands.unpin(spec, state, reason))

    def pause(self, reason: str) -> None:
        """Serve the control and learn nothing until `resume`."""
        self._order(lambda spec, state: commands.pause(spec, state, reason))

    def resume(self, reason: str) -> None:
        self._order(lambda spec, state: commands.resume(spec, state, reason))

    def disable(self, variant: str, reason: str) -> None:
        """Take a variant out; the policy starts afresh with the others."""
        self._order(lambda spec, state: commands.disable(spec, state, variant, reason))

    def enable(self, variant: str, reason: str) -> None:
        """Take a variant in again; the policy starts afresh with it."""
        self._order(lambda spec, state: commands.enable(spec, state, variant, reason))

    def go_live(self, reason: str) -> None:
        """Leave shadow mode: serve what is planned from now on."""
        self._order(lambda spec, state: commands.go_live(spec, state, reason))

    def void(self, step: int, reason: str, last: int | None = None) -> None:
        """Don't learn from a step, or from all up to `last`, though it was learned long ago.

        A step of the hold in hand makes it longer. Else the policy goes back to what it knows without these steps.
        """
        late: LateVoid | None = None
        while not self._voided(step, last, reason, late):
            late = LateVoid(self.spec, commands.span(self.spec, self._cache.copy.state, step, last))
            late.prepare(self._cache.store)

    def _voided(self, step: int, last: int | None, reason: str, late: LateVoid | None) -> bool:
        """Take steps back, unless it has to be worked out first what follows from that."""
        with self._cache.writing() as log:
            self._cache.catch_up(log)
            spec, state = self.spec, self._cache.copy.state
            steps, why = commands.span(spec, state, step, last), commands.reason(reason)
            if commands.in_hand(state, steps):
                self._cache.append(log, commands.void(spec, state, steps[0], why))
            elif any(not row.void for row in log.steps(steps[0], len(steps))):
                follows = late and late.follows(log)
                if not follows:
                    return False
                self._cache.append(log, [commands.revise(steps, why, follows)])
            return True

    def stop(self, reason: str, keep: str | None = None) -> None:
        """End the experiment now, or call it off, and serve `keep` from then on: the control, unless it is named."""
        with self._cache.writing() as log:
            self._cache.catch_up(log)
            state = self._cache.copy.state
            reported = Reported(*log.reported(state.step))
            self._cache.append(log, [commands.stop(self.spec, state, keep, reason, reported)])

    def _order(self, order: Callable[[Spec, State], list[Event]]) -> None:
        with self._cache.writing() as log:
            self._cache.catch_up(log)
            self._cache.append(log, order(self.spec, self._cache.copy.state))

    # Know

    def status(self) -> Status:
        with self._cache.current() as state:
            return status(self.spec, state)

    def estimates(self) -> Estimates:
        """Mean and interval of every variant: valid together, at any step, whatever was voided or pinned."""
        with self._cache.current() as state:
            return estimates(self.spec, state)

    def recommend(self) -> str:
        """The variant to keep, as things stand."""
        with self._cache.current() as state:
            return self.spec.variants[state.served if state.phase == "over" else recommended(state)]

    def explain(self, step: int) -> Explanation:
        """The numbers that drove the decision of a step."""
        with self._cache.current(), self._cache.reading() as log:
            return self._cache.copy.explain(log, step)

    def steps(self, first: int = 0, count: int | None = None) -> list[Step]:
        """What each step served and brought, from `first` on."""
        with self._cache.current(), self._cache.reading() as log:
            return self._cache.copy.steps(log, first, count)

    def events(self, after: int = -1, count: int | None = None) -> list[LogEntry]:
        """The log, from the record behind number `after` on."""
        with self._cache.current(), self._cache.reading() as log:
            return log_entries(log, after, count)

    def verify(self) -> Verification:
        """Replay the whole log and compare hashes, decisions, totals and snapshots."""
        with self._cache.lock, self._cache.store.reading(self.name) as log:
            return verify(self.name, log)

    def __repr__(self) -> str:
        spec, state = self.spec, self._cache.copy.state
        steps = f"step {state.step:,}" + ("" if spec.horizon is None else f" of {spec.horizon:,}")
        return f"<Experiment {self.name}: {len(spec.variants)} variants, {spec.policy}, {steps}, {state.phase}>"
