"""What an event changes in the table of steps."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from afterglow.live.spec import Spec
from afterglow.live.state import Role, State
from afterglow.live.store.contract import StepRow


class Open(NamedTuple):
    step: int
    served: int
    planned: int
    role: str

    def row(self) -> StepRow:
        return StepRow(*self)


class Close(NamedTuple):
    step: int
    total: int
    role: str
    void: bool


class Void(NamedTuple):
    step: int


def changes(spec: Spec, state: State, kind: str, body: Mapping[str, Any]) -> Iterator[Open | Close | Void]:
    """What happens to rows when an event meets the state before it; the step that it opens comes on top."""
    if kind == "close":
        yield Close(state.step, body["total"], str(state.role), body["void"])
    elif kind == "missed":
        first, role = state.step, str(Role.MISSED)
        yield Close(first, 0, role, True)
        for step in range(first + 1, first + body["count"]):
            yield Open(step, state.served, state.planned, role)
            yield Close(step, 0, role, True)
    elif kind == "void":
        yield Void(body["step"])
    elif kind == "stop":
        yield Close(state.step, body["total"], str(Role.LAST), False)
