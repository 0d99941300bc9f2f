"""The world of a plan: one arm is better than the others by a gap, with the expected totals.

Without a history, every arm's rewards are Beta with the given mean and deviation, or yes/no where the deviation is
unknown, which has the largest variance. With a history, the arms pay a hundredth of the level without noise, and the
baseline (`past_baseline`) the rest: level, season and noise. Policies see only the totals, so only the sum matters.
"""

import math
from dataclasses import dataclass, replace

from afterglow.lab.history.estimate import History
from afterglow.lab.plan.past_baseline import past_baseline
from afterglow.worlds.baseline import Baseline, Seasonal
from afterglow.worlds.rewards import Bernoulli, Beta, Discrete, Reward
from afterglow.worlds.world import World

ARMS_SHARE = 0.01  # share of a history's level that the arms pay
STARTS = 7  # phases of a cycle at which runs start
CYCLES = 12  # of the season or windows that a block of a history lasts at least, if the history is long enough


@dataclass(frozen=True)
class Forecast:
    """A column of a history with what was expected of each step beforehand; the totals are planned less it."""

    column: str
    typical: float
    trust: float
    explained: float  # share of the variance of a pull's noise


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
    told: bool = False  # whether the policy is told the profile of the history's cycle
    strength: float = 1.0  # of a history's noise, relative to the one to plan with
    forecast: Forecast | None = None

    @property
    def adjusted(self) -> bool:
        """Whether expected totals are taken out before the policy."""
        return self.told or self.forecast is not None

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
        noise = self.history.caution * self.history.noises[steps] / self.reward_max
        return replace(self, align=steps, noise=noise, told=False)

    def expecting(self) -> "Scenario":
        """The same with a policy that is told the profile, and needs no whole cycles."""
        assert self.history is not None
        return replace(self.aligned(self.season), align=1, told=True)

    @property
    def starts(self) -> list[int]:
        """Phases of a history's cycle at which runs start; one is enough where holds cover whole cycles."""
        if self.history is None or self.align % self.season == 0:
            return [0]
        stride = self.season * (STARTS + 1) / STARTS**2  # a bit more than a day of a week: other days, other hours
        return sorted({int(place * stride) % self.season for place in range(STARTS)})

    def world(self, best: int, start: int = 0) -> World:
        """The world in which arm `best` is the best and step 0 has the phase `start` of a history's cycle."""
        base = baseline_of(self, best, start)
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


def baseline_of(scenario: Scenario, best: int, start: int = 0) -> Baseline:
    """The income that no arm causes, as a baseline."""
    if scenario.history is not None:
        return past_baseline(
            scenario.history, scenario.reward_max, (1 - ARMS_SHARE) * scenario.mean,
            block_length(scenario, scenario.history), start, best, scenario.told, scenario.strength,
            signed=scenario.adjusted,
        )  # fmt: skip
    if scenario.season > 1 and scenario.swing > 0:
        half = scenario.swing * scenario.mean
        turn = 2 * math.pi / scenario.season
        return Baseline((Seasonal(tuple(half + half * math.sin(turn * t) for t in range(scenario.season))),))
    return Baseline()


def block_length(scenario: Scenario, history: History) -> int:
    """Length of a block: the whole experiment, so that slow demand is in it, if there are several blocks then."""
    wanted = max(CYCLES * scenario.window, CYCLES * history.season, scenario.horizon, 50)
    return max(1, min(wanted, history.steps // 4))
