"""What the effects of commands need of the store: the rewards of the current step, and the replay of a late void."""

from typing import Any

from afterglow.live.domain.commands import Reported, Voided
from afterglow.live.domain.step_rows import void_for
from afterglow.live.late_void import LateVoid
from afterglow.live.store.contract import Writing


class ReplayNeeded(Exception):
    """Learned steps are to be voided: the log has to be replayed without them, outside the transaction."""

    def __init__(self, gone: Voided) -> None:
        self.gone = gone


class CommandContext:
    """For one transaction; `late` is a replay that was prepared before it."""

    def __init__(self, log: Writing, now: int, clock: int, step: int, late: LateVoid | None) -> None:
        self.log = log
        self.now = now
        self.clock = clock
        self.step = step
        self.late = late

    def reported(self) -> Reported:
        return Reported.of(self.log.reported(self.step))

    def all_void(self, gone: Voided) -> bool:
        runs = self.log.step_runs(gone.steps[0], len(gone.steps))
        return all(row.void or (gone.units and void_for(row, gone.units)) for row, _ in runs)

    def without(self, gone: Voided) -> dict[str, Any]:
        follows = self.late.follows(self.log) if self.late is not None else None
        if not follows:
            raise ReplayNeeded(gone)
        return follows
