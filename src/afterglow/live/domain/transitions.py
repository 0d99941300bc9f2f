"""What each event does to the state. Nothing here reads a clock, a file or a random number.

Commands of operators take effect with the next step: during a step everyone gets the same variant. Only `emergency`
replaces the variant of the current step, which is then void. A step outside the plan interrupts the current hold, which
continues after a wash-out of window - 1 steps on its variant.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from afterglow.live.domain import expected as expectations
from afterglow.live.domain import policy_plan as plans
from afterglow.live.domain.guards.metric_totals import step_totals
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, AnyState, ClockJump, ExperimentState, GuardStop, Phase, Role
from afterglow.live.domain.versions import refuse_other_bounds

Body = Mapping[str, Any]
PAUSED, PLAN, WASHOUT, OUTSIDE, EMERGENCY = (
    Phase.PAUSED,
    Role.PLAN,
    Role.WASHOUT,
    Role.OUTSIDE,
    Role.EMERGENCY,
)  # looked up once, not in every step


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


def open_step(spec: Spec, state: ExperimentState) -> None:
    """Decide the variant of the current step."""
    left = None if spec.horizon is None else spec.horizon - state.step
    state.planned = state.plan.current(state.step, left)
    paused = state.phase is PAUSED
    base = safe(spec, state) if state.shadow else state.planned
    if state.pinned >= 0:
        state.served = state.pinned
    else:
        state.served = safe(spec, state) if paused else base
    if paused or state.served != base:
        state.role = OUTSIDE
    elif state.washout > 0:
        state.role = WASHOUT
    else:
        state.role = Role.SHADOW if state.shadow else PLAN


def safe(spec: Spec, state: AnyState) -> int:
    """The control, or the first variant that is not disabled."""
    allowed = [arm for arm in range(len(spec.variants)) if arm not in state.disabled]
    return spec.control if spec.control in allowed else allowed[0]


def close(spec: Spec, state: ExperimentState, body: Body) -> None:
    """A step ends with its total."""
    total, void, most = body["total"], body["void"], spec.most
    if body.get("silent", void):  # earlier releases stored it of void steps only
        state.told.silent += 1
    else:
        state.told.reported, state.told.silent = True, 0
    out = expectations.surplus(spec, state)
    if total > most:
        total = most
        state.capped += 1
    if state.bounds.guarded is not None:
        state.bounds.guarded.of_step(step_totals(spec, body, total) if state.role is PLAN and not void else None)
    if state.role is OUTSIDE or state.role is EMERGENCY:
        leave_plan(spec, state, other=True)
        state.excluded += 1
    else:
        if void:
            state.bounds.lose(state.served)
        else:
            adjusted = None if out is None else (total - out) / spec.scale
            state.bounds.record(state.served, total / spec.scale, adjusted)
        if state.role is WASHOUT:
            state.washout -= 1
            state.excluded += 1
        else:
            state.excluded += void
            state.learned += not void
            if state.plan.take(state.step, total, void, out):
                state.bounds.settle()
    go_on(spec, state, 1)


def missed(spec: Spec, state: ExperimentState, body: Body) -> None:
    """Steps passed without any request or report, beginning with the current one."""
    leave_plan(spec, state, other=state.role is OUTSIDE)
    state.excluded += body["count"]
    state.told.silent += body["count"]
    go_on(spec, state, body["count"])


def leave_plan(spec: Spec, state: ExperimentState, other: bool) -> None:
    """Steps are not as planned: with another variant, or without anybody to see one."""
    state.washout = spec.window - 1
    state.bounds.interrupt()
    state.plan.pause(other)


def go_on(spec: Spec, state: ExperimentState, steps: int) -> None:
    """The next step, or the end."""
    state.step += steps
    state.spoiled = False
    expectations.forget(state, steps)
    if state.step == spec.horizon:
        state.plan.cut()  # before it recommends
        end(state, state.pinned if state.pinned >= 0 else recommended(state))
    else:
        open_step(spec, state)


def end(state: ExperimentState, keep: int) -> None:
    state.plan.cut()
    state.bounds.settle()
    state.phase = Phase.OVER
    state.served = state.planned = keep
    state.held, state.spoiled = None, False


def recommended(state: ExperimentState) -> int:
    """The variant to keep, by what is known now."""
    if state.shadow:
        return state.served
    return state.plan.recommend([tally.pulls for tally in state.bounds.tallies])


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


def guarded(spec: Spec, state: ExperimentState, body: Body) -> None:
    """A variant is beyond a limit of a guard, and disabled."""
    note_stop(spec, state, body)
    if state.phase is Phase.OVER:
        state.served = state.planned = body["to"]
    else:
        restart(spec, state)


def note_stop(spec: Spec, state: Any, body: Body) -> None:
    """A guard has disabled a variant."""
    variant = body["variant"]
    guard = next(place for place, one in enumerate(spec.guards) if one.name == body["guard"])
    excess, low, high = body["excess"]
    state.stops[variant] = GuardStop(guard, body["step"], (body["mean"], body["limit"], excess, low, high))
    state.disabled = tuple(sorted({*state.disabled, variant}))


def withdraw(state: Any, variants: Iterable[int]) -> None:
    """Steps are void without which guards would not have stopped these variants."""
    for arm in variants:
        state.stops[arm] = state.stops[arm]._replace(withdrawn=True)
    state.exceeded.clear()  # told again if it is still so


def limit_exceeded(spec: Spec, state: ExperimentState, body: Body) -> None:
    """The control, or the last variant, is beyond a limit: it is told, and goes on."""
    guard = next(place for place, one in enumerate(spec.guards) if one.name == body["guard"])
    state.exceeded.append((guard, body["variant"]))


def guard_withdrawn(spec: Spec, state: ExperimentState, body: Body) -> None:
    """It was told that the steps which a stop rested on are void."""
    state.stops[body["variant"]] = state.stops[body["variant"]]._replace(told=True)


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
        state.served, state.role = body["to"], EMERGENCY


def enable(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.disabled = tuple(arm for arm in state.disabled if arm != body["variant"])
    if state.stops.pop(body["variant"], None) is not None and state.bounds.guarded is not None:
        state.bounds.guarded.forget(body["variant"], state.bounds.current)
        state.exceeded = [one for one in state.exceeded if one[1] != body["variant"]]
    restart(spec, state)


def go_live(spec: Spec, state: ExperimentState, body: Body) -> None:
    state.shadow = False
    restart(spec, state)


def restart(spec: Spec, state: ExperimentState) -> None:
    """A new plan with the enabled variants: a policy can't forget an arm. The current step is left out."""
    arms = [arm for arm in range(len(spec.variants)) if arm not in state.disabled]
    state.restarts += 1
    began = state.phase not in WAITING
    best = max(arms, key=lambda arm: (state.bounds.tallies[arm].pulls > 0, mean(state, arm), arm == spec.control))
    state.plan = plans.fresh(spec, arms, state.step + began, state.restarts, best)
    if began and state.role is not EMERGENCY:
        state.role = OUTSIDE


def mean(state: ExperimentState, arm: int) -> float:
    return state.bounds.mean(arm) if state.bounds.tallies[arm].pulls else 0.0


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
