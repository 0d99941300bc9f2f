"""Candidates played in a scenario, each arm being the best in turn: how often it is found and what is lost."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue
from afterglow.lab.rotation import rotation
from afterglow.lab.scenario import Scenario
from afterglow.policies.policy import Policy
from afterglow.policies.registry import named
from afterglow.policies.season import seasonal

Numbers = NDArray[np.float64]
MOST_PLACES = 6  # for the best arm among many
STEPS = 7  # halvings of a bracket at most
CLOSE = 1.03  # a bracket of this ratio is small enough
Z = 1.959963984540054


@dataclass(frozen=True)
class Candidate:
    """A policy with its settings."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def policy(self) -> Policy[Any, Any]:
        return rotation if self.name == rotation.name else named(self.name)

    @property
    def usable(self) -> bool:
        """Whether an agent or a live experiment can play it; a rotation is there to be compared with."""
        return self.name != rotation.name


@dataclass(frozen=True)
class Trial:
    """What a candidate came to; one row for each run."""

    candidate: Candidate
    right: NDArray[np.bool_]  # whether the best arm was recommended
    regrets: Numbers
    switches: float
    first_hold: int

    @property
    def found(self) -> float:
        return float(self.right.mean())

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of `found`."""
        n, p = self.right.size, self.found
        centre = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
        reach = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
        return max(0.0, centre - reach), min(1.0, centre + reach)

    @property
    def lost(self) -> float:
        return float(self.regrets.mean())

    @property
    def lost_error(self) -> float:
        return float(self.regrets.std(ddof=1) / math.sqrt(self.regrets.size))


@dataclass(frozen=True)
class Effort:
    """How much is simulated."""

    runs: int
    seed: int
    threads: int | None
    tell: Callable[[str], None]


def candidates(scenario: Scenario, noise_known: bool) -> list[Candidate]:
    """The policies that a plan compares."""
    hold = max(scenario.window, scenario.horizon // (12 * scenario.arms) - scenario.window + 1)
    sure: dict[str, Any] = {"noise": min(float(f"{scenario.noise:.3g}"), 0.5)} if noise_known else {}
    return [
        Candidate("trim-ucb", {"variance": "estimated"}),
        Candidate("lean-ucb", sure),
        Candidate("washout-ucb"),
        Candidate("rotation", {"hold": hold}),
    ]


def trial(candidate: Candidate, scenario: Scenario, effort: Effort) -> Trial:
    """Play a candidate, every arm being the best in turn."""
    places = sorted({round(i * (scenario.arms - 1) / (MOST_PLACES - 1)) for i in range(MOST_PLACES)})
    if scenario.arms <= MOST_PLACES:
        places = list(range(scenario.arms))
    runs = -(-effort.runs // len(places))
    right, regrets, switches = [], [], []
    for best in places:
        outcome = simulate(
            candidate.policy, scenario.world(best), scenario.horizon, runs, effort.seed, candidate.options,
            threads=effort.threads, recommend=True, season=scenario.season,
        )  # fmt: skip
        assert outcome.recommended is not None
        right.append(outcome.recommended == best)
        regrets.append(outcome.regrets)
        switches.append(outcome.switches)
    first = first_hold(candidate, scenario)
    return Trial(
        candidate, np.concatenate(right), np.concatenate(regrets), float(np.concatenate(switches).mean()), first
    )


def first_hold(candidate: Candidate, scenario: Scenario) -> int:
    """Steps on the first arm before another is tried."""
    policy = seasonal(candidate.policy, scenario.season)
    settings = policy.settings(scenario.arms, scenario.window, scenario.horizon, candidate.options)
    state, clock = policy.start(settings), 0
    while clock < scenario.horizon:
        arm, steps, split = policy.next_hold(settings, state, [])
        if arm != 0:
            break
        steps = min(steps, scenario.horizon - clock)
        split = min(split, steps)
        policy.learn(settings, state, arm, steps, split, scenario.mean * split, scenario.mean * (steps - split))
        clock += steps
    return clock


class Search:
    """The least value (a gap, a horizon) at which the best arm is found often enough; each value is played once.

    `play` gives how often it is found, None where the policy can't be played. `whole` values are rounded before they
    are played, so that a point stands for what was played.
    """

    def __init__(
        self, play: Callable[[float], float | None], first: float, low: float, high: float, whole: bool = False
    ) -> None:
        self.play, self.first, self.low, self.high, self.whole = play, first, low, high, whole
        self.known: dict[float, float] = {}
        self.refused: set[float] = set()

    def at(self, value: float) -> float:
        """How often the best arm is found; less than ever where nothing can be played."""
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
        """What was played, in order."""
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


def gap_search(chosen: Trial, scenario: Scenario, effort: Effort) -> Search:
    """For the smallest gap that the horizon can show."""
    most = 0.9 * (1 / scenario.mean - 1)

    def play(gap: float) -> float:
        effort.tell(f"a gap of {gap:.1%}")
        return trial(chosen.candidate, scenario.with_(gap=gap), effort).found

    first = min(scenario.gap, most)
    search = Search(play, first, first / 1024, most)
    if first == scenario.gap:
        search.known[first] = chosen.found  # as the answer has it
    return search


def horizon_search(chosen: Trial, scenario: Scenario, effort: Effort, longest: int) -> Search:
    """For the shortest horizon that shows the gap, down to a window for each arm."""

    def play(horizon: float) -> float | None:
        steps = round(horizon)
        effort.tell(f"a horizon of {steps:,}")
        try:
            return trial(chosen.candidate, scenario.with_(horizon=steps), effort).found
        except BadValue:
            return None  # too short for the policy to try every arm

    least = min(scenario.arms * scenario.window, scenario.horizon)
    search = Search(play, scenario.horizon, least, max(longest, scenario.horizon), whole=True)
    search.known[scenario.horizon] = chosen.found
    return search
