"""What differs between kinds of experiments, as one record of functions for each kind.

Everything around the domain (stores, caches, verification, late voids, the service) is written once, against `Rules`.
`rules_of(spec)` is the only place that asks of which kind an experiment is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from afterglow.estimation.verdict import Verdict, Versus
from afterglow.live.domain import commands, decision, replay, state, status, step_rows, transitions, verdict
from afterglow.live.domain.amounts import micros
from afterglow.live.domain.commands import Context, Event, Voided
from afterglow.live.domain.decision import Decision
from afterglow.live.domain.guards import metric_totals, stops
from afterglow.live.domain.log import Body, Record
from afterglow.live.domain.schedule_events import Closing
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Explanation, Status
from afterglow.live.domain.step_rows import Change, OpenRow, StepRow
from afterglow.live.domain.step_transitions import recommended
from afterglow.live.domain.units import commands as unit_commands
from afterglow.live.domain.units import guards as unit_guards
from afterglow.live.domain.units import metric_totals as unit_metrics
from afterglow.live.domain.units import replay as unit_replay
from afterglow.live.domain.units import rows as unit_rows
from afterglow.live.domain.units import state as unit_state
from afterglow.live.domain.units import status as unit_status
from afterglow.live.domain.units import transitions as unit_transitions
from afterglow.live.domain.units import verdict as unit_verdict

Effect = Callable[[Spec, Any, Context, Mapping[str, Any]], list[Event]]


class AnyCase(Protocol):
    """All that the verdict on a state depends on; later events don't change it."""

    @property
    def over(self) -> bool: ...

    def verdict(self) -> Verdict: ...

    def lifts(self) -> tuple[Versus, ...]: ...


class AnyReplay(Protocol):
    """A log that is replayed without some of its steps."""

    @property
    def learned(self) -> int: ...

    def take(self, kind: str, body: Body) -> None:
        """Replay an event."""

    def follows(self) -> dict[str, Any]:
        """The resulting state, as the body of a `revise` event has it."""

    def agrees(self, said: dict[str, Any]) -> bool:
        """Whether this is what a `revise` event says."""


class AnyVoidedRows(Protocol):
    def applied(self, row: StepRow) -> StepRow:
        """The row as it is after all voids."""


@dataclass(frozen=True)
class Rules:
    """One kind of experiments. States are those that `initial` and `restored` make."""

    initial: Callable[[Spec], Any]
    restored: Callable[[Spec, str], Any]  # the state that a snapshot has
    apply: Callable[[Spec, Any, str, Body], None]  # an event
    close: Closing
    effects: Mapping[str, Effect]  # of commands, where `command_table` has another
    decisions: Callable[[Spec, Any], Mapping[str | None, Decision]]  # by unit
    opened: Callable[[Spec, Any], OpenRow]  # the row of the current step
    changes: Callable[[Spec, Any, str, Body], Iterator[Change]]  # of rows, by an event
    replay: Callable[[Spec, Iterable[Record], Iterable[Voided]], AnyReplay]
    voided: Callable[[Iterable[Record]], AnyVoidedRows]
    unlearned: Callable[[Any, Voided], bool]  # whether steps can be voided without a replay
    same_totals: Callable[[Spec, StepRow, Any], bool]  # whether a step was closed with these
    served: Callable[[Any], Any]  # what was served in the current step, as `close` events have it
    totals: Callable[[Body], Mapping[int, int]]  # the totals of a `close` event, by series
    total_of: Callable[[Any, int], int | None]  # of a step that can be, as a `void` event has it
    status: Callable[..., Status]
    explanation: Callable[[Spec, Any, str | None], Explanation]
    case_of: Callable[[Spec, Any], Any]
    estimates: Callable[[Spec, Any], Any]
    recommended: Callable[[Any], int]
    counted: Callable[[Spec, Any], Any]  # by which looks of guards are counted
    guard_events: Callable[[Spec, Any, Any, Sequence[Event]], Iterator[Event]]  # that follow from events just applied
    guard_follows: Callable[[Spec, Any, Body], bool]  # whether a stop is what the totals before it lead to
    refuse_other_metrics: Callable[[Spec, StepRow, Mapping[str, Any]], None]  # of a step that was closed before


def explained(spec: Spec, state_: state.ExperimentState, unit: str | None) -> Explanation:
    return status.explanation(spec, state_)


ONE_TOTAL = Rules(
    initial=state.initial,
    restored=state.restored,
    apply=transitions.apply,
    close=commands.close,
    effects={},
    decisions=lambda spec, state_: {None: decision.decided(spec, state_)},
    opened=step_rows.opened,
    changes=step_rows.changes,
    replay=replay.replayed_without,
    voided=replay.VoidedRows,
    unlearned=lambda state_, gone: commands.in_current_hold(state_, gone.steps),
    same_totals=lambda spec, row, total: micros("total", total, spec.most) == row.total,
    served=lambda state_: state_.served,
    totals=metric_totals.totals_by_series,
    total_of=commands.total_in_hold,
    status=status.status,
    explanation=explained,
    case_of=verdict.case_of,
    estimates=verdict.estimates,
    recommended=recommended,
    counted=stops.washed_steps,
    guard_events=stops.events_after,
    guard_follows=stops.follows,
    refuse_other_metrics=lambda spec, row, given: metric_totals.refuse_other_totals(
        spec, row.step, step_rows.totals_in(row), given
    ),
)


WITH_UNITS = Rules(
    initial=unit_state.initial,
    restored=unit_state.restored,
    apply=unit_transitions.apply,
    close=unit_commands.close,
    effects=unit_commands.EFFECTS,
    decisions=unit_status.decisions,
    opened=unit_rows.opened,
    changes=unit_rows.changes,
    replay=unit_replay.replayed_without,
    voided=unit_rows.VoidedUnitRows,
    unlearned=unit_commands.unlearned,
    same_totals=unit_commands.same_totals,
    served=lambda state_: [lane.served for lane in state_.lanes],
    totals=unit_metrics.totals_by_series,
    total_of=lambda state_, step: None,
    status=unit_status.status,
    explanation=unit_status.explanation,
    case_of=unit_verdict.case_of,
    estimates=unit_verdict.estimates,
    recommended=unit_verdict.recommended,
    counted=unit_guards.rounds_counted,
    guard_events=unit_guards.events_after,
    guard_follows=unit_guards.follows,
    refuse_other_metrics=unit_metrics.refuse_other_totals,
)


def rules_of(spec: Spec) -> Rules:
    """The rules of an experiment."""
    return WITH_UNITS if spec.units else ONE_TOTAL
