"""What the effects of commands need of the store: the rewards of the current step, and the replay of a late void."""

from typing import Any

from afterglow.live.domain.commands import Reported
from afterglow.live.late_void import LateVoid
from afterglow.live.store.contract import Writing


class ReplayNeeded(Exception):
    """Learned steps are to be voided: the log has to be replayed without them, outside the transaction."""

    def __init__(self, steps: range) -> None:
        self.steps = steps


class CommandContext:
    """For one transaction; `late` is a replay that was prepared before it."""

    def __init__(self, log: Writing, now: int, step: int, late: LateVoid | None) -> None:
        self.log = log
        self.now = now
        self.step = step
        self.late = late

    def reported(self) -> Reported:
        return Reported(*self.log.reported(self.step))

    def all_void(self, steps: range) -> bool:
        return all(row.void for row in self.log.steps(steps[0], len(steps)))

    def without(self, steps: range) -> dict[str, Any]:
        follows = self.late.follows(self.log) if self.late is not None else None
        if not follows:
            raise ReplayNeeded(steps)
        return follows
