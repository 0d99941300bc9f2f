"""The noise of an arm with few batches: the present prior against a log-normal spread of deviations between arms.

An arm with fewer than seven batches borrows noise from the others (`afterglow.estimation.noise`). Here the rule is
replaced: the ratio of its standard deviation to that of all arms is taken for log-normal, with deviation `tau` and
median exp(`shift`); its posterior is integrated over, and the tails of the mixture at 2.5 % and 0.05 % are given to
Student's t with the same ones. Docs: decision 0016.

    python bench/noise_of_few_batches.py [--runs 200] [--rules prior 0.7,0 1,0.35] [--only lead calm]
"""

import argparse
import math
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from afterglow.errors import AfterglowWarning
from afterglow.estimation import noise
from afterglow.estimation.comparison import tail
from afterglow.estimation.noise import FADED, NoiseVariance

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from testbed.coverage import CoverageWorld, Floats, Law, normal, play  # noqa: E402
from testbed.coverage_worlds import OUTSIDE, WORLDS  # noqa: E402
from testbed.quick_agent import compile_kernels  # noqa: E402

Rule = Callable[..., NoiseVariance]
PRIOR = noise.arm_noise
NEAR, FAR = 0.025, 0.0005  # tails in which Student's t and the mixture agree
GRID = np.linspace(-4.0, 4.0, 161)
RATIOS = np.linspace(math.log(1e-4), math.log(1e4), 81)  # log of an arm's sum of squares over the variance of all
POLICIES = ("thrift-ucb", "lean-ucb")
CALM, NOISY = Law(0.4, 0.05), Law(0.42, 0.2)
POWER = [
    CoverageWorld("lead of 50 %, 2 arms", normal(0.1, 0.4, 0.6), window=4, steps=400),
    CoverageWorld("lead of 50 %, 3 arms", normal(0.1, 0.4, 0.4, 0.6), window=4, steps=400),
    CoverageWorld("lead of 17 %, 2 arms", normal(0.06, 0.4, 0.468), steps=800),
    CoverageWorld("lead of 17 %, 3 arms", normal(0.06, 0.4, 0.4, 0.468), steps=800),
]
UNEQUAL = [
    *[world for world in [*WORLDS, *OUTSIDE] if world.name.startswith(("leader", "2 arms", "rare"))],
    next(world for world in WORLDS if world.name == "yes/no .98, .5, .5"),
    CoverageWorld("3 arms: two calm .40, best .42 (sd .2)", (CALM, CALM, NOISY)),
    CoverageWorld("3 arms: calm .40, calm .30, best .42 (sd .2)", (CALM, Law(0.3, 0.05), NOISY)),
    CoverageWorld("3 arms: calm .40, calm .40, equal (sd .2)", (CALM, CALM, Law(0.4, 0.2))),
]


def quantile(probability: float, beyond: Callable[[float], float]) -> float:
    """The value beyond which lies this probability, by halving."""
    near, far = 0.0, 1e5
    for _ in range(60):
        middle = 0.5 * (near + far)
        if beyond(middle) > probability:
            near = middle
        else:
            far = middle
    return far


@cache
def student(freedom: float) -> tuple[float, float]:
    near, far = (quantile(one, lambda value: tail(value, freedom)) for one in (NEAR, FAR))
    return near, far


def alike(weights: Floats, ratios: Floats) -> tuple[float, float]:
    """Variance and degrees of freedom of the Student's t whose tails are those of a mixture of normal laws."""

    def beyond(value: float) -> float:
        tails = [0.5 * math.erfc(value / ratio * math.sqrt(0.5)) for ratio in ratios.tolist()]
        return float(np.dot(weights, tails))

    near, far = quantile(NEAR, beyond), quantile(FAR, beyond)
    fewest, most = 1.2, 200.0
    for _ in range(14):
        middle = round(math.sqrt(fewest * most), 3)
        if student(middle)[1] / student(middle)[0] > far / near:
            fewest = middle
        else:
            most = middle
    return (near / student(most)[0]) ** 2, most


def log_normal(tau: float, shift: float) -> Rule:
    """The rule that takes the place of `arm_noise`, tabulated by degrees of freedom and ratios."""
    ratios, prior = np.exp(shift + tau * GRID), np.exp(-0.5 * GRID * GRID)
    tables: list[Floats] = []
    for freedom in range(FADED):
        rows = []
        for square in np.exp(RATIOS) if freedom else [1.0]:
            seen = prior * np.exp(-freedom * np.log(ratios) - 0.5 * square / ratios**2) if freedom else prior
            rows.append(alike(seen / seen.sum(), ratios))
        tables.append(np.array(rows))

    def arm_noise(
        washed: Any, squares: float, freedom: int, size: float, pooled: float, largest: float | None = None
    ) -> NoiseVariance:
        if not washed.steps or freedom >= FADED or pooled <= 0 or squares > 1e4 * pooled:
            return PRIOR(washed, squares, freedom, size, pooled, largest)
        table = tables[freedom]
        place = math.log(max(squares / pooled, 1e-4)) if freedom else 0.0
        where = RATIOS if freedom else np.zeros(1)
        value = pooled * math.exp(float(np.interp(place, where, np.log(table[:, 0]))))
        degrees = float(np.interp(place, where, table[:, 1]))
        most = noise.largest_variance(washed.mean) if largest is None else math.inf
        value = min(value, max(pooled, most, squares / max(1, freedom)))
        return NoiseVariance(value + size * size / washed.steps, degrees if freedom else float(noise.PRIOR))

    return arm_noise


def measured(world: CoverageWorld, policy: str, runs: int) -> str:
    found = [play(world, policy, seed) for seed in range(runs)]
    told = [one for one in found if one.held is not None]
    shares = [
        100 * sum(bool(one.held) for one in told) / max(1, len(told)),
        *(100 * sum(getattr(one, name) for one in found) / runs for name in ("wrong_clear", "clear", "oracle")),
    ]
    columns = [world.name, f"`{policy}`", f"{runs}", *(f"{share:.1f} %" for share in shares)]
    return "| " + " | ".join(columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rules", nargs="+", default=["prior", "0.7,0", "0.7,0.35", "1,0.35"])
    parser.add_argument("--only", nargs="+", default=[""], help="worlds whose name contains one of these")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", AfterglowWarning)
    compile_kernels()
    print("| rule | world | policy | runs | holds | wrong clear | clear at the end | oracle |")
    for rule in asked.rules:
        tau, _, shift = rule.partition(",")
        setattr(noise, "arm_noise", PRIOR if rule == "prior" else log_normal(float(tau), float(shift)))  # noqa: B010
        for world in [*POWER, *UNEQUAL]:
            if any(part in world.name for part in asked.only):
                for policy in POLICIES:
                    print(f"| {rule} {measured(world, policy, asked.runs)}", flush=True)


if __name__ == "__main__":
    main()
