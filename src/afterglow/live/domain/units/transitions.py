"""What each event does to the state of an experiment with units.

As for one total, commands take effect with the next step; only `emergency` replaces variants of the current one. A unit
that is pinned, void or silent loses its part of the round; the other units' rounds stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afterglow.live.domain import transitions
from afterglow.live.domain.guards.transitions import note_stop, withdraw
from afterglow.live.domain.log import Body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AWAY, WAITING, Phase, Role
from afterglow.live.domain.step_transitions import safe
from afterglow.live.domain.units import round_plan as plans
from afterglow.live.domain.units.guard_blocks import NOBODY, GuardBlocks
from afterglow.live.domain.units.round_plan import RoundPlan
from afterglow.live.domain.units.state import Lane, UnitsState


def apply(spec: Spec, state: UnitsState, kind: str, body: Body) -> None:
    """Apply an event."""
    KINDS[kind](spec, state, body)


def units_of(spec: Spec, body: Body) -> Sequence[int]:
    """The units that an event is about: all, if it names none."""
    named: Sequence[int] = body.get("units") or range(len(spec.units))
    return named


def left(spec: Spec, state: UnitsState) -> int:
    """Steps until the horizon, which experiments with units have."""
    return (spec.horizon or 0) - state.step


def start(spec: Spec, state: UnitsState, body: Body) -> None:
    state.phase = Phase.RUNNING
    state.starts = body["starts"]
    open_step(spec, state)


def open_step(spec: Spec, state: UnitsState) -> None:
    """Decide the variants of the current step."""
    planned = state.plan.current(state.step, left(spec, state))
    paused, control = state.phase is Phase.PAUSED, safe(spec, state)
    for unit, lane in enumerate(state.lanes):
        lane.planned = planned[unit]
        base = control if state.shadow else lane.planned
        lane.served = lane.pinned if lane.pinned >= 0 else control if paused else base
        if paused or lane.served != base:
            lane.role = Role.OUTSIDE
        elif not state.plan.washed(unit):
            lane.role = Role.WASHOUT
        else:
            lane.role = Role.SHADOW if state.shadow else Role.PLAN


def close(spec: Spec, state: UnitsState, body: Body) -> None:
    """A step ends with the totals of its units; a void one doesn't count."""
    silent: Sequence[int] = body.get("silent", ())
    for unit, lane in enumerate(state.lanes):
        lane.silent = lane.silent + 1 if unit in silent else 0
        lane.reported = lane.reported or unit not in silent
    if len(silent) == len(state.lanes):
        state.told.silent += 1
    else:
        state.told.reported, state.told.silent = True, 0
    totals = [None if void else total for total, void in zip(body["totals"], body["voids"], strict=True)]
    count_guarded(state.guarded, state.step, state.lanes, body, body["voids"])
    state.plan.take(totals, away(state.lanes))
    go_on(spec, state, 1)


def count_guarded(
    record: GuardBlocks | None, step: int, lanes: Sequence[Lane], body: Body, voids: Sequence[object]
) -> None:
    """A step ends for what guards count: those units count that followed the plan."""
    if record is None:
        return
    others, none = body.get("metrics", {}), [0] * len(lanes)
    served = [NOBODY if lane.role is Role.EMERGENCY else lane.served for lane in lanes]
    counts = [lane.role is Role.PLAN and not void for lane, void in zip(lanes, voids, strict=True)]
    record.take(step, served, counts, [others.get(str(metric), none) for metric in record.metrics])


def settle_guarded(record: GuardBlocks | None, plan: RoundPlan, step: int) -> None:
    """What guards have counted is final, but for the steps of the current round, which can be voided."""
    if record is not None:
        open_round = plan.runner is not None and plan.runner.round is not None
        record.fold(plan.since if open_round else step)


def away(lanes: Sequence[Lane]) -> list[int]:
    """The units that don't follow the plan."""
    return [unit for unit, lane in enumerate(lanes) if lane.role in AWAY]


def missed(spec: Spec, state: UnitsState, body: Body) -> None:
    """Steps passed without any request or report, beginning with the current one."""
    state.told.silent += body["count"]
    if state.guarded is not None:
        state.guarded.interrupt()
    for lane in state.lanes:
        lane.silent += body["count"]
    state.plan.skip(state.step, body["count"], left(spec, state))
    go_on(spec, state, body["count"])


def go_on(spec: Spec, state: UnitsState, steps: int) -> None:
    """The next step, or the end."""
    state.step += steps
    state.spoiled = False
    count(state)
    if state.step == spec.horizon:
        end(spec, state, recommended(spec, state))
    else:
        open_step(spec, state)
    settle_guarded(state.guarded, state.plan, state.step)


def count(state: UnitsState) -> None:
    """What the plan has learned, in unit-steps."""
    state.learned, state.excluded = state.plan.learned, state.plan.lost


def end(spec: Spec, state: UnitsState, keep: int) -> None:
    """`keep` is served from now on; a unit that is pinned at the horizon keeps its pin."""
    state.phase = Phase.OVER
    state.held, state.spoiled = None, False
    state.served = state.planned = keep
    for lane in state.lanes:
        pinned = lane.pinned >= 0 and state.step == spec.horizon
        lane.served = lane.planned = lane.pinned if pinned else keep


def recommended(spec: Spec, state: UnitsState) -> int:
    """The variant to keep for all units: never a disabled one; the control while nothing is learned."""
    best = None if state.shadow else state.plan.recommend()
    return safe(spec, state) if best is None or best in state.disabled else best


def void(spec: Spec, state: UnitsState, body: Body) -> None:
    """A step of the current round is void for some units."""
    state.plan.lose(body["step"], units_of(spec, body))
    if state.guarded is not None:
        state.guarded.lose(body["step"], units_of(spec, body))


def revise(spec: Spec, state: UnitsState, body: Body) -> None:
    """Learned steps are void: the plan is the one that follows without them."""
    follows = body["follows"]
    state.plan = plans.resumed(spec, follows["plan"])
    count(state)
    for lane, role in zip(state.lanes, follows["roles"], strict=True):
        lane.role = Role(role)
    if state.guarded is not None:
        state.guarded.restore(follows["guards"])
        withdraw(state, follows["withdrawn"])
    if state.phase is Phase.OVER:
        end(spec, state, follows["served"])


def accept_clock(spec: Spec, state: UnitsState, body: Body) -> None:
    """The clock is right: the current step is void, and the schedule goes on from there."""
    state.held, state.spoiled = None, body["void"]
    state.starts = body.get("starts", state.starts)


def pin(spec: Spec, state: UnitsState, body: Body) -> None:
    for unit in units_of(spec, body):
        state.lanes[unit].pinned = body["variant"]


def unpin(spec: Spec, state: UnitsState, body: Body) -> None:
    for unit in units_of(spec, body):
        state.lanes[unit].pinned = -1


def disable(spec: Spec, state: UnitsState, body: Body) -> None:
    state.disabled = tuple(sorted({*state.disabled, body["variant"]}))
    restart(spec, state)


def guarded(spec: Spec, state: UnitsState, body: Body) -> None:
    """A variant is beyond a limit of a guard, and disabled in all units."""
    note_stop(spec, state, body)
    if state.phase is Phase.OVER:
        end(spec, state, body["to"])
    else:
        restart(spec, state)


def enable(spec: Spec, state: UnitsState, body: Body) -> None:
    variant = body["variant"]
    state.disabled = tuple(arm for arm in state.disabled if arm != variant)
    if state.stops.pop(variant, None) is not None and state.guarded is not None:
        state.guarded.forget(variant)
        state.exceeded = [one for one in state.exceeded if one[1] != variant]
    restart(spec, state)


def go_live(spec: Spec, state: UnitsState, body: Body) -> None:
    state.shadow = False
    restart(spec, state)


def emergency(spec: Spec, state: UnitsState, body: Body) -> None:
    """A variant is off now, in all units: those that served it go on with another one, and their step is void."""
    variant, known = body["variant"], body["variant"] in state.disabled
    state.disabled = tuple(sorted({*state.disabled, variant}))
    for lane in state.lanes:
        if lane.pinned == variant:
            lane.pinned = -1
    if state.phase is Phase.OVER:
        end(spec, state, body["to"])
        return
    if not known:
        restart(spec, state)
    for unit in body["units"]:
        state.lanes[unit].served, state.lanes[unit].role = body["to"], Role.EMERGENCY


def restart(spec: Spec, state: UnitsState) -> None:
    """A new plan with the enabled variants, from the next step on: a policy can't forget an arm."""
    arms = [arm for arm in range(len(spec.variants)) if arm not in state.disabled]
    best = state.plan.recommend()
    state.restarts += 1
    began = state.phase not in WAITING
    best = best if best in arms else safe(spec, state)
    state.plan = plans.fresh(spec, arms, state.step + began, state.restarts, best)
    settle_guarded(state.guarded, state.plan, state.step)
    count(state)
    if began:
        for lane in state.lanes:
            if lane.role is not Role.EMERGENCY:
                lane.role = Role.OUTSIDE
        if state.plan.runner is not None:
            state.plan.runner.regular = [0] * len(state.lanes)


def stop(spec: Spec, state: UnitsState, body: Body) -> None:
    """The experiment ends; the current round is not learned from."""
    end(spec, state, body["keep"])


KINDS: Mapping[str, Callable[[Spec, Any, Body], None]] = {
    **transitions.KINDS,
    **{
        each.__name__: each
        for each in (
            start, close, missed, void, revise, accept_clock, pin, unpin, disable, guarded, enable, go_live, emergency,
            stop,
        )
    },
}  # fmt: skip
