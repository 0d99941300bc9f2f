"""What an experiment answers."""

from typing import NamedTuple

from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import Phase, State


class Decision(NamedTuple):
    """What is live: `valid_until` is when the step ends, in seconds since 1970, if a clock ends it; before a scheduled
    start, when that is."""

    step: int
    variant: str
    planned: str
    role: str
    valid_until: float | None


class Receipt(NamedTuple):
    """Rewards that are on the disk: they joined the total of `step`."""

    step: int
    accepted: int
    duplicates: int


def decided(spec: Spec, state: State) -> Decision:
    role = {Phase.OVER: "over", Phase.DRAFT: "waiting", Phase.SCHEDULED: "waiting"}.get(state.phase, str(state.role))
    served, planned = spec.variants[state.served], spec.variants[state.planned]
    return Decision(state.step, served, planned, role, end_of(spec, state))


def end_of(spec: Spec, state: State) -> float | None:
    """When something else may be decided, by the clock."""
    if not spec.step_ms or state.phase in (Phase.DRAFT, Phase.OVER):
        return None
    steps = 0 if state.phase is Phase.SCHEDULED else state.step + 1
    return (state.starts + spec.step_ms * steps) / 1000
