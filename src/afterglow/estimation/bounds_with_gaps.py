r"""Bounds with missing totals: steps with unknown totals or unknown arms keep the bounds valid.

The bounds of the module `bounds` rest on two facts: what a run was paid, and what it may still be owed. With $w$ the
window less one:

- *A step whose total is lost* was a pull like any other. It counts as a pull whose arrivals may have been anything
  from 0 to what a run can be paid in a step: $w$ owed by earlier pulls and 1 of its own. So the lower bound takes the
  total as 0, the upper bound as $w + 1$, and as 1 for every further lost step in a row. The bound holds for *all*
  pulls, lost ones included: whoever loses steps after seeing their totals can make the interval wider, never wrong.
- *Steps of which not even the arm is known*, or that were played outside a plan, end the run before them. What it was
  owed then counts in full, $w$, and what comes after is a new run whose head is taken off as always.
"""

from afterglow.estimation.bounds import Bounds, Claim, Tally

NEVER = -1


class BoundsWithGaps(Bounds):
    """`Bounds` with `lose` for unknown totals and `interrupt` for unknown steps."""

    def __init__(self, arms: int, window: int, confidence: float, season: int = 1) -> None:
        super().__init__(arms, window, confidence, season)
        self.lost = [0.0] * arms  # what may have arrived in lost steps of the last run
        self.lost_before = [0.0] * arms  # and of earlier ones
        self.lost_at = NEVER  # age of the run in play when it last lost a step

    def begin(self, arm: int, tally: Tally) -> None:
        super().begin(arm, tally)
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
        if self.look == tally.age:
            self.look += 1  # at the next step that is known
        if tally.age > self.late:
            self.leave_out()

    def leave_out(self) -> None:
        """A washed step of the run in play has no total."""
        self.batches.skip()

    def interrupt(self) -> None:
        """End the run: what follows is unknown. Pending rewards count in full."""
        ended = [*self.owing, *([self.tallies[self.current]] if self.current >= 0 else [])]
        for tally in ended:
            tally.tail = float(self.late)
            tally.gap = self.late
        self.owing = []
        self.current = -1
        self.batches.end()

    def claims(self, arm: int) -> list[Claim]:
        history, run = super().claims(arm)
        recent = self.lost[arm]
        everything = recent + self.lost_before[arm]
        return [
            (history[0], history[1], history[2], history[3] + everything, history[4]),
            (run[0], run[1], run[2], run[3] + recent, run[4]),
        ]
