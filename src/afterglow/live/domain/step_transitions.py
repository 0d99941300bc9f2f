"""How a step begins and ends: the variant that it gets, and what is learned from its total."""

from afterglow.live.domain import expected as expectations
from afterglow.live.domain import policy_plan as plans
from afterglow.live.domain.guards.metric_totals import step_totals
from afterglow.live.domain.log import Body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, AnyState, ExperimentState, Phase, Role

PAUSED, PLAN, WASHOUT, OUTSIDE, EMERGENCY = (
    Phase.PAUSED,
    Role.PLAN,
    Role.WASHOUT,
    Role.OUTSIDE,
    Role.EMERGENCY,
)  # looked up once, not in every step


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
