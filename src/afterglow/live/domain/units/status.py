"""Decisions, status and explanations of an experiment with units."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any

from afterglow.estimation.verdict import Verdict
from afterglow.live.domain.arguments import known_unit
from afterglow.live.domain.decision import NAMES, Decision, end_of
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import Phase, Role
from afterglow.live.domain.status import REASONS, Explanation, Status, UnitStatus, by_variant
from afterglow.live.domain.units.guards import guards_case
from afterglow.live.domain.units.sentences import in_play
from afterglow.live.domain.units.state import UnitsState
from afterglow.live.domain.units.verdict import UnitsCase, case_of, estimates

LARGE = ("dense", "set_weights", "arm_unit", "arm_arm", "set_sums")  # sums of the regression, too many to show


def decisions(spec: Spec, state: UnitsState) -> Mapping[str | None, Decision]:
    """The current variant of each unit."""
    ends, over = end_of(spec, state), NAMES.get(state.phase)
    return {
        unit: Decision(
            state.step, spec.variants[lane.served], spec.variants[lane.planned], over or str(lane.role), ends, unit
        )
        for unit, lane in zip(spec.units, state.lanes, strict=True)
    }


def status(spec: Spec, state: UnitsState, judge: Callable[[Any], Verdict] = UnitsCase.verdict) -> Status:
    """The status now; `judge` makes the verdict on what is known now, if it is asked for."""
    case, names = case_of(spec, state), spec.variants
    served, pins = {lane.served for lane in state.lanes}, {lane.pinned for lane in state.lanes}
    pinned = names[pins.pop()] if len(pins) == 1 and -1 not in pins else None
    return Status(
        str(state.phase), state.step, spec.horizon, names[served.pop()] if len(served) == 1 else None, pinned,
        case.disabled, state.shadow, state.held is not None, washout_left(spec, state), state.learned, state.excluded,
        case.alarm,
        case.recommended, state.archived, cache(lambda: judge(case)), case.test,
        cache(guards_case(spec, state).read), units=lanes_of(spec, state),
    )  # fmt: skip


def lanes_of(spec: Spec, state: UnitsState) -> tuple[UnitStatus, ...]:
    runner = state.plan.runner
    levels = runner.state.levels if runner is not None else spec.levels or [0.0] * len(spec.units)
    return tuple(
        UnitStatus(
            unit, spec.variants[lane.served], spec.variants[lane.planned], NAMES.get(state.phase, str(lane.role)),
            spec.variants[lane.pinned] if lane.pinned >= 0 else None, level or None, lane.silent,
        )
        for unit, lane, level in zip(spec.units, state.lanes, levels, strict=True)
    )  # fmt: skip


def washout_left(spec: Spec, state: UnitsState) -> int:
    """Steps until effects of steps outside the plan are over in all units."""
    runner = state.plan.runner
    return 0 if runner is None else max(0, spec.window - 1 - min(runner.regular))


def explanation(spec: Spec, state: UnitsState, unit: str | None) -> Explanation:
    """Why a unit's current step has its variant."""
    name = known_unit("unit", unit, spec.units)
    lane, plan = state.lanes[spec.units.index(name)], state.plan
    why, runner = REASONS.get(lane.role, ""), plan.runner
    if lane.role is Role.OUTSIDE:
        why = f"{'paused' if state.phase is Phase.PAUSED else 'pinned or begun anew'}: {why}"
    policy, figures, hold, because = "none: there is nothing to choose", dict[str, Any](), None, ""
    found = estimates(spec, state)
    if runner is not None:
        policy, names = f"{spec.policy} (version {spec.policy_version})", [spec.variants[arm] for arm in plan.arms]
        values = {each.name: getattr(runner.state, each.name) for each in fields(runner.state)}
        figures = {key: by_variant(names, value) for key, value in values.items() if key not in LARGE}
        hold = (plan.since, runner.round.steps) if runner.round is not None else None
        alive = runner.state.alive[: runner.state.arms_left]
        because = in_play(names, alive, spec.variants[lane.planned], found)
    return Explanation(
        state.step, spec.variants[lane.served], spec.variants[lane.planned], str(lane.role), why, policy, hold,
        figures, found, because, unit=name,
    )  # fmt: skip
