"""The noise of an arm with few batches: a prior alone against a log-normal ratio of deviations between arms.

An arm with fewer than seven batches borrows noise from the others (`afterglow.estimation.noise`). `prior` is the rule
for two arms, used for any number; a number is the deviation of the logarithm of ratios (`noise_ratio.SPREAD`) for three
arms or more. Docs: decision 0016.

    python bench/answers/noise_of_few_batches.py [--runs 200] [--seed 0] [--rules prior 0.8] [--only lead calm]
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from afterglow.errors import AfterglowWarning
from afterglow.estimation import noise, noise_ratio

ROOT = Path(__file__).parents[2]
from testbed.coverage import EVERY, CoverageWorld, Floats, Law, normal, play, yes_no  # noqa: E402
from testbed.coverage_worlds import OUTSIDE, WORLDS, heavy, lognormal  # noqa: E402
from testbed.quick_agent import compile_kernels  # noqa: E402

SEVERAL = noise.SEVERAL
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


def tailed(world: CoverageWorld, random: np.random.Generator) -> Floats:
    """One of three arms pays rarely and much: its rewards are multiplied by 0 or 5."""
    factor = np.ones((len(world.laws), world.steps))
    factor[0] = np.where(random.random(world.steps) < 0.2, 5.0, 0.0)
    return factor


def breaking() -> list[CoverageWorld]:
    """Arms that are noisier or calmer by larger factors, in larger numbers, with noise that all share."""
    found = []
    for times, calm in ((5, 0.04), (10, 0.02)):
        noisy = Law(0.42, calm * times)
        for more in (2, 4, 9, 19):
            steps = 600 if more < 9 else 2_000
            others = [Law(0.4, calm)] * more
            found.append(CoverageWorld(f"{more + 1} arms: best {times} x as noisy", (*others, noisy), steps=steps))
        equal = (*[Law(0.4, calm)] * 2, Law(0.4, calm * times))
        found.append(CoverageWorld(f"3 equal arms: one {times} x as noisy", equal))
        quiet = (*[Law(0.4, 0.2)] * 2, Law(0.42, 0.2 / times))
        found.append(CoverageWorld(f"3 arms: best {times} x as calm", quiet))
        ladder = (Law(0.4, calm), Law(0.35, calm * 2), noisy)
        found.append(CoverageWorld(f"3 arms: a ladder of noise up to {times} x", ladder))
        for window, length in ((1, 300), (24, 1_500)):
            laws = (*[Law(0.4, calm)] * 2, noisy)
            found.append(CoverageWorld(f"3 arms, window {window}: best {times} x as noisy", laws, window, length))
    pair = (CALM, Law(0.4, 0.05), NOISY)
    for rho in (0.5, 0.9):
        for sd in (0.05, 0.15):
            name = f"3 arms: calm, calm, noisy, noise lingers rho {rho:g}, sd {sd:g}"
            found.append(CoverageWorld(name, pair, steps=1_000, level=0.35, correlation=rho, noise=sd))
    season = CoverageWorld("3 arms: calm, calm, noisy, a season", pair, steps=2_000, level=0.3, period=24, swing=0.1)
    mean = tuple(Law(level, 0.4 * level) for level in (0.1, 0.2, 0.4))
    scaled = tuple(Law(level, 0.4 * level) for level in (0.38, 0.4, 0.42))
    return [
        *found,
        replace(season, told="season"),
        CoverageWorld("3 arms: noise as the mean, .1 .2 .4", mean),
        CoverageWorld("3 arms: noise as the mean, .38 .4 .42", scaled),
        CoverageWorld("3 arms: yes/no .02, .02, calm .02", (*yes_no(0.02, 0.02), Law(0.02, 0.01)), steps=2_000),
        CoverageWorld("3 arms: calm .4, calm .4, yes/no .45", (CALM, CALM, Law(0.45, None))),
        CoverageWorld("5 arms: calm, best is yes/no .45", (CALM, CALM, CALM, CALM, Law(0.45, None))),
        CoverageWorld("3 arms: heavy tails", pair, level=0.3, change=heavy),
        CoverageWorld("3 arms: lognormal", normal(0.05, 0.2, 0.2, 0.2), factor=lognormal),
        CoverageWorld("3 arms: one pays rarely, five times as much", normal(0.02, 0.1, 0.1, 0.1), factor=tailed),
        CoverageWorld("3 arms: calm, calm, noisy, 200 steps", pair, steps=200),
    ]


BREAKING = breaking()


def use(rule: str) -> None:
    """Estimate noise by the prior alone, or by ratios with this spread of logarithms."""
    setattr(noise, "SEVERAL", 10**9 if rule == "prior" else SEVERAL)  # noqa: B010
    setattr(noise_ratio, "SPREAD", noise_ratio.SPREAD if rule == "prior" else float(rule))  # noqa: B010
    noise_ratio.at_place.cache_clear()


def measured(world: CoverageWorld, policy: str, seeds: range, every: int) -> str:
    found, runs = [play(world, policy, seed, every) for seed in seeds], len(seeds)
    told = [one for one in found if one.held is not None]
    shares = [
        100 * sum(bool(one.held) for one in told) / max(1, len(told)),
        *(100 * sum(getattr(one, name) for one in found) / runs for name in ("told", "wrong_clear", "clear", "oracle")),
    ]
    columns = [world.name, f"`{policy}`", f"{runs}", *(f"{share:.1f} %" for share in shares)]
    return "| " + " | ".join(columns) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rules", nargs="+", default=["prior", "0.8"])
    parser.add_argument("--only", nargs="+", default=[""], help="worlds whose name contains one of these")
    parser.add_argument("--policies", nargs="+", default=list(POLICIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=EVERY, help="steps between two looks")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", AfterglowWarning)
    compile_kernels()
    seeds = range(asked.seed, asked.seed + asked.runs)
    print("| rule | world | policy | runs | holds | given | wrong clear | clear at the end | oracle |")
    for world in [*POWER, *UNEQUAL, *BREAKING]:
        if any(part in world.name for part in asked.only):
            for policy in asked.policies:
                for rule in asked.rules if world.possible(policy) else []:
                    use(rule)
                    print(f"| {rule} {measured(world, policy, seeds, asked.every)}", flush=True)


if __name__ == "__main__":
    main()
