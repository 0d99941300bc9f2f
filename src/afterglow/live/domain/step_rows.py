"""One row for each step, and what an event changes in those rows."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import WAITING, ExperimentState, Role


class StepRow(NamedTuple):
    step: int
    served: int
    planned: int
    role: str
    total: int | None = None  # None until it is closed
    void: int = 0


class OpenRow(NamedTuple):
    step: int
    served: int
    planned: int
    role: str

    def row(self) -> StepRow:
        return StepRow(*self)


class CloseRow(NamedTuple):
    step: int
    total: int
    role: str
    void: bool


class MissedRows(NamedTuple):
    """Rows like this one, for so many steps."""

    row: StepRow
    steps: int


class SpoiledRow(NamedTuple):
    """The current step got another variant before its end."""

    step: int
    served: int


class VoidRows(NamedTuple):
    first: int
    last: int


def changes(
    spec: Spec, state: ExperimentState, kind: str, body: Mapping[str, Any]
) -> Iterator[OpenRow | CloseRow | MissedRows | SpoiledRow | VoidRows]:
    """Changes of rows by an event, from the state before it; the row of a step that it opens is added separately."""
    if kind == "close":
        yield CloseRow(state.step, body["total"], str(state.role), body["void"])
    elif kind == "missed":
        first, role = state.step, str(Role.MISSED)
        yield CloseRow(first, 0, role, True)
        if body["count"] > 1:
            yield MissedRows(StepRow(first + 1, state.served, state.planned, role, 0, 1), body["count"] - 1)
    elif kind == "void":
        yield VoidRows(body["step"], body["step"])
    elif kind == "revise":
        yield VoidRows(body["first"], body["last"])
    elif kind == "stop" and state.phase not in WAITING:
        yield CloseRow(state.step, body["total"], str(Role.LAST), state.role is Role.EMERGENCY)
    elif kind == "emergency" and body["void"]:
        yield SpoiledRow(state.step, body["to"])
