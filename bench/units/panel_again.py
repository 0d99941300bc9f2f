"""A second implementation of `panel-elimination`, from its specification alone, and its regret.

It shares no code with the package: NumPy, one matrix of normal equations, a world of its own. Three arms with effects
that are spread evenly over a window of 24 steps, the second and third worse by 3 %, own noise of 10 %, levels told
within 5 %, 1,000 steps. Regret is in % of uniform play, with its standard error, and the share of runs that find the
best arm.

    python bench/units/panel_again.py [--runs 800] [--seed 11]
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PRIOR, WIDTH, GROWTH = 0.05, 0.45, 1.5


@dataclass(frozen=True)
class Place:
    """What is simulated: deviations as shares of the level, with their correlations from step to step."""

    name: str
    units: int = 8
    steps: int = 1_000
    own: float = 0.1
    own_rho: float = 0.0
    common: float = 0.1
    common_rho: float = 0.9
    arms: int = 3
    window: int = 24
    gap: float = 0.03
    told: float = 0.05

    @property
    def slot(self) -> int:
        return max(-(-self.window // 2), min(self.window, 8))

    @property
    def washout(self) -> int:
        return -(-(self.window - 1) // self.slot)


def lingering(random: np.random.Generator, steps: int, columns: int, deviation: float, rho: float) -> Floats:
    shocks = random.standard_normal((steps, columns)) * deviation
    for step in range(1, steps):
        shocks[step] = rho * shocks[step - 1] + math.sqrt(1 - rho * rho) * shocks[step]
    return shocks


class Regression:
    """Differences within slots on arms and units, with a prior on units."""

    def __init__(self, place: Place) -> None:
        self.place, size = place, place.arms + place.units
        self.squares, self.right = np.zeros((size, size)), np.zeros(size)
        self.yy, self.cells, self.slots = 0.0, 0, 0

    def add(self, units: NDArray[np.int64], arms: NDArray[np.int64], values: Floats) -> None:
        columns = np.zeros((len(units), len(self.right)))
        columns[np.arange(len(units)), arms] = 1
        columns[np.arange(len(units)), self.place.arms + units] = 1
        columns -= columns.mean(axis=0)
        away = values - values.mean()
        self.squares += columns.T @ columns
        self.right += columns.T @ away
        self.yy += float(away @ away)
        self.cells += len(units)
        self.slots += 1

    def fit(self) -> tuple[Floats, Floats, float]:
        """Effects, their covariance over the variance, and the variance."""
        place = self.place
        first = variance = 0.0625 / place.slot
        for _ in range(2):
            ridge = np.r_[np.full(place.arms, 1e-9), np.full(place.units, variance / PRIOR**2)]
            inverse = np.linalg.inv(self.squares + np.diag(ridge))
            effects = inverse @ self.right
            rest = float(self.yy - 2 * effects @ self.right + effects @ self.squares @ effects)
            freedom = max(0, self.cells - self.slots - place.units - place.arms + 2)
            variance = (2 * first + rest) / (2 + freedom)
        return effects, inverse, variance


def kept(alive: Sequence[int], regression: Regression, slots: int) -> list[int]:
    """The arms that are not behind by more than the radius."""
    place = regression.place
    effects, inverse, variance = regression.fit()
    lead = max(alive, key=lambda arm: effects[arm])
    found = []
    for arm in alive:
        spread = inverse[lead, lead] + inverse[arm, arm] - 2 * inverse[lead, arm]
        use = slots * place.units * spread / place.arms
        radius = math.sqrt(2 * WIDTH * variance * spread * max(0.0, math.log(use))) if spread > 0 else 0.0
        if arm == lead or effects[lead] - effects[arm] <= radius:
            found.append(arm)
    return found


def run(place: Place, random: np.random.Generator) -> tuple[float, bool]:
    """Regret in % of uniform play, and whether the best arm, the first, is recommended."""
    worth = np.r_[1.0, np.full(place.arms - 1, 1 - place.gap)]
    alive, order = random.permutation(place.arms).tolist(), random.permutation(place.units)
    noise = lingering(random, place.steps, place.units, place.own, place.own_rho)
    noise += lingering(random, place.steps, 1, place.common, place.common_rho)
    told = np.exp(place.told * random.standard_normal(place.units))
    regression, served = Regression(place), np.zeros((place.steps, place.units), np.int64)
    arm, age = np.zeros(place.units, np.int64), np.zeros(place.units, np.int64)
    arm[order] = np.resize(alive, place.units)
    stage, left, clock = 0, 1 + place.washout, 0
    while clock < place.steps:
        end = min(clock + place.slot, place.steps)
        served[clock:end] = arm
        if end - clock < place.slot:
            break
        shown = [worth[served[max(0, step - place.window + 1) : step + 1]].sum(0) for step in range(clock, end)]
        totals = (np.array(shown) / place.window + noise[clock:end]).mean(axis=0) / told
        counted = np.flatnonzero(age >= place.washout)
        if len(counted) >= 2:
            regression.add(counted, arm[counted], totals[counted])
        clock, age, left = end, age + 1, left - 1
        if left == 0 and len(alive) > 1 and place.steps - clock >= place.slot:
            alive, stage = kept(alive, regression, (place.steps - clock) // place.slot), stage + 1
            dealt = arm.copy()
            dealt[order] = [alive[(number + stage) % len(alive)] for number in range(place.units)]
            left = math.ceil(GROWTH**stage) + (place.washout if (dealt != arm).any() else 0)
            arm, age = dealt, np.where(dealt == arm, age, 0)
    effects: Any = regression.fit()[0]
    uniform = place.gap * (place.arms - 1) / place.arms
    return 100 * float((1 - worth)[served].mean()) / uniform, max(alive, key=lambda one: effects[one]) == 0


PLACES = [
    Place("shock 10 %, .9"),
    Place("shock 5 %, .5; own 15 %", common=0.05, common_rho=0.5, own=0.15),
    Place("no shock", common=0.0),
    Place("own noise AR(.9)", own_rho=0.9),
    Place("4 units", units=4),
    Place("32 units", units=32),
    Place("150 steps", steps=150),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=800)
    parser.add_argument("--seed", type=int, default=11)
    asked = parser.parse_args()
    for number, place in enumerate(PLACES):
        random = np.random.default_rng([asked.seed, number])
        lost, right = np.array([run(place, random) for _ in range(asked.runs)]).T
        error = lost.std(ddof=1) / math.sqrt(asked.runs)
        print(f"{place.name:<26} {lost.mean():.1f} ± {error:.1f} ({right.mean():.3f})", flush=True)


if __name__ == "__main__":
    main()
