"""What may be asked of an experiment, and the event that it becomes. A refusal changes nothing."""

from typing import Any, NamedTuple

from afterglow.checks import whole
from afterglow.errors import BadValue, Conflict, HorizonReached, OutOfTurn
from afterglow.live.domain.amounts import FULL, micros, units
from afterglow.live.domain.limits import writable
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, Phase, State
from afterglow.live.domain.transitions import safe


class Event(NamedTuple):
    kind: str
    body: dict[str, Any]


class Reported(NamedTuple):
    """What was reported in the step in hand."""

    reports: int
    total: int  # micro-units

    def kept(self) -> int:
        """The sum as a total is kept."""
        return min(self.total, FULL)


def started(spec: Spec, state: State) -> None:
    """Refuse what needs a step in hand."""
    if state.phase in WAITING:
        way_out = "call start()"
        if state.phase is Phase.SCHEDULED:
            way_out = "it starts by itself when the decision of now ends, unless stop() calls it off"
        raise OutOfTurn(f"experiment {spec.name!r} is not started; {way_out}")
    if state.phase is Phase.OVER:
        if state.step == spec.horizon:
            raise HorizonReached(
                f"all {spec.horizon:,} steps of {spec.name!r} are played; recommend() names the variant"
            )
        raise OutOfTurn(f"experiment {spec.name!r} was stopped at step {state.step:,}; create a new one")


def start(spec: Spec, state: State, now: int) -> list[Event]:
    """Begin: step 0 is the slot of time that it is now. Before its time it is scheduled."""
    if state.phase not in WAITING:
        started(spec, state)
        raise OutOfTurn(f"experiment {spec.name!r} is started already; it is {state.phase}")
    gone = now - spec.starts_ms
    if spec.step_ms and gone < 0:
        return [] if state.phase is Phase.SCHEDULED else [Event("schedule", {"starts": spec.starts_ms})]
    gone = max(0, gone)
    return [Event("start", {"starts": spec.starts_ms + (gone - gone % spec.step_ms if spec.step_ms else gone)})]


def due(spec: Spec, state: State, now: int) -> bool:
    """Whether the clock has something to do: start what is scheduled, end the step in hand."""
    if not spec.step_ms or state.phase in (Phase.DRAFT, Phase.OVER):
        return False
    if state.phase is Phase.SCHEDULED:
        return now >= state.starts
    return step_at(spec, state, now) > state.step


def close(spec: Spec, state: State, told: object, reported: Reported) -> Event:
    """End the step in hand with a total told, or with the sum of what was reported in it."""
    started(spec, state)
    total = reported.kept() if told is None else micros("total", told, spec.most)
    if reported.reports and total != reported.kept():
        raise Conflict(
            f"step {state.step:,} has {reported.reports:,} rewards that add up to {units(reported.total):,g}, got "
            f"total {told!r}; leave the total out, or report everything one way"
        )
    void = spec.heartbeat and told is None and not reported.reports
    return Event("close", {"step": state.step, "served": state.served, "total": total, "void": void})


def passed(spec: Spec, state: State, now: int, reported: Reported) -> list[Event]:
    """What the clock has brought: a start that was scheduled; or steps that have ended, the one in hand with its
    total and those that nobody was there for."""
    if not due(spec, state, now):
        return []
    if state.phase is Phase.SCHEDULED:
        return start(spec, state, now)
    last = step_at(spec, state, now)
    if spec.horizon is not None:
        last = min(last, spec.horizon)
    events = [close(spec, state, None, reported)]
    gone = last - state.step - 1
    if gone:
        events.append(Event("missed", {"first": state.step + 1, "count": gone}))
    return events


def step_at(spec: Spec, state: State, now: int) -> int:
    """The number of the step at a time, by the clock: computed, never counted."""
    return (now - state.starts) // spec.step_ms


def span(spec: Spec, state: State, step: object, last: object) -> range:
    """The steps to take back: from `step` to `last`, or that one alone. All must have ended."""
    if state.phase in WAITING:
        started(spec, state)
    first = whole("step", step, 0)
    final = first if last is None else whole("last", last, first, "step")
    if final >= state.step:
        closed = f"steps 0 to {state.step - 1:,} have" if state.step else "none has yet"
        raise OutOfTurn(f"step {final:,} can't be voided before it has ended; {closed}")
    return range(first, final + 1)


def in_hand(state: State, steps: range) -> bool:
    """Whether this is one step, of the hold in hand: the policy has not learned it."""
    hold = state.plan.hold
    return len(steps) == 1 and hold is not None and 0 <= hold.fresh <= steps[0]


def void(spec: Spec, state: State, step: int, why: str) -> list[Event]:
    """Take a step of the hold in hand back; nothing if that is done already."""
    hold = state.plan.hold
    if hold is None or step in hold.voided:
        return []
    return [Event("void", {"step": step, "total": hold.totals[hold.place(step)], "reason": reason(why)})]


def revise(steps: range, why: str, follows: dict[str, Any]) -> Event:
    """Take steps back that were learned; `follows` is what `Replay` leads to."""
    return Event("revise", {"first": steps[0], "last": steps[-1], "reason": reason(why), "follows": follows})


def pin(spec: Spec, state: State, variant: object, why: str) -> list[Event]:
    started(spec, state)
    arm = spec.variant(variant)
    if arm in state.disabled:
        raise OutOfTurn(f"variant {variant!r} is disabled; enable() it first")
    return [Event("pin", {"variant": arm, "reason": reason(why)})] if arm != state.pinned else []


def unpin(spec: Spec, state: State, why: str) -> list[Event]:
    started(spec, state)
    return [Event("unpin", {"reason": reason(why)})] if state.pinned >= 0 else []


def pause(spec: Spec, state: State, why: str) -> list[Event]:
    started(spec, state)
    return [Event("pause", {"reason": reason(why)})] if state.phase is Phase.RUNNING else []


def resume(spec: Spec, state: State, why: str) -> list[Event]:
    started(spec, state)
    return [Event("resume", {"reason": reason(why)})] if state.phase is Phase.PAUSED else []


def disable(spec: Spec, state: State, variant: object, why: str) -> list[Event]:
    started(spec, state)
    arm = spec.variant(variant)
    if arm in state.disabled:
        return []
    if len(state.disabled) == len(spec.variants) - 1:
        raise OutOfTurn(f"variant {variant!r} is the last one left; stop() the experiment instead")
    if arm == state.pinned:
        raise OutOfTurn(f"variant {variant!r} is pinned; unpin() it first")
    return [Event("disable", {"variant": arm, "reason": reason(why)})]


def enable(spec: Spec, state: State, variant: object, why: str) -> list[Event]:
    started(spec, state)
    arm = spec.variant(variant)
    return [Event("enable", {"variant": arm, "reason": reason(why)})] if arm in state.disabled else []


def go_live(spec: Spec, state: State, why: str) -> list[Event]:
    started(spec, state)
    return [Event("go_live", {"reason": reason(why)})] if state.shadow else []


def stop(spec: Spec, state: State, keep: object, why: str, reported: Reported) -> Event:
    """End it now, or call it off. `keep` is served from then on; if it is None, what is pinned or else the control."""
    if state.phase not in WAITING:
        started(spec, state)
    if keep is None:
        arm = state.pinned if state.pinned >= 0 else safe(spec, state)
    else:
        arm = spec.variant(keep)
    if arm in state.disabled:
        raise OutOfTurn(f"variant {keep!r} is disabled; keep another, or enable() it first")
    body = {"step": state.step, "served": state.served, "total": reported.kept(), "keep": arm, "reason": reason(why)}
    return Event("stop", body)


def reason(why: object) -> str:
    if not isinstance(why, str) or not why.strip() or len(why) > 1000 or not writable(why):
        raise BadValue(f"reason must be a sentence of at most 1,000 characters, got {why!r}")
    return why.strip()
