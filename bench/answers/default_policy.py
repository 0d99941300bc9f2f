"""The check figures of `thrift-ucb`, on fresh seeds, beside those that were measured when it was designed.

Tables: the shop, 80 random small cells under kind and hostile spreads, 130 further ones, `studies/small.toml`,
Bernoulli arms at long horizons, the ratio to `trim-ucb` in 48 large cells, and the speed of a very long run. A figure
is *reproduced* if it is within 4 standard errors plus 3 % of the designer's, *better* if it is below. The random cells
are drawn anew by the law that `small_cells` states, so look at the ratio to `lean-ucb` too, which was measured beside
it both times.

    python bench/answers/default_policy.py [--part shop small further study large ratio speed] [--seed 2026]
        [--effort 1.0]
"""

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from afterglow import World, simulate
from afterglow.engine.outcome import Outcome
from afterglow.errors import BadValue
from afterglow.lab.study.study import Study

MEANS = [0.9, 0.8, 0.7, 0.6, 0.5]
STATIONARY = ("uniform", "last", "geometric:0.8", "dirichlet", "delay:uniform")
THRIFT, LEAN, TRIM, WASHOUT = "thrift-ucb", "lean-ucb", "trim-ucb", "washout-ucb"
DESIGNED_FURTHER = {
    (THRIFT, True): 47.6,
    (THRIFT, False): 50.1,
    (LEAN, True): 47.6,
    (TRIM, True): 81.2,
    (WASHOUT, True): 85.6,
}
DESIGNED_SMALL = {"stationary": (42.8, 43.4, 83.6), "chameleon": (23, 25, 101), "drift": (124, 122, 100)}
DESIGNED_LARGE: dict[
    tuple[int, int], tuple[Any, ...]
] = {  # (T, d): mean and standard error under each spread, then trim-ucb's uniform and chameleon
    (10**5, 10): ((112, 4), (123, 4), (140, 4), (116, 5), 168, 214),
    (10**5, 50): ((292, 6), (318, 8), (319, 11), (388, 11), 367, 507),
    (10**5, 200): ((909, 13), (1015, 13), (1033, 19), (1236, 30), 1025, 1436),
    (10**6, 10): ((212, 6), (212, 6), (217, 6), (232, 6), 201, 238),
    (10**6, 50): ((393, 7), (429, 9), (386, 13), (503, 11), 404, 595),
    (10**6, 200): ((1197, 16), (1221, 19), (1407, 29), (1293, 35), 1077, 1459),
}
LARGE_SPREADS = ("uniform", "last", "handicap", "chameleon")


def drift(reward: float, arm: int, best: int, age: int, draws: Any, parts: Any) -> None:
    """The best arm's lag grows from none to the window's end over eight windows of a run, all others' shrinks."""
    late = min(len(parts) - 1, age // 8)
    parts[late if arm == best else len(parts) - 1 - late] += reward


@dataclass(frozen=True)
class Asked:
    """What to play."""

    seed: int
    effort: float  # times the usual number of runs

    def play(self, policy: str, world: World, horizon: int, runs: int, told: bool = True) -> Outcome:
        many = max(8, round(runs * self.effort))
        return simulate(policy, world, horizon, many, self.seed, threads=1, told_horizon=told, recommend=True)


def compared(ours: float, error: float, designed: float, their_error: float = 0.0) -> str:
    """Ours and the designer's, and whether they agree within 4 standard errors plus 3 %."""
    allowed = 4 * math.hypot(error, their_error) + 0.03 * designed
    verdict = "reproduced" if abs(ours - designed) <= allowed else "better" if ours < designed else "NOT reproduced"
    return f"{ours:9,.1f} ± {error:5.1f} {designed:9,.1f}  {verdict}"


def shop(asked: Asked) -> None:
    print("\nShop: regret in % of random play, 3 arms, window 24, 2,000 steps")
    world = World.of(["normal:0.36,0.1", "normal:0.33,0.1", "normal:0.30,0.1"], 24)
    uniform = 2000 * sum(world.gaps) / 300
    rows = [(THRIFT, True, 9.5, 0.2), (THRIFT, False, 13.0, 0.2), (LEAN, True, 8.2, 0.2), (TRIM, True, 89.0, 0.5)]
    for policy, told, designed, error in rows:
        outcome = asked.play(policy, world, 2000, 2000, told)
        name = policy if told else f"{policy}, no horizon"
        figure = compared(outcome.regret.mean / uniform, outcome.regret.se / uniform, designed, error)
        print(f"{name:24} {figure}  switches {outcome.switches.mean():.1f}")


def small_cells(count: int, seed: int) -> Iterator[tuple[list[str | float], int, int, str]]:
    """Reward laws, window, horizon and a stationary spread; 2 in 3 are normal, the others yes/no."""
    random = np.random.default_rng(seed)
    made = 0
    while made < count:
        horizon, window = (round(math.exp(random.uniform(*np.log(ends)))) for ends in ((200, 5000), (3, 72)))
        arms = int(random.integers(2, 6))
        gap, deviation = (math.exp(random.uniform(*np.log(ends))) for ends in ((0.02, 0.2), (0.05, 0.2)))
        yes_no, spread = random.random() < 1 / 3, str(random.choice(STATIONARY))
        if horizon < 3 * arms * window:
            continue
        best = 0.4
        means = [best, *(best * (1 - gap * random.uniform(1, 2)) for _ in range(arms - 1))]
        laws = [mean if yes_no else f"normal:{mean:.5f},{deviation:.4f}" for mean in random.permutation(means)]
        yield laws, window, horizon, spread
        made += 1


def small(asked: Asked) -> None:
    print("\n80 random small cells: regret in % of uniform play, mean over cells; the best arm is recommended")
    cells = list(small_cells(80, asked.seed))
    for kind, designed in DESIGNED_SMALL.items():
        found: dict[str, list[tuple[float, float, float]]] = {}
        for laws, window, horizon, spread in cells:
            world = World.of(laws, window, drift if kind == "drift" else spread if kind == "stationary" else kind)
            uniform = horizon * sum(world.gaps) / world.arms / 100
            for policy, told in ((THRIFT, True), (LEAN, True), (TRIM, True), (THRIFT, False)):
                outcome = asked.play(policy, world, horizon, 150, told)
                right = 100 * float(np.mean(outcome.recommended == world.best))
                name = policy if told else f"{policy}, no horizon"
                found.setdefault(name, []).append((outcome.regret.mean / uniform, outcome.regret.se / uniform, right))
        for name, column in found.items():
            shares, errors, rights = (np.array(each) for each in zip(*column, strict=True))
            error = math.sqrt((errors**2).sum()) / len(shares)
            theirs = dict(zip((THRIFT, LEAN, TRIM), designed, strict=True)).get(name)
            print(
                f"{kind:11} {name:24} {shares.mean():6.1f} ± {error:3.1f} {'' if theirs is None else theirs:>6}"
                f"  best found {rights.mean():3.0f} %, worst cell {shares.max():4.0f}"
            )
        ours, lean = (float(np.mean([row[0] for row in found[name]])) for name in (THRIFT, LEAN))
        print(f"{kind:11} {THRIFT} / {LEAN}: {ours / lean:.3f}, designed {designed[0] / designed[1]:.3f}")


def further(asked: Asked) -> None:
    print("\n130 further random small cells, 400 runs each: regret in % of uniform play; designed; the worst cell")
    cells = list(small_cells(130, asked.seed + 1))
    for (policy, told), designed in DESIGNED_FURTHER.items():
        shares, errors = [], []
        for laws, window, horizon, spread in cells:
            world = World.of(laws, window, spread)
            uniform = horizon * sum(world.gaps) / world.arms / 100
            regret = asked.play(policy, world, horizon, 400, told).regret
            shares.append(regret.mean / uniform)
            errors.append(regret.se / uniform)
        error = math.sqrt(sum(each**2 for each in errors)) / len(errors)
        between = float(np.std(shares)) / math.sqrt(len(shares))
        name = policy if told else f"{policy}, no horizon"
        print(
            f"{name:24} {np.mean(shares):6.1f} ± {error:3.1f}, ± {between:3.1f} between draws of cells "
            f"{designed:6.1f}  worst cell {max(shares):4.0f}",
            flush=True,
        )


def study(asked: Asked) -> None:
    print("\nstudies/small.toml: regret in % of uniform play, mean over the places that lean-ucb accepts")
    cells = Study.read(Path(__file__).parents[2] / "studies" / "small.toml").cells
    places = {
        (cell.world, cell.horizon) for cell in cells if cell.policy.name == LEAN and isinstance(cell.world, World)
    }
    rows = [(THRIFT, True, 33.4), (THRIFT, False, 35.3), (LEAN, True, 33.4), (TRIM, True, 75.4)]
    for policy, told, designed in rows:
        shares, errors = [], []
        for world, horizon in sorted(places, key=str):
            uniform = horizon * sum(world.gaps) / world.arms / 100
            regret = asked.play(policy, world, horizon, 200, told).regret
            shares.append(regret.mean / uniform)
            errors.append(regret.se / uniform)
        error = math.sqrt(sum(each**2 for each in errors)) / len(errors)
        name = policy if told else f"{policy}, no horizon"
        print(f"{name:24} {compared(float(np.mean(shares)), error, designed, error)}  {len(shares)} places")


def large(asked: Asked) -> None:
    print("\nBernoulli .9 … .5: mean regret, 120 runs; designed; the worst run")
    for (horizon, window), designed in DESIGNED_LARGE.items():
        for place, spread in enumerate(LARGE_SPREADS):
            world = World.of(MEANS, window, spread)
            outcome = asked.play(THRIFT, world, horizon, 120)
            figure = compared(outcome.regret.mean, outcome.regret.se, *designed[place])
            print(f"T {horizon:.0e} d {window:3} {spread:10} {figure}  worst {outcome.regrets.max():,.0f}")
        for spread, their in zip(("uniform", "chameleon"), designed[4:], strict=True):
            regret = asked.play(TRIM, World.of(MEANS, window, spread), horizon, 120).regret
            figure = compared(regret.mean, regret.se, float(their), regret.se * math.sqrt(2))
            print(f"T {horizon:.0e} d {window:3} {spread:10} {figure}  (trim-ucb)")


def ratio(asked: Asked) -> None:
    print("\nRegret over that of trim-ucb, 48 large cells, arms in another order: with a horizon, without one")
    spreads = (*LARGE_SPREADS, "hoard", "dirichlet", "delay:uniform", drift)
    found: dict[bool, list[float]] = {True: [], False: []}
    for horizon, window in DESIGNED_LARGE:
        for spread in spreads:
            world = World.of([0.7, 0.5, 0.9, 0.6, 0.8], window, spread)
            trim = asked.play(TRIM, world, horizon, 60).regret.mean
            for told, ratios in found.items():
                ratios.append(asked.play(THRIFT, world, horizon, 60, told).regret.mean / trim)
            name = spread if isinstance(spread, str) else "drift"
            print(f"T {horizon:.0e} d {window:3} {name:13} {found[True][-1]:5.2f} {found[False][-1]:5.2f}", flush=True)
    print("designed: .79 to 1.17 with a horizon; .7 to 1.6 without, 2.9 under slow drift at d = 200")
    for told, ratios in found.items():
        print(f"{'with' if told else 'without'} a horizon {min(ratios):.2f} to {max(ratios):.2f}")


def speed(asked: Asked) -> None:
    print("\nSeconds for 100 runs of 1e9 steps on one core, the second time")
    for window in (10, 200):
        seconds = {}
        for policy in (THRIFT, TRIM):
            for _ in range(2):
                seconds[policy] = asked.play(policy, World.of(MEANS, window), 10**9, 100).seconds
        times = seconds[THRIFT] / seconds[TRIM]
        print(f"d {window:3}: {THRIFT} {seconds[THRIFT]:.3f}, {TRIM} {seconds[TRIM]:.3f}, {times:.1f} times")


PARTS: dict[str, Callable[[Asked], None]] = {
    "shop": shop, "small": small, "further": further, "study": study, "large": large, "ratio": ratio, "speed": speed,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--effort", type=float, default=1.0)
    asked = parser.parse_args()
    if asked.effort <= 0:
        raise BadValue(f"effort must be above 0, got {asked.effort}")
    for part in asked.part:
        PARTS[part](Asked(asked.seed, asked.effort))


if __name__ == "__main__":
    main()
