"""Bisection for the smallest gap and the shortest horizon of a plan."""

import math
from collections.abc import Callable

from afterglow.errors import BadValue
from afterglow.lab.plan.scenario import Scenario
from afterglow.lab.plan.trials import Effort

STEPS = 7  # halvings of a bracket at most
CLOSE = 1.03  # a bracket of this ratio is small enough


class Search:
    """The smallest value (a gap, a horizon) at which the best arm is found often enough; each value is simulated once.

    `play` returns how often it is found, None where the policy can't be used. `whole` values are rounded before they
    are simulated.
    """

    def __init__(
        self, play: Callable[[float], float | None], first: float, low: float, high: float, whole: bool = False
    ) -> None:
        self.play, self.first, self.low, self.high, self.whole = play, first, low, high, whole
        self.known: dict[float, float] = {}
        self.refused: set[float] = set()

    def at(self, value: float) -> float:
        """How often the best arm is found; -1 where the policy can't be used."""
        if value not in self.known and value not in self.refused:
            found = self.play(value)
            if found is None:
                self.refused.add(value)
            else:
                self.known[value] = found
        return self.known.get(value, -1.0)

    def fit(self, value: float) -> float:
        return round(value) if self.whole else value

    def curve(self) -> list[tuple[float, float]]:
        """The points that were simulated, in order."""
        return sorted(self.known.items())

    def least(self, target: float) -> float | None:
        """Where `target` is reached: bracketed by doubling, then halved in the logarithm; None if it isn't."""
        below, above = self.bracket(target)
        if above is None:
            return None
        if below is None:
            return above
        for _ in range(STEPS):
            if above / below < CLOSE:
                break
            middle = self.fit(math.sqrt(below * above))
            if middle in (below, above):
                break
            below, above = (below, middle) if self.at(middle) >= target else (middle, above)
        return above

    def bracket(self, target: float) -> tuple[float | None, float | None]:
        """The nearest known values below and above the target, more being played if there are none."""
        value = self.first
        while self.at(value) < target:
            if value >= self.high:
                return None, None
            value = min(2 * value, self.high)
        while self.at(value) >= target:
            if value <= self.low:
                return None, value
            value = max(self.fit(value / 2), self.low)
        above = min(each for each, p in self.known.items() if p >= target and each > value)
        missed = [each for each, p in self.known.items() if p < target]
        below = max(each for each in [*missed, *self.refused] if each < above)
        return below, above


def gap_search(play: Callable[[Scenario], float], scenario: Scenario, found: float, effort: Effort) -> Search:
    """For the smallest gap that the horizon can show; `found` is how often the planned one is."""
    most = 0.9 * (1 / scenario.mean - 1)

    def at(gap: float) -> float:
        effort.report(f"a gap of {gap:.1%}")
        return play(scenario.with_(gap=gap))

    first = min(scenario.gap, most)
    search = Search(at, first, first / 1024, most)
    if first == scenario.gap:
        search.known[first] = found  # as the answer has it
    return search


def horizon_search(
    play: Callable[[Scenario], float], scenario: Scenario, found: float, effort: Effort, longest: int
) -> Search:
    """For the shortest horizon that shows the gap, down to a window for each arm."""

    def at(horizon: float) -> float | None:
        steps = round(horizon)
        effort.report(f"a horizon of {steps:,}")
        try:
            return play(scenario.with_(horizon=steps))
        except BadValue:
            return None  # too short for the policy to try every arm

    least = min(scenario.arms * scenario.window, scenario.horizon)
    search = Search(at, scenario.horizon, least, max(longest, scenario.horizon), whole=True)
    search.known[scenario.horizon] = found
    return search
