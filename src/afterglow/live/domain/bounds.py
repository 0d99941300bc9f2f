r"""Bounds of a running experiment, which stay valid when steps are void or outside the plan.

*A step that is void* is one whose total is lost, *steps outside the plan* (pinned, paused, missed) end the run
before them: see `BoundsWithGaps`. That people chose them does no harm, as the choice is made before the step.

Looks, which keep the best bounds found, are taken only when a hold has been learned: until then its steps can be
voided by `retract`. For the same reason washed totals join their batches then, and wait in `fresh` meanwhile. To void
steps that were learned, `replay` computes the bounds again.
"""

import math
from collections.abc import Sequence
from typing import Any

from afterglow import records
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.bounds import FIRST_LOOK, LATER_LOOKS, Tally
from afterglow.estimation.bounds_with_gaps import NEVER, BoundsWithGaps
from afterglow.live.domain.guards.record import GuardRecord


class ExperimentBounds(BoundsWithGaps):
    """Bounds with gaps, whose last steps can be voided."""

    def __init__(
        self, arms: int, window: int, confidence: float, season: int = 1, guarded: GuardRecord | None = None
    ) -> None:
        super().__init__(arms, window, confidence, season)
        self.guarded = guarded  # totals of metrics that guards watch
        self.look = NEVER
        self.due = 0  # age at which a settled run is looked at next
        self.fresh = list[float | None]()  # washed totals of the current run that can still be voided, None if void

    def wash(self, arm: int, total: float) -> None:
        self.fresh.append(total)
        if self.guarded is not None:
            self.guarded.wash()

    def wash_all(self, arm: int, totals: Sequence[float]) -> None:
        for total in totals:
            self.wash(arm, total)

    def leave_out(self) -> None:
        self.fresh.append(None)
        if self.guarded is not None:
            self.guarded.leave_out()

    def counted(self) -> Batches:
        """Batches of all washed totals, those included that can still be voided."""
        if not self.fresh:
            return self.batches
        batches = self.batches.forked(self.current)
        batches.add_all(self.current, self.fresh)
        return batches

    def begin(self, arm: int, tally: Tally) -> None:
        self.finish()
        super().begin(arm, tally)
        if self.guarded is not None:
            self.guarded.end()
        self.look = NEVER
        self.due = self.late + FIRST_LOOK

    def retract(self, total: float, back: int) -> None:
        """Void the step `back` steps ago, 1 being the last; all steps since then are of this run."""
        arm = self.current
        tally = self.tallies[arm]
        tally.seen -= total
        if tally.age - back < self.late:
            tally.head = max(0.0, tally.head - total)
            for other in self.tallies:
                if other is not tally and other.gap:
                    other.tail = float(self.late)
        else:
            tally.washed -= total
            tally.washed_steps -= 1
            self.fresh[-back] = None
            if self.guarded is not None:
                self.guarded.retract(back)
        self.lost[arm] += self.late + 1.0

    def interrupt(self) -> None:
        self.finish()
        super().interrupt()
        if self.guarded is not None:
            self.guarded.end()

    def finish(self) -> None:
        """Move fresh totals to the batches: they can't be voided any more."""
        if self.fresh:
            self.batches.add_all(self.current, self.fresh)
            self.fresh = []
            if self.guarded is not None:
                self.guarded.finish(self.current)

    def settle(self) -> None:
        """Look at the current run: all its steps are final."""
        self.finish()
        arm = self.current
        if arm < 0:
            return
        tally = self.tallies[arm]
        if tally.age >= self.due:
            tally.floor, tally.ceiling = self.interval(arm)
            self.due = self.late + math.ceil(LATER_LOOKS * (tally.age - self.late))

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "tallies": [records.plain(tally, "tally:") for tally in self.tallies],
            "current": self.current,
            "due": self.due,
            "lost": self.lost[:],
            "lost_before": self.lost_before[:],
            "lost_at": self.lost_at,
            "batches": self.batches.values(),
            "fresh": self.fresh[:],
            **({} if self.guarded is None else {"guards": self.guarded.values()}),
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `values` returned."""
        tallies = [records.like(Tally(), value, "tally") for value in values["tallies"]]
        self.resume(tallies, values["current"], NEVER)
        self.due, self.lost_at = values["due"], values["lost_at"]
        self.lost, self.lost_before = values["lost"][:], values["lost_before"][:]
        self.batches = Batches(len(tallies), self.late + 1, self.batches.season)
        self.batches.restore(values["batches"], values["current"])
        self.fresh = list(values["fresh"])
        if self.guarded is not None:
            self.guarded.restore(values["guards"], values["current"])
