"""One experiment: get the current variant, report rewards, close steps, give commands, read results."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from uuid import uuid4

from afterglow.checks import whole
from afterglow.errors import AfterglowError, BadValue, Conflict, OutOfTurn, Unavailable, argument
from afterglow.live.command_context import CommandContext, ReplayNeeded
from afterglow.live.command_methods import CommandMethods
from afterglow.live.domain import commands
from afterglow.live.domain.actor import Actor
from afterglow.live.domain.amounts import Amount, units
from afterglow.live.domain.arguments import known_unit, refuse_unnamed
from afterglow.live.domain.command_table import Command, command_named
from afterglow.live.domain.commands import Reported, Voided
from afterglow.live.domain.decision import Decision, Receipt
from afterglow.live.domain.log import Place
from afterglow.live.domain.notices import final, judged, noticed
from afterglow.live.domain.state import WAITING
from afterglow.live.experiment_results import ExperimentResults
from afterglow.live.late_void import LateVoid, VoidCost
from afterglow.live.reward_keys import readable, settle
from afterglow.live.store.contract import Raced, Writing

# key, amount, the step to which it was sent before, the metric, the unit
SentReward = (
    tuple[str, Amount]
    | tuple[str, Amount, int | None]
    | tuple[str, Amount, int | None, str | None]
    | tuple[str, Amount, int | None, str | None, str | None]
)
Totals = Amount | Mapping[str, Amount | None]  # the second with units


class Experiment(ExperimentResults, CommandMethods):
    """Made by `Experiments.create` and `Experiments.get`."""

    # Serve and report

    def current(self, unit: str | None = None) -> str:
        """The current variant, the same for all visitors (of a unit, if there are units) until the step ends."""
        return self.decision(unit).variant

    def decision(self, unit: str | None = None) -> Decision:
        """The current variant, with its step and role; of a unit, in an experiment with units."""
        refuse_unnamed("unit", unit)
        known = self._cache.glance(unit)
        if known is not None:
            return known
        if unit is not None or self.spec.units:
            known_unit("unit", unit, self.spec.units)
        return self.decisions()[unit]

    def decisions(self, patience: float = inf) -> Mapping[str | None, Decision]:
        """The decisions of all units; under None where there are no units.

        `Unavailable` if others have the lock of the experiment for longer than `patience` seconds.
        """
        try:
            with self._cache.current(patience) as state:
                return self._rules.decisions(self.spec, state)
        except Unavailable:
            shown = self._cache.shown
            if shown is None or any(one.role != "over" for one in shown.decisions.values()):
                raise
            return shown.decisions  # only a late void changes them

    def first_decision(self) -> Decision:
        """The decision, of the first unit if there are units: for its step, role and end."""
        return self.decision(self.spec.units[0] if self.spec.units else None)

    def glance(self, unit: str | None = None) -> Decision | None:
        """The decision from memory, without the database and without waiting; None if it is not known."""
        return self._cache.glance(unit)

    def remembered(self, unit: str | None = None) -> Decision | None:
        """The last decision in memory, even if its step has ended since, or others have changed it; without waiting."""
        return self._cache.last.get(unit)

    def age(self) -> float:
        """For how many seconds other processes may have changed what is remembered."""
        return self._cache.age()

    def renew(self, patience: float = inf) -> None:
        """Bring memory up to date with the log and the schedule.

        `Unavailable` if others have the lock of the experiment for longer than `patience` seconds.
        """
        with self._cache.current(patience):
            pass

    def confirm(self, head: Place, since: float) -> bool:
        """Whether memory ends with this record, which the database had `since`, by the monotonic clock."""
        return self._cache.confirm(head, since)

    def released(self) -> bool:
        """Whether the current step, which is held because the clock had jumped, can go on; without waiting."""
        return self._cache.released()

    def boundary(self) -> float | None:
        """When the current step ends on its schedule, from memory; None if it is not known."""
        return self._cache.ends

    def reward(
        self, amount: Amount, key: str | None = None, step: int | None = None, metric: str | None = None,
        *, unit: str | None = None,
    ) -> Receipt:  # fmt: skip
        """Add an amount to the total of this step, of a unit if there are any. Sent again with its key, it counts once.

        `step` is the step to which it was sent before; if the keys of that step are erased, it is refused (`sealed`).
        `metric` is the name of a secondary total that a guard watches; its keys are apart from those of rewards.
        """
        return self.rewards([(key or uuid4().hex, amount, step, metric, unit)])

    def rewards(self, rewards: Iterable[SentReward]) -> Receipt:
        """Add amounts, each with a key of its own: all of them or, if one is refused, none."""
        (taken,) = self.report([list(rewards)])
        if isinstance(taken, AfterglowError):
            raise taken
        return taken

    def report(self, batches: Sequence[Sequence[SentReward]]) -> list[Receipt | AfterglowError]:
        """Many calls of `rewards` in one transaction: a receipt for each, or the error that refuses it."""
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
        self, log: Writing, batches: Sequence[Sequence[SentReward]], suspect: bool
    ) -> list[Receipt | AfterglowError]:
        spec, state = self.spec, self._cache.copy.state
        try:
            commands.started(spec, state)
        except OutOfTurn as refused:
            return [refused] * len(batches)
        read = [readable(spec, batch) for batch in batches]
        taken = settle(log, spec, state.step, self._cache.now(), read, suspect)
        return [
            one if isinstance(one, AfterglowError) else Receipt(state.step, one, len(batch) - one)
            for one, batch in zip(taken, batches, strict=True)
        ]

    def close_step(
        self, total: Totals | None = None, step: int | None = None, metrics: Mapping[str, Totals] | None = None
    ) -> None:
        """End the current step with its total; None takes the sum of its rewards.

        With units it is a mapping from units to totals; a unit that is left out is not known in this step, unless it
        has rewards. `metrics` has the totals that guards watch, by name, and with units by unit; those that are left
        out are the sums of their reports. With `step`, a repeated call changes nothing; one with another total is
        refused.
        """
        step = None if step is None else whole("step", step, 0)
        if metrics is not None and not isinstance(metrics, Mapping):
            raise BadValue(f"{argument('metrics')} must be a mapping from metrics to totals, got {metrics!r}")
        with self._cache.writing() as log:
            spec, state = self.spec, self._cache.copy.state
            if spec.step_ms:
                raise OutOfTurn(f"steps of {spec.name!r} end on a schedule; report rewards with reward()")
            if step is not None and step != state.step:
                self._closed_before(log, step, total, metrics or {})
                return
            commands.started(spec, state)
            reported = Reported.of(log.reported(state.step))
            self._cache.append(log, [self._rules.close(spec, state, total, reported, metrics)])

    def expect(self, first: int, values: Iterable[float | None]) -> None:
        """Tell the totals that are expected of step `first` and those after it; None takes back what was told.

        For experiments with `typical`. The steps must not have begun, and be at most 10,000 ahead. What is expected
        must not depend on the variants: made before the start, or from things that no variant changes.
        """
        with self._cache.writing() as log:
            self._cache.catch_up(log)
            self._cache.append(log, [commands.expect(self.spec, self._cache.copy.state, first, values)])

    def _closed_before(self, log: Writing, step: int, total: Totals | None, metrics: Mapping[str, Totals]) -> None:
        spec, now = self.spec, self._cache.copy.state.step
        row = next(log.steps(step, 1), None) if 0 <= step < now else None
        if row is None:
            raise OutOfTurn(f"step {step:,} can't be closed; the current step is {now:,}", field="step")
        if total is not None and not self._rules.same_totals(spec, row, total):
            closed = f"step {step:,} was closed with {units(row.total or 0):,.12g}{' in all' * bool(spec.units)}"
            raise Conflict(f"{closed}, got {total!r}; the first total stays", kind="step-closed", field="total")
        self._rules.refuse_other_metrics(spec, row, metrics)

    # Commands of operators: their methods are made from the declaration

    def command(self, name: str, /, by: Actor | None = None, **arguments: object) -> None:
        """Give a command by its name; `pin("59", "…")` is `command("pin", variant="59", reason="…")`.

        `by` is stored in its events.
        """
        declared, late = command_named(name), None
        while (gone := self._attempt(declared, arguments, late, by)) is not None:
            late = LateVoid(self.spec, gone)
            late.prepare(self._cache.store)

    def cost_of_void(self, step: int, last: int | None = None, unit: str | None = None) -> VoidCost:
        """How many of the learned steps `void` would lose: those steps, and all that followed another plan.

        In an experiment with units, unit-steps are counted.
        """
        units = () if unit is None else (self.spec.unit_number(unit),)
        with self._cache.current() as state:
            gone, learned = Voided(commands.span(self.spec, state, step, last), units), state.learned
            if self._rules.unlearned(state, gone):
                return VoidCost(learned, 1)
        late = LateVoid(self.spec, gone)
        late.prepare(self._cache.store)
        return VoidCost(learned, max(0, learned - late.replay.learned))

    def _attempt(
        self, declared: Command, arguments: Mapping[str, object], late: LateVoid | None, by: Actor | None
    ) -> Voided | None:
        """Append the events of a command; the steps to replay without, if that has to be done first."""
        with self._cache.writing() as log:
            self._cache.catch_up(log)
            state = self._cache.copy.state
            context = CommandContext(log, self._cache.now(), self._cache.clock_ms(), state.step, late)
            try:
                events = declared.events_of(self.spec, state, context, arguments)
            except ReplayNeeded as needed:
                return needed.gone
            self._cache.append(log, [event.given_by(by) for event in events])
            return None

    def announce(self, unless_final: bool = False, patience: float = inf) -> bool:
        """Append notices of an alarm, a leader or a verdict that was not told yet; whether there were any.

        The verdict is computed before anything is locked. The service calls this after each step, and after its start;
        `unless_final` then leaves out what is over and told. `Unavailable` if others have the lock of the experiment
        for longer than `patience` seconds.
        """
        with self._cache.current(patience) as state:
            mark = self._cache.mark
            if state.phase in WAITING or (unless_final and final(state)):
                return False
            now = self._rules.status(self.spec, state, self._verdicts.judge(mark))
        found = noticed(now.verdict)
        with self._cache.held(patience):
            if self._cache.mark != mark or not judged(self.spec, self._cache.copy.state, found):
                return False
            with self._cache.writing(patience) as log:
                told = judged(self.spec, self._cache.copy.state, found) if self._cache.mark == mark else []
                self._cache.append(log, told)
                return bool(told)

    def __repr__(self) -> str:
        spec, state = self.spec, self._cache.copy.state
        steps = f"step {state.step:,}" + ("" if spec.horizon is None else f" of {spec.horizon:,}")
        return f"<Experiment {self.name}: {len(spec.variants)} variants, {spec.policy}, {steps}, {state.phase}>"
