"""The state of an experiment: computed from its spec and its log, and stored as snapshots."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import SimpleNamespace
from typing import Any, NamedTuple

from afterglow.estimation.guards import batch_shape
from afterglow.live.domain import policy_plan as plans
from afterglow.live.domain import versions
from afterglow.live.domain.bounds import ExperimentBounds
from afterglow.live.domain.guards.record import GuardRecord
from afterglow.live.domain.policy_plan import PolicyPlan
from afterglow.live.domain.spec import Spec

VERSION = versions.STATE


class Phase(StrEnum):
    DRAFT = "draft"  # created, not started
    SCHEDULED = "scheduled"  # will start at a time
    RUNNING = "running"
    PAUSED = "paused"  # serves the control and learns nothing
    OVER = "over"  # the horizon is reached, or it was stopped


WAITING = (Phase.DRAFT, Phase.SCHEDULED)  # serve the control; there is no current step


class Role(StrEnum):
    """What a step is for."""

    PLAN = "plan"  # the policy learns from it
    WASHOUT = "washout"  # as planned, but effects of steps outside the plan may arrive
    OUTSIDE = "outside"  # pinned or paused: not as planned
    SHADOW = "shadow"  # the control is served, the plan only logged
    MISSED = "missed"  # nothing was requested or reported
    LAST = "last"  # was open when the experiment was stopped
    EMERGENCY = "emergency"  # its variant was replaced before it ended: void
    ASIDE = "aside"  # was learned from, until steps were voided without which another variant would have been served


class ClockJump(NamedTuple):
    """Why a step is held: what the clock showed, and what was expected, in milliseconds since 1970."""

    clock: int
    expected: int


AWAY = (Role.OUTSIDE, Role.EMERGENCY)  # not as planned, not learned from


@dataclass(slots=True)
class Notified:
    """What notices have told, and what they depend on."""

    reported: bool = False  # whether anything was ever reported
    silent: int = 0  # steps since the last report
    silence: bool = False  # these three were told
    alarm: bool = False
    leader: int = -1
    grade: str = ""  # of the last verdict that was told

    def take(self, kind: str, body: Mapping[str, Any]) -> None:
        """A notice was appended."""
        if kind in ("alarm_raised", "alarm_cleared"):
            self.alarm = kind == "alarm_raised"
        elif kind in ("never_reported", "reports_stopped", "reports_resumed"):
            self.silence = kind != "reports_resumed"
        elif kind in ("leads", "verdict"):
            self.leader = -1 if body["variant"] is None else body["variant"]
            self.grade = body["grade"] if kind == "verdict" else self.grade


class GuardStop(NamedTuple):
    """A variant was disabled by a guard."""

    guard: int
    step: int
    figures: tuple[float, float, float, float, float]  # mean, limit, excess with its ends, in the unit of the metric
    withdrawn: bool = False  # without steps that are void now it would not have been
    told: bool = False  # that it is withdrawn


@dataclass(slots=True, kw_only=True)
class AnyState:
    """What the states of all kinds of experiments have."""

    step: int = 0  # the current step
    starts: int = 0  # when step 0 begins, milliseconds since 1970
    phase: Phase = Phase.DRAFT
    served: int = 0  # the variant of the current step, or after the end
    planned: int = 0
    shadow: bool = False
    disabled: tuple[int, ...] = ()
    restarts: int = 0
    learned: int = 0  # steps that the policy learns from
    excluded: int = 0  # steps that it doesn't learn from
    told: Notified = field(default_factory=Notified)
    lengthened: int = 0  # steps by which the horizon was lengthened
    archived: bool = False  # hidden from lists
    held: ClockJump | None = None  # the current step is held, until the clock is right or accepted
    spoiled: bool = False  # the current step was held too long: it is void


@dataclass(slots=True, kw_only=True)
class ExperimentState(AnyState):
    """The state of an experiment with one total a step."""

    plan: PolicyPlan
    bounds: ExperimentBounds
    role: Role = Role.PLAN
    pinned: int = -1
    washout: int = 0  # steps still to be played before the plan counts again
    capped: int = 0  # steps whose total was larger than the window and reward_max allow
    profile_phase: int = 0  # of step 0
    expected: dict[int, int] = field(default_factory=dict)  # of the current step and steps to come, in micro-units
    stops: dict[int, GuardStop] = field(default_factory=dict)  # by variant
    exceeded: list[tuple[int, int]] = field(default_factory=list)  # guards and variants that were told, not stopped

    def text(self, version: int = VERSION) -> str:
        """The state as JSON, for a snapshot; as an earlier release stored it if its version is given."""
        values = {
            "plan": self.plan.values(),
            "books": stored_bounds(self.bounds.values(), version),
            **{name: getattr(self, name) for name in PLAIN},
        }
        if version > 1:
            ahead = sorted(self.expected.items())
            values |= {"version": version, "profile_phase": self.profile_phase, "expected": ahead}
            values["told"] = asdict(self.told)
            values |= {name: getattr(self, name) for name in RARE if getattr(self, name)}
            if numbers := versions.named():
                values["computed"] = numbers
        if self.bounds.guarded is not None:
            values |= {"stops": sorted(self.stops.items()), "exceeded": self.exceeded}
        return json.dumps(values, separators=(",", ":"), sort_keys=True)


PLAIN = (
    "step", "starts", "phase", "served", "planned", "role", "shadow", "pinned", "disabled", "washout", "restarts",
    "capped", "learned", "excluded",
)  # fmt: skip


RARE = ("lengthened", "archived", "held", "spoiled")  # stored where they are not 0, False or None


def rare(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of them that a stored state has."""
    found = {name: values[name] for name in RARE if name in values}
    return found | {"held": ClockJump(*found["held"])} if "held" in found else found


def stored_bounds(values: dict[str, Any], version: int) -> dict[str, Any]:
    """Values of the bounds as a version of the stored state has them."""
    if version > 1:
        return values
    return values | {"batches": {name: value for name, value in values["batches"].items() if name != "timeline"}}


def bounds_version(values: dict[str, Any]) -> int:
    """The version of the stored state that values of the bounds belong to."""
    return 2 if "timeline" in values["batches"] else 1


def version_of(text: str) -> int:
    """The version of a stored state."""
    return int(json.loads(text).get("version", 1))


def empty_bounds(spec: Spec) -> ExperimentBounds:
    """Bounds before the first step, with a record of what guards watch."""
    arms, guarded = len(spec.variants), None
    if spec.guards:
        watched = sorted({spec.metric(guard.metric) for guard in spec.guards})
        shape = batch_shape(spec.policy, SimpleNamespace(**spec.settings), spec.window, spec.season)
        guarded = GuardRecord(watched, arms, spec.window, shape)
    return ExperimentBounds(arms, spec.window, spec.confidence, spec.season, guarded)


def initial(spec: Spec) -> ExperimentState:
    """The state before the first event."""
    everyone = list(range(len(spec.variants)))
    bounds = empty_bounds(spec)
    plan = plans.fresh(spec, everyone, 0, 0, spec.control)
    return ExperimentState(plan=plan, bounds=bounds, served=spec.control, planned=spec.control, shadow=spec.shadow)


def restored_stop(values: list[Any]) -> GuardStop:
    guard, step, figures, withdrawn, told = values
    return GuardStop(guard, step, tuple(figures), withdrawn, told)


def restored(spec: Spec, text: str) -> ExperimentState:
    """The state that `ExperimentState.text` stored, in this release's version."""
    values: dict[str, Any] = json.loads(text)
    bounds = empty_bounds(spec)
    bounds.restore(values["books"])
    plain = {name: values[name] for name in PLAIN}
    plain |= {
        "phase": Phase(values["phase"]),
        "role": Role(values["role"]),
        "disabled": tuple(values["disabled"]),
        "told": Notified(**values["told"]),
        "profile_phase": values.get("profile_phase", 0),
        "expected": dict(values.get("expected", ())),
        **rare(values),
        "stops": {arm: restored_stop(stop) for arm, stop in values.get("stops", ())},
        "exceeded": [tuple(one) for one in values.get("exceeded", ())],
    }
    return ExperimentState(plan=plans.resumed(spec, values["plan"]), bounds=bounds, **plain)
