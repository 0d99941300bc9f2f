"""Guards of an experiment with units: looked at when a round is final, in the transaction that closes its last step.

A stop disables the variant in all units. Everything else is as for one total: `guards.stops` has the events. A variant
that is pinned in some unit is left to whoever pinned it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from afterglow.estimation.guards import look_is_due
from afterglow.estimation.unit_guards import UnitsGuardCase
from afterglow.live.domain.commands import Event
from afterglow.live.domain.guards.settings import Guard
from afterglow.live.domain.guards.stops import GuardsCase, beyond, said, share_of, stoppable, withdrawn
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.units.guard_blocks import GuardBlocks
from afterglow.live.domain.units.state import UnitsState


def case_for(spec: Spec, record: GuardBlocks, guard: Guard) -> UnitsGuardCase:
    """What is known of one guard's metric, in micro-units; it changes with later steps."""
    place = record.metrics.index(spec.metric(guard.metric))
    largest = float(record.largest[place])
    return UnitsGuardCase(record.blocks, place, largest, spec.control, guard.limit, share_of(spec))


def rounds_counted(spec: Spec, state: UnitsState) -> int:
    """Rounds by which looks are counted."""
    return 0 if state.guarded is None else state.guarded.folds


def events_after(spec: Spec, state: UnitsState, before: int, appended: Sequence[Event]) -> Iterator[Event]:
    """Stops and notices that follow from events just applied; each has to be applied before the next is asked for."""
    record = state.guarded
    revised = any(one.kind == "revise" for one in appended)
    if record is not None and (revised or (record.folds != before and look_is_due(record.folds))):
        for place, guard in enumerate(spec.guards):
            case = case_for(spec, record, guard)
            for arm in range(len(spec.variants)):
                pinned = any(lane.pinned == arm for lane in state.lanes)
                if arm != spec.control and arm not in state.disabled and not pinned and case.is_beyond(arm):
                    yield from beyond(spec, state, place, arm, case.excess(arm))
    if revised:
        yield from withdrawn(spec, state)


def founded(spec: Spec, record: GuardBlocks, body: Mapping[str, Any]) -> bool:
    """Whether the variant of a stop is beyond its limit by these totals."""
    guard = next((one for one in spec.guards if one.name == body["guard"]), None)
    return (
        guard is not None
        and body["variant"] != spec.control
        and case_for(spec, record, guard).is_beyond(body["variant"])
    )


def follows(spec: Spec, state: UnitsState, body: Mapping[str, Any]) -> bool:
    """Whether mean and limit of a stop are those of the totals before it, and its variant may be stopped."""
    guard = stoppable(spec, body)
    if guard is None or state.guarded is None:
        return False
    found = case_for(spec, state.guarded, guard).excess(body["variant"])
    return found.level is not None and said(body, (found.level, found.limit))


def guards_case(spec: Spec, state: UnitsState) -> GuardsCase:
    """Copy what the figures depend on."""
    cases = list[UnitsGuardCase]()
    if state.guarded is not None:
        kept = state.guarded.counted()
        for guard in spec.guards:
            case = case_for(spec, state.guarded, guard)
            case.blocks = kept
            cases.append(case)
    return GuardsCase(spec, tuple(cases), dict(state.stops), frozenset(state.exceeded))
