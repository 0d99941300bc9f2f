"""An experiment without a disk: its state and its events."""

from afterglow.live.domain import commands
from afterglow.live.domain.commands import Event, Reported
from afterglow.live.domain.log import body_of, read_body
from afterglow.live.domain.replay import Replay, StepSet
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState, initial
from afterglow.live.domain.transitions import apply


class Live:
    """An experiment without a disk: its state, and the events that led to it."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.state: ExperimentState = initial(spec)
        self.events: list[tuple[str, str]] = []  # as they are stored
        self.gone: list[range] = []
        self.early: list[range] = []
        self.happen([Event("create", {}), *commands.start(spec, self.state, 0)])

    def happen(self, events: list[Event]) -> None:
        for kind, body in events:
            self.events.append((kind, body_of(body)))
            apply(self.spec, self.state, kind, body)

    def close(self, total: float) -> None:
        self.happen([commands.close(self.spec, self.state, total, Reported(0, 0))])

    def void(self, first: int, last: int) -> None:
        steps = commands.span(self.spec, self.state, first, last)
        self.gone.append(steps)
        if commands.in_current_hold(self.state, steps):
            self.early.append(steps)
            self.happen(commands.void(self.spec, self.state, first, "a test"))
            return
        replay = Replay(self.spec, StepSet(self.gone), StepSet(self.early))
        for kind, body in self.events:
            replay.take(kind, read_body(body))
        self.happen([commands.revise(steps, "a test", replay.follows())])
