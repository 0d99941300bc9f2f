"""`World`: reward laws of the arms, a spread, a window and a baseline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from afterglow.checks import about, at_most, is_number, whole
from afterglow.errors import BadValue
from afterglow.worlds.baseline import NOTHING, Baseline, Part
from afterglow.worlds.baseline import baseline as parse_baseline
from afterglow.worlds.cells import Cells
from afterglow.worlds.rewards import Bernoulli, Divided, Reward, parse_reward
from afterglow.worlds.spreads import Spread, SpreadPlan
from afterglow.worlds.spreads import spread as parse_spread

ROUNDING = 1e-6
LONGEST = 10_000_000  # steps of a window: 50 bytes each for every thread


@dataclass(frozen=True)
class World:
    """Arms with their reward laws, a spread, the window over which one pull pays, and a baseline.

    >>> world = World.of([0.9, 0.8, 0.7], window=10, spread="uniform")
    >>> world.best, world.gaps
    (0, [0.0, 0.1, 0.2])
    """

    rewards: tuple[Reward, ...] = ()
    spread: Spread = None  # type: ignore[assignment]  # refused below
    window: int = 0
    baseline: Baseline = NOTHING

    def __post_init__(self) -> None:
        """Refuse numbers and texts, which `World.of` reads."""
        given: tuple[object, object] = (self.rewards, self.spread)
        if not (isinstance(given[0], tuple) and given[0] and isinstance(given[1], Spread) and self.window):
            way_out = "World.of(rewards, window, spread, baseline) makes a world from numbers and texts"
            raise BadValue(f"World needs a tuple of reward laws, a Spread and a window; {way_out}", field="world")

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
        steps = at_most("window", whole("window", window, 1, "1 = paid at once"), LONGEST, "in a simulated world")
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
        means = self.means
        return means.index(max(means))

    @property
    def gaps(self) -> list[float]:
        """How far each arm's mean is below the best, without the noise of the last digit."""
        means = self.means
        top = max(means)
        return [round(top - mean, 15) for mean in means]

    @property
    def most(self) -> float:
        """About the most that one step's pull and baseline bring together."""
        cells = [reward.cells() for reward in self.rewards]
        return max(float((each.low + each.width).max()) for each in cells) + self.baseline.most

    def divided(self, unit: float) -> "World":
        """The same world in a larger unit, as an agent with `reward_max=unit` sees it; regret is in that unit too.

        >>> World.of([0.5, 0.7], window=9, baseline=0.5).divided(1.5).most
        1.0
        """
        laws = tuple(Divided(reward, unit) for reward in self.rewards)
        return World(laws, self.spread, self.window, self.baseline.divided(unit))

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
    check_law(law)
    return law


def check_law(law: Reward) -> None:
    """Refuse a law that would not be simulated as it says: its cells must lie in [0, 1] and have its mean."""
    cells = law.cells()
    if not isinstance(cells, Cells):
        raise BadValue(f"cells() of a reward law must return Cells, that of {law!r} returned {cells!r}")
    if not (cells.low.min() >= 0 and (cells.low + cells.width).max() <= 1 + ROUNDING):
        raise BadValue(f"rewards must lie between 0 and 1, the cells of {law!r} do not; divide by the largest reward")
    if not abs(cells.mean - law.mean) <= ROUNDING:
        raise BadValue(
            f"the mean of a reward law must be that of its cells, {law!r} has mean {law.mean!r} and cells of mean "
            f"{cells.mean!r}; regret is counted from the one, rewards are drawn from the other"
        )
