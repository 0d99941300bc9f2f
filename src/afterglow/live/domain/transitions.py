"""What each event does to the state. Nothing here reads a clock, a file or a random number.

Commands of operators take effect with the next step: during a step everyone gets the same variant. Only `emergency`
replaces the variant of the current step, which is then void. A step outside the plan interrupts the current hold, which
continues after a wash-out of window - 1 steps on its variant.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from afterglow.live.domain import expected as expectations
from afterglow.live.domain import policy_plan as plans
from afterglow.live.domain.guards.transitions import guard_withdrawn, guarded, limit_exceeded, withdraw
from afterglow.live.domain.log import Body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AnyState, ClockJump, ExperimentState, Phase, Role
from afterglow.live.domain.step_transitions import close, end, missed, open_step, restart
from afterglow.live.domain.versions import refuse_other_bounds


def apply(spec: Spec, state: ExperimentState, kind: str, body: Body) -> None:
    """Apply an event."""
    KINDS[kind](spec, state, body)


def spec_after(spec: Spec, kind: str, body: Body) -> Spec:
    """The spec after an event: all but `extend` leave it as it is."""
    return spec if kind != "extend" else lengthened(spec, spec.lengthened + body["more"])


def lengthened(spec: Spec, more: int) -> Spec:
    """The spec with a horizon that is so much longer than at the start."""
    first = spec.first_horizon
    return spec if first is None or more == spec.lengthened else replace(spec, horizon=first + more, lengthened=more)


def create(spec: Spec, state: AnyState, body: Body) -> None:
    """The first event, whose body is the spec."""


def start(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.phase = Phase.RUNNING
    state.starts = body["starts"]
    state.profile_phase = body.get("phase", 0)
    open_step(spec, state)


def schedule(spec: Spec, state: AnyState, body: Body) -> None:
    """The experiment starts at a time in the future."""
    state.phase = Phase.SCHEDULED
    state.starts = body["starts"]


def void(spec: Spec, state: ExperimentState, body: Body) -> None:
    """A step of the current hold is void: the hold gets one step more, or the policy is told that one is lost."""
    hold, step = state.plan.hold, body["step"]
    if hold is None:
        return
    place = hold.place(step)
    total = hold.totals.pop(place)
    if hold.adjustments:
        del hold.adjustments[place]
    hold.voided = sorted([*hold.voided, step])
    hold.lost += state.plan.timed
    state.plan.voids += state.plan.unbroken
    state.bounds.retract(total / spec.scale, state.step - step)
    state.learned -= 1
    state.excluded += 1


def revise(spec: Spec, state: ExperimentState, body: Body) -> None:
    """Learned steps are void: the plan and the bounds are those that follow without them."""
    follows = body["follows"]
    refuse_other_bounds(spec.name, follows)
    state.plan = plans.resumed(spec, follows["plan"])
    state.bounds.restore(follows["books"])
    state.role = Role(follows["role"])
    state.washout, state.capped = follows["washout"], follows["capped"]
    state.learned, state.excluded = follows["learned"], follows["excluded"]
    withdraw(state, follows.get("withdrawn", ()))
    if state.phase is Phase.OVER:
        state.served = state.planned = follows["served"]


def expect(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The totals of steps to come are told."""
    expectations.expect(state, body)


def clock_jump(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The clock can't be believed: the current step is held."""
    state.held = ClockJump(body["clock"], body["expected"])


def clock_agrees(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The clock is right again. A step that was held beyond its end is void."""
    state.held, state.spoiled = None, body["void"]


def accept_clock(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The clock is right: the current step is void, and the schedule goes on from there."""
    state.held, state.spoiled = None, body["void"]
    state.starts = body.get("starts", state.starts)
    state.profile_phase = body.get("phase", state.profile_phase)


def pin(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.pinned = body["variant"]


def unpin(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.pinned = -1


def pause(spec: Spec, state: AnyState, body: Body) -> None:
    state.phase = Phase.PAUSED


def resume(spec: Spec, state: AnyState, body: Body) -> None:
    state.phase = Phase.RUNNING


def disable(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.disabled = tuple(sorted({*state.disabled, body["variant"]}))
    restart(spec, state)


def one_left(spec: Spec, state: ExperimentState, body: Body) -> None:
    """All variants but one are disabled: there is nothing to choose."""


def emergency(spec: Spec, state: ExperimentState, body: Body) -> None:
    """A variant is off now: the current step, if it served it, goes on with another one and is void."""
    variant, known = body["variant"], body["variant"] in state.disabled
    state.disabled = tuple(sorted({*state.disabled, variant}))
    if state.pinned == variant:
        state.pinned = -1
    if state.phase is Phase.OVER:
        state.served = state.planned = body["to"]
        return
    if not known:
        restart(spec, state)
    if body["void"]:
        state.served, state.role = body["to"], Role.EMERGENCY


def enable(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.disabled = tuple(arm for arm in state.disabled if arm != body["variant"])
    if state.stops.pop(body["variant"], None) is not None and state.bounds.guarded is not None:
        state.bounds.guarded.forget(body["variant"], state.bounds.current)
        state.exceeded = [one for one in state.exceeded if one[1] != body["variant"]]
    restart(spec, state)


def go_live(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.shadow = False
    restart(spec, state)


def stop(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The experiment ends; the current step is not learned from."""
    end(state, body["keep"])


def extend(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The horizon is longer: the plan goes on as if it had known it from now on."""
    state.lengthened += body["more"]
    state.plan.extend(body["more"])


def archive(spec: Spec, state: AnyState, body: Body) -> None:
    state.archived = True


def unarchive(spec: Spec, state: AnyState, body: Body) -> None:
    state.archived = False


def tell(kind: str) -> Callable[[Spec, AnyState, Body], None]:
    """The effect of a notice: the state has what was told."""
    return lambda spec, state, body: state.told.take(kind, body)


NOTICES = (
    "alarm_raised", "alarm_cleared", "leads", "verdict", "never_reported", "reports_stopped", "reports_resumed",
    "ended",
)  # fmt: skip
KINDS: Mapping[str, Callable[[Spec, Any, Body], None]] = {
    each.__name__: each
    for each in (
        create, schedule, start, close, missed, void, revise, expect, pin, unpin, pause, resume, disable,
        emergency, enable, go_live, stop, extend, archive, unarchive, guarded, limit_exceeded, guard_withdrawn,
        one_left, clock_jump, clock_agrees, accept_clock,
    )
} | {kind: tell(kind) for kind in NOTICES}  # fmt: skip
