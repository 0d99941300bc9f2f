r"""The comparison of arms by a policy's own regression, in place of batches of washed steps.

A policy that changes arms too often for washed steps may have a model of its totals (`Policy.contrasts`). A difference
is Student's with the degrees of freedom of the regression. Its time-uniform interval is that of `comparison`, with $N$
the rows that two arms would need to be known as well, $N = \\sum_i w_i^2 v / \\text{var}$, for a sum with weights $w$.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from afterglow.addition import added
from afterglow.estimation.comparison import EARLY, NEVER, ROOT, Comparison, Missing, evened
from afterglow.estimation.lingering import Member, Mixture
from afterglow.policies.contrasts import Contrasts

FEW = 1.0  # rows around which a time-uniform interval is sharpest at least


@dataclass(frozen=True, slots=True)
class Modelled(Comparison):
    """Differences by a regression; `lasting` says over how many steps noise is seen to linger."""

    degrees: int = 0
    noise: float = 0.0
    lasting: int | None = None
    row: float = 1.0  # steps of one
    played: tuple[int, ...] = ()  # steps of each arm
    afresh: bool = False  # whether the policy has started again, and knows nothing of what was before

    RUNNING: ClassVar[float] = 1.0  # one-look intervals of a model decide no grade unless it says so
    FINAL: ClassVar[float] = 0.0

    @property
    def lingers(self) -> int | None:
        return self.lasting

    def missing(self, arm: int, other: int) -> Missing | None:
        if self.mixture is None:
            since = "since the policy started afresh" if self.afresh else "so far"
            return Missing(f"too little of the season has been seen {since}")
        if self.parts(self.contrast(arm, other))[0][2] <= 0.0:
            return Missing("the two were not played apart often enough")
        return None

    def unplayed(self, name: object) -> Missing:
        return Missing(f"the policy started afresh without {name}")

    def more_steps(self, arm: int, other: int, ratio: float) -> int | None:
        if ratio <= 1:
            return 0
        if ratio * ratio > NEVER:
            return None
        both = [self.played[one] for one in (arm, other) if self.played and self.played[one]]
        if len(both) < 2:
            both = [math.ceil(self.rows(self.contrast(arm, other)) * self.row)] * 2
        return evened([(1.0, steps) for steps in both], ratio) + 2 * (self.window - 1)

    def rows(self, weights: Sequence[float]) -> float:
        """N: rows of either arm that would tell as much."""
        return added(weight * weight for weight in weights) * self.noise / self.parts(weights)[0][2]

    def outside(self, weights: Sequence[float], share: float) -> float:
        rows = self.rows(weights)
        square = (1 + self.early / rows) * (2 * math.log(1 / share) + math.log1p(rows / self.early))
        return math.erfc(math.sqrt(square) * ROOT)

    def freedom(self, weights: Sequence[float], parts: Sequence[tuple[float, float, float]]) -> list[float]:
        return [float(self.degrees)]


class ModelledToEnd(Modelled):
    """The same, where intervals of one look at the fixed end were measured to hold (`Contrasts.final`)."""

    __slots__ = ()
    RUNNING: ClassVar[float] = Comparison.RUNNING
    FINAL: ClassVar[float] = Comparison.FINAL


def modelled(found: Contrasts | None, arms: Sequence[int], washed: Comparison, afresh: bool = False) -> Modelled:
    """The comparison by a policy's model of these arms; `washed`, the ordinary one of all, says if noise lingers."""
    count = len(washed.steps)
    steps = tuple(int(arm in arms) for arm in range(count))
    places = tuple(arms.index(arm) if arm in arms else -1 for arm in range(count))
    if found is None:
        return Modelled(
            steps, None, places, None, washed.span, washed.window, FEW, lasting=washed.lingers, afresh=afresh
        )
    mixture = Mixture((Member(1.0, found.means, found.covariances, 0.0),), 0.0)
    played = tuple(found.played[place] if place >= 0 and found.played else 0 for place in places)
    early = max(FEW, found.rows / (EARLY * len(arms)))
    return (ModelledToEnd if found.final else Modelled)(
        steps, None, places, mixture, washed.span, washed.window, early, found.freedom, found.noise, washed.lingers,
        found.span, played, afresh,
    )  # fmt: skip
