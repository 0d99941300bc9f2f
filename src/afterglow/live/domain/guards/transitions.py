"""What events of guards do to the state: stops of variants, and what is told of them."""

from collections.abc import Iterable
from typing import Any

from afterglow.live.domain.log import Body
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, GuardStop, Phase
from afterglow.live.domain.step_transitions import restart


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
