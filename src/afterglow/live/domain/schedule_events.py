"""Events of the schedule and of the clock: starts, ends of steps, a step that is held because the clock has jumped."""

from collections.abc import Callable, Mapping
from typing import Any

from afterglow.live.domain.commands import Event, Reported, close, start
from afterglow.live.domain.expected import phase_at
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AnyState, Phase


def due(spec: Spec, state: AnyState, now: int) -> bool:
    """Whether a scheduled start or the end of the current step has come."""
    if not spec.step_ms or state.phase in (Phase.DRAFT, Phase.OVER) or state.held is not None:
        return False
    if state.phase is Phase.SCHEDULED:
        return now >= state.starts
    return step_at(spec, state, now) > state.step


# A function that ends the current step, like `close`
Closing = Callable[[Spec, Any, object, Reported, Mapping[str, object] | None], Event]


def passed(spec: Spec, state: AnyState, now: int, reported: Reported, close: Closing = close) -> list[Event]:
    """Events of the schedule: a scheduled start; or the end of the current step, and steps missed since then."""
    if not due(spec, state, now):
        return []
    if state.phase is Phase.SCHEDULED:
        return start(spec, state, now)
    last = step_at(spec, state, now)
    if spec.horizon is not None:
        last = min(last, spec.horizon)
    events = [close(spec, state, None, reported, None)]
    gone = last - state.step - 1
    if gone:
        events.append(Event("missed", {"first": state.step + 1, "count": gone}))
    return events


def step_at(spec: Spec, state: AnyState, now: int) -> int:
    """The number of the step at a time of the schedule: computed, never counted."""
    return (now - state.starts) // spec.step_ms


def hold(state: AnyState, clock: int, expected: int) -> Event:
    """Hold the current step: the clock can't be believed."""
    return Event("clock_jump", {"step": state.step, "clock": clock, "expected": expected})


def release(spec: Spec, state: AnyState, now: int) -> Event:
    """The clock is right again. A step that has lasted longer than its time is void: its total is of several steps."""
    late = state.phase is not Phase.SCHEDULED and step_at(spec, state, now) > state.step
    return Event("clock_agrees", {"step": state.step, "void": late})


def accept_clock(spec: Spec, state: AnyState, clock: int, reason: str) -> list[Event]:
    """Believe the clock. If it shows an earlier step, the schedule is moved by whole steps, so that it is this one."""
    if state.held is None:
        return []
    waits = state.phase is Phase.SCHEDULED
    body = {"step": state.step, "clock": clock, "expected": state.held.expected, "void": not waits, "reason": reason}
    back = 0 if waits else state.step - step_at(spec, state, clock)
    if back > 0:
        starts = state.starts - back * spec.step_ms
        body |= {"starts": starts} | ({"phase": phase_at(spec, starts)} if spec.profile else {})
    return [Event("accept_clock", body)]
