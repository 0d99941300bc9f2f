"""Guards of an experiment with units: looked at when a round is final, in the transaction that closes its last step.

A stop disables the variant in all units. Everything else is as for one total: `guards.stops` has the events. A variant
that is pinned in some unit is left to whoever pinned it.

Mean and limit of a stop come from a fit, which a later release may make in a better way. So a stop also has what was
counted of the variant and the control, unit-steps and their total: `verify` compares these.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from afterglow.estimation.guards import look_is_due
from afterglow.estimation.unit_guards import UnitsGuardCase
from afterglow.live.domain.amounts import units as in_units
from afterglow.live.domain.commands import Event
from afterglow.live.domain.guards.settings import Guard
from afterglow.live.domain.guards.stops import GuardsCase, beyond, share_of, stoppable, withdrawn
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
                    shown = counted(spec, record, guard, arm)
                    for event in beyond(spec, state, place, arm, case.excess(arm)):
                        yield event._replace(body=event.body | shown) if event.kind == "guarded" else event
    if revised:
        yield from withdrawn(spec, state)


def counted(spec: Spec, record: GuardBlocks, guard: Guard, arm: int) -> dict[str, Any]:
    """Washed steps of all units and their total, of a variant and of the control: what its figures are made of."""
    place, found = record.metrics.index(spec.metric(guard.metric)), dict[str, list[float]]()
    for name, number in (("variant", arm), ("control", spec.control)):
        cells = [
            (steps, total)
            for block in record.blocks
            for one, steps, total in zip(block.arms, block.steps, block.totals[place], strict=True)
            if one == number
        ]
        found[name] = [sum(steps for steps, _ in cells), in_units(sum(total for _, total in cells))]
    return {"counted": found}


def founded(spec: Spec, record: GuardBlocks, body: Mapping[str, Any]) -> bool:
    """Whether the variant of a stop is beyond its limit by these totals."""
    guard = next((one for one in spec.guards if one.name == body["guard"]), None)
    return (
        guard is not None
        and body["variant"] != spec.control
        and case_for(spec, record, guard).is_beyond(body["variant"])
    )


def follows(spec: Spec, state: UnitsState, body: Mapping[str, Any]) -> bool:
    """Whether a stop has counted the totals before it, and its variant may be stopped.

    Its figures aren't compared: they may be others in a release with a better fit.
    """
    guard = stoppable(spec, body)
    if guard is None or state.guarded is None or guard.limit.sign * (body["mean"] - body["limit"]) <= 0:
        return False
    return bool(counted(spec, state.guarded, guard, body["variant"])["counted"] == body.get("counted"))


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
