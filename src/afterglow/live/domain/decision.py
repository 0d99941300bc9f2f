"""Decisions and receipts: what an experiment returns."""

from typing import NamedTuple

from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import AnyState, ExperimentState, Phase


class Decision(NamedTuple):
    """The current variant. `valid_until` is when the step ends, in seconds since 1970, if it ends on a schedule; before
    a scheduled start, the start time."""

    step: int
    variant: str
    planned: str
    role: str
    valid_until: float | None
    unit: str | None = None  # of an experiment with units


class Receipt(NamedTuple):
    """Rewards that are stored: they joined the total of `step`."""

    step: int
    accepted: int
    duplicates: int


NAMES = {Phase.OVER: "over", Phase.DRAFT: "waiting", Phase.SCHEDULED: "waiting"}  # in place of a role


def decided(spec: Spec, state: ExperimentState) -> Decision:
    role = NAMES.get(state.phase, str(state.role))
    served, planned = spec.variants[state.served], spec.variants[state.planned]
    return Decision(state.step, served, planned, role, end_of(spec, state))


def end_of(spec: Spec, state: AnyState) -> float | None:
    """When the decision ends on its schedule; None also while the step is held."""
    if not spec.step_ms or state.phase in (Phase.DRAFT, Phase.OVER) or state.held is not None:
        return None
    steps = 0 if state.phase is Phase.SCHEDULED else state.step + 1
    return (state.starts + spec.step_ms * steps) / 1000
