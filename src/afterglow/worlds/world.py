"""`World`: reward laws of the arms, a spread, a window and a baseline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from afterglow.checks import about, is_number, whole
from afterglow.errors import BadValue
from afterglow.worlds.baseline import NOTHING, Baseline, Part
from afterglow.worlds.baseline import baseline as parse_baseline
from afterglow.worlds.rewards import Bernoulli, Reward, parse_reward
from afterglow.worlds.spreads import Spread, SpreadPlan
from afterglow.worlds.spreads import spread as parse_spread


@dataclass(frozen=True)
class World:
    """Arms with their reward laws, a spread, the window over which one pull pays, and a baseline.

    >>> world = World.of([0.9, 0.8, 0.7], window=10, spread="uniform")
    >>> world.best, world.gaps
    (0, [0.0, 0.1, 0.2])
    """

    rewards: tuple[Reward, ...]
    spread: Spread
    window: int
    baseline: Baseline = NOTHING

    @classmethod
    def of(
        cls,
        rewards: Sequence[float | str | Reward],
        window: int,
        spread: str | Spread | Callable[..., None] = "uniform",
        baseline: str | float | Part | Baseline | None = None,
    ) -> "World":
        """A world from reward laws (a bare number is the mean of a Bernoulli reward), a spread, a baseline."""
        with about("rewards"):
            laws = tuple(law_of(reward) for reward in rewards)
            if len(laws) < 2:
                raise BadValue(f"a world needs at least 2 arms, got {len(laws)}; give one reward law for each arm")
        steps = whole("window", window, 1, "1 = paid at once")
        with about("baseline"):
            income = parse_baseline(baseline)
        with about("spread"):
            made = cls(laws, parse_spread(spread), steps, income)
            made.plan()
        return made

    @property
    def arms(self) -> int:
        return len(self.rewards)

    @property
    def means(self) -> list[float]:
        return [reward.mean for reward in self.rewards]

    @property
    def best(self) -> int:
        """The arm of largest mean; a tie goes to the lowest."""
        return self.means.index(max(self.means))

    @property
    def gaps(self) -> list[float]:
        """How far each arm's mean is below the best, without the noise of the last digit."""
        return [round(max(self.means) - mean, 15) for mean in self.means]

    def plan(self) -> SpreadPlan:
        """The spread as the engine reads it."""
        return self.spread.plan(self.arms, self.best, self.window)


def law_of(reward: Any) -> Reward:
    """A reward law from a number, a text or itself."""
    if isinstance(reward, str):
        return parse_reward(reward)
    if is_number(reward):
        return Bernoulli(float(reward))
    if not hasattr(reward, "cells"):
        raise BadValue(f"an arm needs a mean, a reward law or its text, got {reward!r}; for instance 0.4 or 'beta:2,3'")
    law: Reward = reward
    return law
