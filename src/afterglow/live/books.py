r"""The ledger of a running experiment: steps that are lost or played outside the plan leave its bounds valid.

The bounds of `afterglow.ledger` rest on two facts: what a run was paid, and what it may still be owed. With $w$ the
window less one:

- *A step that is void* was a pull like any other, only its total is not known. It counts as a pull whose arrivals may
  have been anything from 0 to what a run can be paid in a step: $w$ owed by earlier pulls and 1 of its own. So the
  lower bound takes the total as 0, the upper bound as $w + 1$, and as 1 for every further void step in a row. The
  bound holds for *all* pulls, void ones included: whoever voids steps after seeing their totals can make the interval
  wider, never wrong.
- *Steps outside the plan* (pinned, paused, nobody served) end the run before them. What it was owed then counts in
  full, $w$, and what comes after is a new run whose head is taken off as always. That they were chosen by people does
  no harm, as the choice is made before the step.

Looks, which keep the best bounds found, are taken only when a hold has been learned: until then its steps can be
voided.
"""

import math
from typing import Any

from afterglow import stored
from afterglow.ledger import FIRST_LOOK, LATER_LOOKS, Ledger, Tally

NEVER = -1


class Books(Ledger):
    """A ledger with `lose`, `retract` and `interrupt`."""

    def __init__(self, arms: int, window: int, confidence: float) -> None:
        super().__init__(arms, window, confidence)
        self.look = NEVER
        self.due = 0  # age at which a settled run is looked at next
        self.lost = [0.0] * arms  # what may have arrived in void steps of the last run
        self.lost_before = [0.0] * arms  # and of earlier ones
        self.lost_at = NEVER  # age of the run in play when it last lost a step

    def begin(self, arm: int, tally: Tally) -> None:
        super().begin(arm, tally)
        self.look = NEVER
        self.due = self.late + FIRST_LOOK
        self.lost_before[arm] += self.lost[arm]
        self.lost[arm] = 0.0
        self.lost_at = NEVER

    def lose(self, arm: int) -> None:
        """Count a step whose total is not known."""
        tally = self.tallies[arm]
        if arm != self.current:
            self.begin(arm, tally)
        for other in self.owing:
            other.tail = float(self.late)
        if self.owing:
            self.follow(0.0)
        self.lost[arm] += 1.0 if self.lost_at == tally.age else self.late + 1.0
        tally.pulls += 1
        tally.age += 1
        self.lost_at = tally.age

    def retract(self, total: float, back: int) -> None:
        """Take back the total of the step `back` steps ago, 1 being the last; all since then were of this run."""
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
        self.lost[arm] += self.late + 1.0

    def interrupt(self) -> None:
        """End the run: what follows is not part of the plan. What anybody is owed counts in full."""
        ended = [*self.owing, *([self.tallies[self.current]] if self.current >= 0 else [])]
        for tally in ended:
            tally.tail = float(self.late)
            tally.gap = self.late
        self.owing = []
        self.current = -1

    def settle(self) -> None:
        """Look at the run in play: all its steps are final."""
        arm = self.current
        if arm < 0:
            return
        tally = self.tallies[arm]
        if tally.age >= self.due:
            tally.floor, tally.ceiling = self.interval(arm)
            self.due = self.late + math.ceil(LATER_LOOKS * (tally.age - self.late))

    def claims(self, arm: int) -> list[tuple[int, float, int, float, float]]:
        history, run = super().claims(arm)
        recent = self.lost[arm]
        everything = recent + self.lost_before[arm]
        return [
            (history[0], history[1], history[2], history[3] + everything, history[4]),
            (run[0], run[1], run[2], run[3] + recent, run[4]),
        ]

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "tallies": [stored.plain(tally, "tally:") for tally in self.tallies],
            "current": self.current,
            "due": self.due,
            "lost": self.lost[:],
            "lost_before": self.lost_before[:],
            "lost_at": self.lost_at,
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Go on from what `values` gave."""
        tallies = [stored.like(Tally(), value, "tally") for value in values["tallies"]]
        self.resume(tallies, values["current"], NEVER)
        self.due, self.lost_at = values["due"], values["lost_at"]
        self.lost, self.lost_before = values["lost"][:], values["lost_before"][:]
