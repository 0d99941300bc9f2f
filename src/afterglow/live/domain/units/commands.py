"""Effects of commands in an experiment with units. Those that are not here are the same as for one total."""

import json
from collections.abc import Mapping
from typing import Any

from afterglow.errors import BadValue, Conflict, OutOfTurn, argument
from afterglow.live.domain import commands
from afterglow.live.domain.amounts import FULL, signed_micros, units
from afterglow.live.domain.arguments import known_unit
from afterglow.live.domain.commands import Context, Event, Reported, Voided, span
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import Phase, Role
from afterglow.live.domain.step_rows import StepRow
from afterglow.live.domain.step_transitions import safe
from afterglow.live.domain.units.metric_totals import has_reports, metric_totals
from afterglow.live.domain.units.state import Lane, UnitsState


def named(spec: Spec, unit: str | None) -> dict[str, Any]:
    """The units of a command, as an event has them: none named means all."""
    return {} if unit is None else {"units": [spec.units.index(unit)]}


def sums_of(spec: Spec, reported: Reported) -> list[tuple[int, int]]:
    """Reports and sum of each unit."""
    sums = {0: (reported.reports, reported.total), **reported.others}
    return [sums.get(unit, (0, 0)) for unit in range(len(spec.units))]


def kept(total: int) -> int:
    """A sum as a total is stored."""
    return max(-FULL, min(total, FULL))


def read_totals(spec: Spec, given: object) -> dict[int, int]:
    """The totals that are given, in micro-units, by unit; those that are None are left out."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadValue(
            f"{argument('total')} must be a mapping from units to totals, got {given!r}: experiment {spec.name!r} has "
            "units"
        )
    found = dict[int, int]()
    for unit, total in given.items():
        place = spec.units.index(known_unit("total", unit, spec.units))
        if total is not None:
            found[place] = signed_micros("total", total)
    return found


def close(
    spec: Spec, state: UnitsState, given: object, reported: Reported, metrics: Mapping[str, object] | None = None
) -> Event:
    """End the current step with the totals of its units, or with the sums of their rewards.

    Where totals are given, a unit that is left out and has no rewards is void. Where none are, a silent unit is void
    with `heartbeat` or if it never reported, else its total is 0.
    """
    commands.started(spec, state)
    others = metric_totals(spec, reported, metrics or {})
    told, named_units = read_totals(spec, given), units_named(metrics or {})
    totals, voids, silent, late = list[int](), list[int](), list[int](), list[int]()
    for unit, (reports, sum_) in enumerate(sums_of(spec, reported)):
        total, lane = told.get(unit, kept(sum_)), state.lanes[unit]
        if reports and total != kept(sum_):
            raise Conflict(
                f"step {state.step:,} has {reports:,} rewards of {spec.units[unit]!r} that add up to "
                f"{units(sum_):,.12g}, got {argument('total')} {units(total):,.12g}; leave the unit out, or report "
                "everything one way",
                kind="step-closed", field="total",
            )  # fmt: skip
        untold = unit not in told and not reports
        quiet = untold and spec.units[unit] not in named_units and not has_reports(spec, reported, unit)
        unsure = (quiet and unknown(spec, state, unit)) or (untold and given is not None)
        totals.append(total)
        voids.append(int(lane.role is Role.EMERGENCY or state.spoiled or unsure))
        silent += [unit] * quiet
        if unit not in told and reports and has_late_reports(spec, lane):
            late.append(unit)
            voids[unit] = 1
    body = {
        "step": state.step, "served": [lane.served for lane in state.lanes], "totals": totals, "voids": voids,
        "total": kept(sum(total for total, void in zip(totals, voids, strict=True) if not void)), "void": all(voids),
    }  # fmt: skip
    body |= {"metrics": others} if others else {}
    return Event("close", body | ({"silent": silent} if silent else {}) | ({"late": late} if late else {}))


def units_named(metrics: Mapping[str, object]) -> set[object]:
    """The units that totals of metrics are given of."""
    given = (totals.items() for totals in metrics.values() if isinstance(totals, Mapping))
    return {unit for totals in given for unit, total in totals if total is not None}


def has_late_reports(spec: Spec, lane: Lane) -> bool:
    """Whether what a unit reports now may belong to silent steps before: with `heartbeat` silence is a fault."""
    return spec.heartbeat and lane.reported and lane.silent > 0


def same_totals(spec: Spec, row: StepRow, given: object) -> bool:
    """Whether a step was closed with these totals."""
    known = json.loads(row.series or "{}").get("totals", [])
    return all(known[unit] == total for unit, total in read_totals(spec, given).items())


def unknown(spec: Spec, state: UnitsState, unit: int) -> bool:
    """Whether the total of a unit without a report is unknown, rather than 0."""
    return spec.heartbeat or not state.lanes[unit].reported


def unlearned(state: UnitsState, gone: Voided) -> bool:
    """Whether this is one step of the current round, which the policy has not learned yet."""
    plan = state.plan
    now = plan.runner.round if plan.runner is not None else None
    return len(gone.steps) == 1 and now is not None and plan.since <= gone.steps[0]


def void_steps(
    spec: Spec, state: UnitsState, context: Context, step: object, reason: str, last: object = None,
    unit: str | None = None,
) -> list[Event]:  # fmt: skip
    """Void a step, or all up to `last`, for one unit or all; nothing if that is done already."""
    which = named(spec, unit)
    gone = Voided(span(spec, state, step, last), tuple(which.get("units", range(len(spec.units)))))
    if context.all_void(gone):
        return []
    if unlearned(state, gone):
        return [Event("void", {"step": gone.steps[0], "total": None, "reason": reason} | which)]
    body = {"first": gone.steps[0], "last": gone.steps[-1], "reason": reason, "follows": context.without(gone)}
    return [Event("revise", body | which)]


def pin(spec: Spec, state: UnitsState, variant: str, reason: str, unit: str | None = None) -> list[Event]:
    arm, which = spec.variant(variant), named(spec, unit)
    if arm in state.disabled:
        raise OutOfTurn(f"variant {variant!r} is disabled; enable() it first", field="variant")
    if all(state.lanes[place].pinned == arm for place in which.get("units", range(len(spec.units)))):
        return []
    return [Event("pin", {"variant": arm, "reason": reason} | which)]


def unpin(spec: Spec, state: UnitsState, reason: str, unit: str | None = None) -> list[Event]:
    which = named(spec, unit)
    pinned = any(state.lanes[place].pinned >= 0 for place in which.get("units", range(len(spec.units))))
    return [Event("unpin", {"reason": reason} | which)] if pinned else []


def disable(spec: Spec, state: UnitsState, variant: str, reason: str) -> list[Event]:
    arm = spec.variant(variant)
    if arm in state.disabled:
        return []
    if len(state.disabled) == len(spec.variants) - 1:
        raise OutOfTurn(f"variant {variant!r} is the last one left; stop() the experiment instead", field="variant")
    pinned = [spec.units[unit] for unit, lane in enumerate(state.lanes) if lane.pinned == arm]
    if pinned:
        raise OutOfTurn(f"variant {variant!r} is pinned in {', '.join(pinned[:5])}; unpin() it first", field="variant")
    return [Event("disable", {"variant": arm, "reason": reason})]


def emergency(spec: Spec, state: UnitsState, variant: str, reason: str) -> list[Event]:
    """Take a variant off in all units now. Units that served it go on with the control; their step is void."""
    arm = spec.variant(variant)
    over = state.phase is Phase.OVER
    on_it = [unit for unit, lane in enumerate(state.lanes) if lane.served == arm]
    if arm in state.disabled and not on_it:
        return []
    left = [other for other in range(len(spec.variants)) if other != arm and other not in state.disabled]
    if not left:
        raise OutOfTurn(f"variant {variant!r} is the last one left; enable() another one first", field="variant")
    to = spec.control if spec.control in left else left[0]
    body = {
        "variant": arm, "to": state.served if over and state.served != arm else to, "step": state.step,
        "reason": reason, "void": bool(on_it) and not over, "units": [] if over else on_it,
    }  # fmt: skip
    return [Event("emergency", body)]


def stop(spec: Spec, state: UnitsState, reported: Reported, reason: str, keep: str | None = None) -> list[Event]:
    """End the experiment, or cancel it. `keep` is served from then on; None: what all units are pinned to, else the
    control."""
    pins = {lane.pinned for lane in state.lanes}
    default = pins.pop() if len(pins) == 1 and -1 not in pins else safe(spec, state)
    arm = default if keep is None else spec.variant(keep)
    if arm in state.disabled:
        raise OutOfTurn(f"variant {keep!r} is disabled; keep another, or enable() it first", field="keep")
    totals = [kept(sum_) for _, sum_ in sums_of(spec, reported)]
    body = {
        "step": state.step, "served": [lane.served for lane in state.lanes], "totals": totals,
        "total": kept(sum(totals)), "keep": arm, "reason": reason,
    }  # fmt: skip
    others = metric_totals(spec, reported, {})
    return [Event("stop", body | ({"metrics": others} if others else {}))]


def effect_of(function: Any) -> Any:
    return lambda spec, state, context, given: function(spec, state, **given)


EFFECTS: Mapping[str, Any] = {
    **{each.__name__: effect_of(each) for each in (pin, unpin, disable, emergency)},
    "void": lambda spec, state, context, given: void_steps(spec, state, context, **given),
    "stop": lambda spec, state, context, given: stop(spec, state, context.reported(), **given),
}
