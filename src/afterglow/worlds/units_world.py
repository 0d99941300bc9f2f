"""`UnitsWorld`: several units with the same arms, an income that they share and one of their own.

In each step unit u shows the total

    size_u * (what its pulls pay + loading_u * common + own_u + interaction_{u, arm}).

`common` is drawn once for all units, `own` for each alone; both are baselines that may be negative. Sizes, loadings,
interactions and the levels that a policy is told are drawn anew in every run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from afterglow.checks import about, between, whole
from afterglow.errors import BadValue, argument
from afterglow.rng import uniform
from afterglow.worlds.baseline import Baseline, Part, signed_baseline
from afterglow.worlds.rewards import Reward
from afterglow.worlds.spreads import Spread
from afterglow.worlds.world import World

LEAST, MOST = 2, 200  # units
Income = str | float | Part | Baseline | None


@dataclass(frozen=True)
class UnitDraws:
    """What one run draws for its units."""

    sizes: list[float]
    loadings: list[float]
    shifts: list[int]
    extras: list[float]  # units x arms, income of a step
    levels: list[float]  # that are told; empty if none are


@dataclass(frozen=True)
class UnitsWorld:
    """Arms, a spread and a window, for several units.

    >>> world = UnitsWorld.of([0.4, 0.412], window=24, units=8, common="noise:0.04,0.9", own="noise:0.04")
    >>> world.units, world.best, world.gaps
    (8, 1, [0.012, 0.0])
    """

    pulls: World
    units: int
    common: Baseline
    own: Baseline
    interaction: float
    size_deviation: float
    loadings: tuple[float, float]
    shift: int
    told: float | None

    @classmethod
    def of(
        cls,
        rewards: Sequence[float | str | Reward],
        window: int,
        units: int = 8,
        spread: str | Spread | Callable[..., None] = "uniform",
        common: Income = None,
        own: Income = None,
        interaction: float = 0.0,
        sizes: float = 0.0,
        loadings: tuple[float, float] = (1.0, 1.0),
        shift: int = 0,
        told: float | None = 0.05,
    ) -> "UnitsWorld":
        """A world of units.

        `interaction` is the deviation, between units, of an arm's effect as a share of the arms' mean; it is paid at
        once. `sizes` is the deviation of the logarithm of sizes, `loadings` the range of the weight that a unit gives
        to `common`. With a `shift` each unit's own cycles begin at a random place below it. `told` is the deviation of
        the logarithm of the levels that a policy is told; None: it is told none.
        """
        number = whole("units", units, LEAST)
        if number > MOST:
            raise BadValue(f"{argument('units')} must be at most {MOST:,}, got {number:,}")
        with about("common"):
            shared = signed_baseline(common)
        with about("own"):
            alone = signed_baseline(own)
        low, high = loadings
        error = None if told is None else between("told", told, 0, 2, "deviation of the levels' logarithm")
        return cls(
            World.of(rewards, window, spread), number, shared, alone, between("interaction", interaction, 0, 10),
            between("sizes", sizes, 0, 3), (between("loadings", low, 0), between("loadings", high, low)),
            whole("shift", shift, 0), error,
        )  # fmt: skip

    @property
    def rewards(self) -> tuple[Reward, ...]:
        return self.pulls.rewards

    @property
    def spread(self) -> Spread:
        return self.pulls.spread

    @property
    def window(self) -> int:
        return self.pulls.window

    @property
    def baseline(self) -> Baseline:
        """What all units share."""
        return self.common

    @property
    def arms(self) -> int:
        return self.pulls.arms

    @property
    def means(self) -> list[float]:
        return self.pulls.means

    @property
    def best(self) -> int:
        return self.pulls.best

    @property
    def gaps(self) -> list[float]:
        return self.pulls.gaps

    @property
    def text(self) -> str:
        """The units in one line: what differs from units that are alike and told within 5 %."""
        parts = [f"{self.units} units"]
        parts += [f"{name} {base.text}" for name, base in (("common", self.common), ("own", self.own)) if base.parts]
        parts += [f"interaction {self.interaction:g}"] if self.interaction else []
        parts += [f"sizes {self.size_deviation:g}"] if self.size_deviation else []
        parts += ["loadings {:g} to {:g}".format(*self.loadings)] if self.loadings != (1.0, 1.0) else []
        parts += [f"shift {self.shift}"] if self.shift else []
        parts += ["levels not told" if self.told is None else f"told {self.told:g}"] if self.told != 0.05 else []
        return ", ".join(parts)

    def draw(self, stream: int) -> UnitDraws:
        """Sizes, loadings, shifts, interactions and told levels of one run."""
        low, high = self.loadings
        middle = math.fsum(self.means) / self.arms
        sizes, loadings, shifts, extras, levels = [], [], [], [], []
        place = 0
        for _ in range(self.units):
            sizes.append(math.exp(self.size_deviation * normal(stream, place)))
            loadings.append(low + (high - low) * uniform(stream, place + 2))
            shifts.append(int(self.shift * uniform(stream, place + 3)))
            if self.told is not None:
                level = sizes[-1] * (middle + loadings[-1] * self.common.mean + self.own.mean)
                levels.append(level * math.exp(self.told * normal(stream, place + 4)))
            place += 6
            for _ in range(self.arms):
                extras.append(self.interaction * middle * normal(stream, place) if self.interaction else 0.0)
                place += 2
        if levels and min(levels) <= 0:
            raise BadValue(f"{argument('told')} levels must be above 0, got {min(levels):.3g}; set it to None")
        return UnitDraws(sizes, loadings, shifts, extras, levels)


def normal(stream: int, place: int) -> float:
    """A standard normal number from two uniforms of a stream."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(stream, place)))
    return radius * math.cos(2.0 * math.pi * uniform(stream, place + 1))
