"""What an experiment answers."""

from typing import NamedTuple

from afterglow.live.spec import Spec
from afterglow.live.state import Phase, State


class Decision(NamedTuple):
    """What is live: `valid_until` is when the step ends, in seconds since 1970, if a clock ends it."""

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
    over = state.phase is Phase.OVER
    end = (state.starts + spec.step_ms * (state.step + 1)) / 1000 if spec.step_ms and not over else None
    served, planned = spec.variants[state.served], spec.variants[state.planned]
    return Decision(state.step, served, planned, "over" if over else str(state.role), end)
