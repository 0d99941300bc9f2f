"""The world of a plan: one arm is better than the others by a gap, with the expected totals.

Without a history, every arm's rewards are Beta with the given mean and deviation, or yes/no where the deviation is
unknown, which has the largest variance. With a history, the arms pay a tenth of the level without noise, and the
baseline the rest: level, season, and the history's own noise, resampled in blocks that keep its correlation. Policies
see only the totals, so only the sum matters.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from afterglow.lab.history.estimate import History
from afterglow.worlds.baseline import Baseline, Blocks, Constant, Part, Seasonal
from afterglow.worlds.rewards import Bernoulli, Beta, Discrete, Reward
from afterglow.worlds.world import World

ARMS_SHARE = 0.1  # share of a history's level that the arms pay
STARTS = 7  # phases of a cycle at which runs start
CYCLES = 12  # of the season or windows that a block of a history lasts at least, if the history is long enough


@dataclass(frozen=True)
class Scenario:
    """What is planned. Amounts are divided by `reward_max`; `gap` is relative to the mean."""

    arms: int
    window: int
    horizon: int
    gap: float
    mean: float  # level of totals
    noise: float  # standard deviation of one pull
    season: int  # length of the cycle that totals have, 1 if none
    align: int  # length of the cycles that holds cover whole, 1 if none
    swing: float  # amplitude of the cycle, relative to the mean; used without a history
    spread: str
    reward_max: float
    history: History | None

    @property
    def gain(self) -> float:
        """Difference between the best arm's mean and the others'."""
        return self.gap * self.mean

    def with_(self, **changes: float | int) -> "Scenario":
        return replace(self, **changes)  # type: ignore[arg-type]

    def aligned(self, steps: int) -> "Scenario":
        """The same with holds that cover whole cycles of so many steps, and the noise that remains."""
        if self.history is None:
            return replace(self, align=steps)
        return replace(self, align=steps, noise=self.history.noises[steps] / self.reward_max)

    @property
    def starts(self) -> list[int]:
        """Phases of a history's cycle at which runs start; one is enough where holds cover whole cycles."""
        if self.history is None or self.align % self.season == 0:
            return [0]
        stride = self.season * (STARTS + 1) / STARTS**2  # a bit more than a day of a week: other days, other hours
        return sorted({int(place * stride) % self.season for place in range(STARTS)})

    def world(self, best: int, start: int = 0) -> World:
        """The world in which arm `best` is the best and step 0 has the phase `start` of a history's cycle."""
        base = baseline_of(self, start)
        level = self.mean - base.mean
        laws = [law(self, level + (self.gain if arm == best else 0.0)) for arm in range(self.arms)]
        return World.of(laws, self.window, self.spread, base)


def law(scenario: Scenario, mean: float) -> Reward:
    """The reward law of an arm with this mean."""
    if scenario.history is not None:
        return Discrete((mean,), (1.0,))
    size = mean * (1 - mean) / scenario.noise**2 - 1
    if size < 0.01 / min(mean, 1 - mean):  # within a hundredth of the largest variance there is
        return Bernoulli(mean)
    return Beta(mean * size, (1 - mean) * size) if size < 1e6 else Discrete((mean,), (1.0,))


def baseline_of(scenario: Scenario, start: int = 0) -> Baseline:
    """The income that no arm causes, as a baseline."""
    history, top = scenario.history, scenario.reward_max
    if history is not None:
        parts: list[Part] = [Constant((1 - ARMS_SHARE) * scenario.mean)]
        if history.season > 1:
            turned = history.profile[start:] + history.profile[:start]
            parts.append(Seasonal(tuple(value / top for value in turned)))
        parts.append(resampled(tuple(history.rest), top, block_length(scenario, history)))
        return Baseline(tuple(parts))
    if scenario.season > 1 and scenario.swing > 0:
        half = scenario.swing * scenario.mean
        turn = 2 * math.pi / scenario.season
        return Baseline((Seasonal(tuple(half + half * math.sin(turn * t) for t in range(scenario.season))),))
    return Baseline()


@lru_cache(maxsize=8)
def resampled(rest: tuple[float, ...], top: float, length: int) -> Blocks:
    """The history's own noise as blocks; cached, because checking all values is slow."""
    return Blocks(tuple(value / top for value in rest), length)


def block_length(scenario: Scenario, history: History) -> int:
    """Length of a block: long enough to keep the correlation, short enough to have several blocks."""
    wanted = max(CYCLES * scenario.window, CYCLES * history.season, 50)
    return max(1, min(wanted, history.steps // 4))
