"""Effects of commands: the events that follow from a command in a state. A refused command changes nothing.

`command_table` declares the commands of operators; it checks their arguments and the phase of the experiment first.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from afterglow.checks import whole
from afterglow.errors import BadValue, Conflict, HorizonReached, OutOfTurn, argument
from afterglow.live.domain import versions
from afterglow.live.domain.actor import Actor
from afterglow.live.domain.amounts import FULL, micros, units
from afterglow.live.domain.expected import phase_at, told
from afterglow.live.domain.guards.metric_totals import metric_totals
from afterglow.live.domain.spec import Spec, policy_of
from afterglow.live.domain.state import WAITING, AnyState, ExperimentState, Phase, Role
from afterglow.live.domain.step_transitions import safe


class Event(NamedTuple):
    kind: str
    body: dict[str, Any]

    def given_by(self, actor: Actor | None) -> "Event":
        """The same event with the actor of its command."""
        return self if actor is None else self._replace(body=self.body | {"by": actor.values()})


class Reported(NamedTuple):
    """What was reported in the current step."""

    reports: int
    total: int  # micro-units
    others: Mapping[int, tuple[int, int]] = {}  # reports and totals of the series after the first

    @classmethod
    def of(cls, sums: Mapping[int, tuple[int, int]]) -> "Reported":
        """By series, as stores add them up."""
        return cls(*sums.get(0, (0, 0)), {series: sum_ for series, sum_ in sums.items() if series})

    def kept(self) -> int:
        """The sum as a total is stored."""
        return min(self.total, FULL)


class Voided(NamedTuple):
    """Steps to void: of some units, or whole."""

    steps: range
    units: tuple[int, ...] = ()  # all, if none is named


class Context(Protocol):
    """What effects may need beside the spec and the state."""

    @property
    def now(self) -> int:
        """Milliseconds since 1970."""

    @property
    def clock(self) -> int:
        """What the clock shows, even if it can't be believed."""

    def reported(self) -> Reported:
        """What was reported in the current step."""

    def all_void(self, steps: Voided) -> bool:
        """Whether all of these steps are void already."""

    def without(self, steps: Voided) -> dict[str, Any]:
        """The state that follows if these steps are void, as a `revise` event has it."""


def started(spec: Spec, state: AnyState) -> None:
    """Refuse what needs a current step."""
    if state.phase in WAITING:
        way_out = "call start()"
        if state.phase is Phase.SCHEDULED:
            way_out = "it starts on its own at its start time, unless stop() cancels it"
        raise OutOfTurn(f"experiment {spec.name!r} is not started; {way_out}")
    if state.phase is Phase.OVER:
        if state.step == spec.horizon:
            raise HorizonReached(
                f"all {spec.horizon:,} steps of {spec.name!r} are played; recommend() names the variant, and an "
                "experiment that is over can't be continued: create a new one"
            )
        raise OutOfTurn(f"experiment {spec.name!r} was stopped at step {state.step:,}; create a new one")


def start(spec: Spec, state: AnyState, now: int) -> list[Event]:
    """Start: step 0 is the current slot of the schedule. Before its start time the experiment is scheduled."""
    gone = now - spec.starts_ms
    if spec.step_ms and gone < 0:
        return [] if state.phase is Phase.SCHEDULED else [Event("schedule", {"starts": spec.starts_ms})]
    gone = max(0, gone)
    starts = spec.starts_ms + (gone - gone % spec.step_ms if spec.step_ms else gone)
    phase = {"phase": phase_at(spec, starts)} if spec.profile else {}
    return [Event("start", {"starts": starts} | phase)]


def expect(spec: Spec, state: ExperimentState, first: object, values: Iterable[object]) -> Event:
    """Tell the totals that are expected of steps to come."""
    if state.phase is Phase.OVER:
        started(spec, state)
    return Event("expect", told(spec, state, first, values))


def close(
    spec: Spec,
    state: ExperimentState,
    given: object,
    reported: Reported,
    metrics: Mapping[str, object] | None = None,
) -> Event:
    """End the current step with a given total, or with the sum of its rewards; the same for totals of metrics."""
    started(spec, state)
    total = reported.kept() if given is None else micros("total", given, spec.most)
    if reported.reports and total != reported.kept():
        raise Conflict(
            f"step {state.step:,} has {reported.reports:,} rewards that add up to {units(reported.total):,.12g}, got "
            f"{argument('total')} {given!r}; leave the total out, or report everything one way",
            kind="step-closed", field="total",
        )  # fmt: skip
    silent = given is None and not metrics and not reported.reports and not reported.others
    spoiled = state.role is Role.EMERGENCY or state.spoiled
    late = given is None and not silent and has_late_reports(spec, state)
    void = (silent and (spec.heartbeat or not state.told.reported)) or spoiled or late
    body: dict[str, Any] = {"step": state.step, "served": state.served, "total": total, "void": void}
    if len(spec.metrics) > 1:
        body["metrics"] = metric_totals(spec, reported.others, metrics or {})
    elif metrics:
        spec.metric(next(iter(metrics)))
    body |= {"late": True} if late else {}
    return Event("close", body | {"silent": silent} if silent != void else body)


def has_late_reports(spec: Spec, state: ExperimentState) -> bool:
    """Whether what is reported now may belong to silent steps before: with `heartbeat` silence is a fault, such as a
    batch that is late, and what it kept back arrives in the next step. Experiments of earlier releases go on as they
    began, without this rule."""
    earlier = spec.computed["state"] == versions.FIRST["state"]
    return spec.heartbeat and state.told.reported and state.told.silent > 0 and not earlier


def span(spec: Spec, state: AnyState, step: object, last: object) -> range:
    """The steps to void: from `step` to `last`, or `step` alone. All must have ended."""
    first = whole("step", step, 0)
    final = first if last is None else whole("last", last, first, "step")
    if final >= state.step:
        closed = f"steps 0 to {state.step - 1:,} have" if state.step else "none has yet"
        field = "step" if last is None else "last"
        raise OutOfTurn(f"step {final:,} can't be voided before it has ended; {closed}", field=field)
    return range(first, final + 1)


def in_current_hold(state: ExperimentState, steps: range) -> bool:
    """Whether this is one step of the current hold, which the policy has not learned yet."""
    hold = state.plan.hold
    return len(steps) == 1 and hold is not None and 0 <= hold.fresh <= steps[0]


def total_in_hold(state: ExperimentState, step: int) -> int | None:
    """The total of a step of the current hold."""
    hold = state.plan.hold
    return None if hold is None else hold.totals[hold.place(step)]


def void_steps(
    spec: Spec, state: ExperimentState, context: Context, step: object, reason: str, last: object = None,
    unit: None = None,
) -> list[Event]:  # fmt: skip
    """Void a step, or all up to `last`; nothing if that is done already."""
    steps = span(spec, state, step, last)
    if in_current_hold(state, steps):
        return void(spec, state, steps[0], reason)
    gone = Voided(steps)
    return [] if context.all_void(gone) else [revise(steps, reason, context.without(gone))]


def void(spec: Spec, state: ExperimentState, step: int, reason: str) -> list[Event]:
    """Void a step of the current hold; nothing if that is done already."""
    hold = state.plan.hold
    if hold is None or step in hold.voided:
        return []
    return [Event("void", {"step": step, "total": hold.totals[hold.place(step)], "reason": reason})]


def revise(steps: range, reason: str, follows: dict[str, Any]) -> Event:
    """Void steps that were learned; `follows` is the state that `Replay` computes."""
    return Event("revise", {"first": steps[0], "last": steps[-1], "reason": reason, "follows": follows})


def pin(spec: Spec, state: ExperimentState, variant: str, reason: str, unit: None = None) -> list[Event]:
    arm = spec.variant(variant)
    if arm in state.disabled:
        raise OutOfTurn(f"variant {variant!r} is disabled; enable() it first", field="variant")
    return [Event("pin", {"variant": arm, "reason": reason})] if arm != state.pinned else []


def unpin(spec: Spec, state: ExperimentState, reason: str, unit: None = None) -> list[Event]:
    return [Event("unpin", {"reason": reason})] if state.pinned >= 0 else []


def pause(spec: Spec, state: AnyState, reason: str) -> list[Event]:
    return [Event("pause", {"reason": reason})] if state.phase is Phase.RUNNING else []


def resume(spec: Spec, state: AnyState, reason: str) -> list[Event]:
    return [Event("resume", {"reason": reason})] if state.phase is Phase.PAUSED else []


def disable(spec: Spec, state: ExperimentState, variant: str, reason: str) -> list[Event]:
    arm = spec.variant(variant)
    if arm in state.disabled:
        return []
    if len(state.disabled) == len(spec.variants) - 1:
        raise OutOfTurn(f"variant {variant!r} is the last one left; stop() the experiment instead", field="variant")
    if arm == state.pinned:
        raise OutOfTurn(f"variant {variant!r} is pinned; unpin() it first", field="variant")
    return [Event("disable", {"variant": arm, "reason": reason})]


def emergency(spec: Spec, state: ExperimentState, variant: str, reason: str) -> list[Event]:
    """Take a variant off now. The current step goes on with the pinned variant, else the control, and is void."""
    arm = spec.variant(variant)
    if arm in state.disabled and state.served != arm:
        return []
    left = [other for other in range(len(spec.variants)) if other != arm and other not in state.disabled]
    if not left:
        raise OutOfTurn(f"variant {variant!r} is the last one left; enable() another one first", field="variant")
    to = spec.control if spec.control in left else left[0]
    if state.pinned in left:
        to = state.pinned
    live = state.served == arm
    body = {"variant": arm, "to": to if live else state.served, "step": state.step, "reason": reason}
    return [Event("emergency", body | {"void": live and state.phase is not Phase.OVER})]


def enable(spec: Spec, state: AnyState, variant: str, reason: str) -> list[Event]:
    arm = spec.variant(variant)
    return [Event("enable", {"variant": arm, "reason": reason})] if arm in state.disabled else []


def go_live(spec: Spec, state: AnyState, reason: str) -> list[Event]:
    return [Event("go_live", {"reason": reason})] if state.shadow else []


def extend(spec: Spec, state: AnyState, horizon: int, reason: str) -> list[Event]:
    """Lengthen the horizon, if the policy's schedule doesn't depend on it; nothing if it is as long already."""
    if spec.horizon is None:
        raise OutOfTurn(f"experiment {spec.name!r} has no horizon: it runs until stop()", field="horizon")
    if horizon < spec.horizon:
        rule = f"{argument('horizon')} must be more than the {spec.horizon:,} steps there are"
        raise BadValue(f"{rule}, got {horizon:,}; stop() ends the experiment sooner")
    if not extendable(spec):
        raise OutOfTurn(
            f"{spec.policy} has made its schedule for {spec.horizon:,} steps, so {spec.name!r} can't be lengthened; "
            "create another one after it, or use a policy such as thrift-ucb, whose choices follow a longer horizon",
            field="horizon",
        )
    more = horizon - spec.horizon
    return [Event("extend", {"horizon": horizon, "more": more, "reason": reason})] if more else []


def extendable(spec: Spec) -> bool:
    """Whether the policy's schedule doesn't depend on the horizon."""
    return not spec.units and policy_of(spec).extendable


def archive(spec: Spec, state: AnyState, reason: str) -> list[Event]:
    if state.phase is not Phase.OVER:
        raise OutOfTurn(f"experiment {spec.name!r} is {state.phase}; stop() it before it is archived")
    return [] if state.archived else [Event("archive", {"reason": reason})]


def unarchive(spec: Spec, state: AnyState, reason: str) -> list[Event]:
    return [Event("unarchive", {"reason": reason})] if state.archived else []


def stop(spec: Spec, state: ExperimentState, reported: Reported, reason: str, keep: str | None = None) -> list[Event]:
    """End the experiment, or cancel it. `keep` is served from then on; None: the pinned variant, else the control."""
    if keep is None:
        arm = state.pinned if state.pinned >= 0 else safe(spec, state)
    else:
        arm = spec.variant(keep)
    if arm in state.disabled:
        raise OutOfTurn(f"variant {keep!r} is disabled; keep another, or enable() it first", field="keep")
    body: dict[str, Any] = {"step": state.step, "served": state.served, "total": reported.kept(), "keep": arm}
    body["reason"] = reason
    if len(spec.metrics) > 1:
        body["metrics"] = metric_totals(spec, reported.others, {})
    return [Event("stop", body)]
