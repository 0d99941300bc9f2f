"""How often the exact test of `switchback` rejects, and how often its interval holds the truth.

Totals of an hourly system with two arms and a level of 1: a common shock (autoregressive), noise of each step, a day
of amplitude 20 %, weekends 16 % above the rest, effects of 24 hours spread evenly. The second arm is better by the
share in the column. With a profile, the means of the hours of the week over eight weeks before the start are
subtracted. The policy is run by `PolicyRunner` with a new seed in each run; six rows tell it half the window.

    python bench/answers/switchback_power.py [--runs 1000] [--out table.md]
"""

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from afterglow.estimation.randomisation import randomisation_test
from afterglow.policies.registry import named
from afterglow.policy_runner import PolicyRunner
from afterglow.rng import POLICY, TEST, key

Numbers = NDArray[np.float64]
WINDOW, WEEK, WEEKS = 24, 168, 8
FIRST_SEED = 40_000


@dataclass(frozen=True)
class Cell:
    steps: int
    effects: tuple[float, ...]
    expected: tuple[float, ...]  # how often the prototype rejected
    hold: int = 24
    shock: float = 0.05
    correlation: float = 0.5
    season: bool = True
    profile: bool = False
    told: int = WINDOW
    heavy: bool = False
    any_start: bool = False  # at any hour of the week, else on Monday at midnight
    arms: int = 2
    trend: float = 0.0  # over the whole experiment
    void: float = 0.0  # probability that a step is void, which makes its turn longer

    def __str__(self) -> str:
        parts = [f"T = {self.steps:,}, turns {self.told - 1} + {self.hold}"]
        parts += [f"shock {self.shock:.0%}, correlation {self.correlation:g}"] if self.shock != 0.05 else []
        parts += [] if self.season else ["no season"]
        parts += ["profile of 8 weeks"] if self.profile else []
        parts += ["heavy tails (t, 2 degrees)"] if self.heavy else []
        parts += ["begins at any hour of the week"] if self.any_start else []
        parts += [f"{self.arms} arms"] if self.arms > 2 else []
        parts += [f"a trend of {self.trend:.0%}"] if self.trend else []
        parts += [f"{self.void:.0%} of steps void"] if self.void else []
        parts += ["told half the window"] if self.told != WINDOW else []
        return ", ".join(parts)


CELLS = [
    Cell(1_000, (0.0, 0.03, 0.05), (0.05, 0.12, 0.25)),
    Cell(2_000, (0.0, 0.03, 0.05), (0.05, 0.19, 0.55)),
    Cell(1_000, (0.0, 0.03, 0.05), (0.04, 0.76, 0.99), profile=True),
    Cell(2_000, (0.0, 0.03, 0.05), (0.05, 0.98, 1.00), profile=True),
    Cell(500, (0.0, 0.03, 0.05), (0.06, 0.32, 0.69), hold=12, profile=True),
    Cell(1_000, (0.0, 0.05, 0.10), (0.05, 0.44, 0.93), shock=0.08, correlation=0.9, season=False),
]
HALVES = [replace(cell, effects=(0.0,), expected=(math.nan,), told=12) for cell in CELLS]
MORE = [
    Cell(720, (0.0, 0.05), (math.nan,) * 2, arms=3, profile=True, trend=0.2),
    Cell(720, (0.0,), (math.nan,), arms=3, shock=0.08, correlation=0.95, season=False, trend=0.5, heavy=True),
    Cell(480, (0.0,), (math.nan,), arms=5, shock=0.08, correlation=0.95, season=False, trend=0.5, heavy=True),
    Cell(1_100, (0.0,), (math.nan,), season=False, trend=0.5, void=0.05),
    replace(CELLS[0], expected=(math.nan,) * 3, any_start=True),
    Cell(1_000, (0.0,), (math.nan,), shock=0.08, correlation=0.99, season=False),
    Cell(1_000, (0.0,), (math.nan,), season=False, heavy=True),
]


def demand(cell: Cell, hours: int, random: np.random.Generator, first: int) -> Numbers:
    """What totals are without any effect of arms, from hour `first` of a week on."""
    spread = random.standard_t(2, hours + 200) if cell.heavy else random.normal(size=hours + 200)
    fresh = cell.shock * math.sqrt(1 - cell.correlation**2) * spread
    shock = lfilter([1.0], [1.0, -cell.correlation], fresh)
    hour = first + np.arange(hours)
    level = np.ones(hours)
    if cell.season:
        level += 0.2 * np.sin(2 * np.pi * hour / 24) + 0.16 * (hour // 24 % 7 >= 5)
    return np.asarray(level + shock[200:] + 0.05 * random.normal(size=hours))


def play(cell: Cell, effect: float, run: int, begin: int = FIRST_SEED) -> tuple[float, bool, float]:
    """p, whether the exact interval holds the truth, and the estimate."""
    random = np.random.default_rng((begin, run, cell.steps, round(1000 * effect)))
    first = int(random.integers(0, WEEK)) if cell.any_start else 0
    history = demand(cell, WEEKS * WEEK, random, first)
    totals = demand(cell, cell.steps, random, first + WEEKS * WEEK) + cell.trend * np.arange(cell.steps) / cell.steps
    voids = random.random(cell.steps) < cell.void
    if cell.profile:
        usual = history.reshape(WEEKS, WEEK).mean(axis=0)
        totals = totals - usual[np.arange(cell.steps) % WEEK] + usual.mean()
    policy = named("switchback")
    settings = policy.settings(cell.arms, cell.told, cell.steps, {"hold": cell.hold})
    seed = begin + run
    runner = PolicyRunner(policy, settings, policy.start(settings), cell.arms, key(seed, 0, POLICY))
    better = 0.0  # share of the window that the second arm fills
    played: list[bool] = []
    for total, void in zip(totals, voids, strict=True):
        played.append(runner.current().arm == 1)
        better += (played[-1] - (played[-1 - WINDOW] if len(played) > WINDOW else 0)) / WINDOW
        if void:
            continue
        runner.take(float(total) + effect * better)
        if runner.hold is None and policy.test(settings, runner.state).ended:  # type: ignore[misc]
            break
    test = randomisation_test(policy.test(settings, runner.state), range(cell.arms), key(1, 0, TEST), 0.95)  # type: ignore[misc]
    assert test is not None
    pair = test.pair(1, 0)
    held = pair.low is not None and pair.high is not None and pair.low <= effect <= pair.high
    return test.p, held, pair.difference


def measured(cell: Cell, runs: int, begin: int = FIRST_SEED) -> tuple[list[float], float, float]:
    """How often each effect is rejected, the deviation of the estimate, and how often the interval holds the truth."""
    rejected, held, apart = [], [], []
    for effect in cell.effects:
        found = [play(cell, effect, run, begin) for run in range(runs)]
        rejected.append(float(np.mean([p <= 0.05 for p, _, _ in found])))
        held.append(np.mean([inside for _, inside, _ in found]))
        apart.append(np.std([estimate for _, _, estimate in found], ddof=1))
    return rejected, float(np.mean(apart)), float(np.mean(held))


def row(cell: Cell, runs: int) -> str:
    """A row of the table."""
    rejected, apart, held = measured(cell, runs)
    shares = " / ".join(f"{share:.3f}" for share in rejected)
    known = " / ".join(f"{share:.2f}" for share in cell.expected) if not math.isnan(cell.expected[0]) else ""
    covered = f"{100 * held:.1f} %" if cell.told == WINDOW and cell.arms == 2 else ""
    effects = " / ".join(f"{effect:.0%}" for effect in cell.effects)
    return f"| {cell} | {effects} | {known} | {shares} | {100 * apart:.2f} % | {covered} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    lines = [
        "| world | effect | prototype | rejected at 5 % | deviation of the estimate | interval holds the truth |",
        "|---|---|---|---|---|---|",
    ]
    for cell in [*CELLS, *HALVES, *MORE]:
        lines.append(row(cell, given.runs))
        print(lines[-1], flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
