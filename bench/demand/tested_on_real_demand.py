"""How often `switchback` ends `tested` on real demand, rightly and wrongly: a table of docs/real-demand.md.

Runs are those of `real_demand.py` (three arms, one better by a share of the demand, spread evenly over the window),
played by an `Agent`. Each is played twice on the same stretch: as it is, and with a profile, the means of the slots of
the eight seasons before the stretch. A run is *wrongly tested* if its last verdict is `tested` and names an arm that
isn't better than the others: any arm where all are equal.

    python bench/demand/tested_on_real_demand.py [--runs 60] [--seed 7] [--write]
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from afterglow import Agent
from bench.demand.practitioner import Numbers
from bench.demand.real_demand import ARMS, Run, Series, all_series, kernel

EFFECTS = (0.0, 0.05, 0.1)
SEASONS = 8
START, END = "<!-- written by bench/demand/tested_on_real_demand.py -->", "<!-- end of tested -->"


def make(series: Series, effect: float, random: np.random.Generator) -> tuple[Run, Numbers]:
    """A stretch that has enough of the series before it, and its profile."""
    before = SEASONS * series.season
    first = int(random.integers(before, len(series.values) - series.steps + 1))
    demand = series.values[first : first + series.steps]
    scale = demand.mean()
    profile = series.values[first - before : first].reshape(SEASONS, series.season).mean(axis=0) / scale
    effects = np.zeros(ARMS)
    effects[random.integers(ARMS)] = effect
    return Run(series, demand / scale, effects, kernel("uniform", series.window), demand / scale), profile


def verdict(run: Run, profile: Numbers | None, seed: int) -> tuple[bool, bool]:
    """Whether it ends `tested`, and whether it recommends an arm that is better than the others."""
    series, most = run.series, float(2 * run.demand.max())
    options = {} if profile is None else {"profile": [float(usual) for usual in profile]}
    agent = Agent(ARMS, series.window, series.steps, policy="switchback", reward_max=most, seed=seed, **options)  # type: ignore[arg-type]
    due = np.zeros(series.steps + series.window)
    for step, demand in enumerate(run.demand):
        arm = int(agent.select())
        due[step : step + series.window] += run.effects[arm] * run.base[step] * run.weights
        agent.update(float(demand + due[step]))
    said = agent.verdict()
    return said.grade == "tested", bool(run.effects.any()) and said.recommended == run.best


def measure(series: Series, runs: int, seed: int) -> str:
    """The row of a series."""
    cells = [series.name]
    for told in (False, True):
        wrong, right = [], []
        for effect in EFFECTS:
            found = []
            for number in range(runs):
                random = np.random.default_rng([seed, len(series.values), round(1000 * effect), number])
                run, profile = make(series, effect, random)
                found.append(verdict(run, profile if told else None, seed + number))
            wrong.append(np.mean([tested and not best for tested, best in found]))
            right.append(np.mean([tested and best for tested, best in found]))
        cells += [" / ".join(f"{100 * share:.0f}" for share in shares) for shares in (wrong, right[1:])]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="write the table of docs/real-demand.md")
    asked = parser.parse_args()
    lines = [
        f"In percent, {asked.runs} runs in each cell, effects of 0 / 5 / 10 % (wrongly) and 5 / 10 % (rightly):",
        "",
        "| series | wrongly `tested` | rightly | with a profile: wrongly `tested` | rightly |",
        "|---|---|---|---|---|",
    ]
    every = [one for one in all_series() if len(one.values) >= one.steps + SEASONS * one.season]
    with ProcessPoolExecutor(2) as pool:
        for line in pool.map(partial(measure, runs=asked.runs, seed=asked.seed), every):
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
    print("\n".join(lines))
    if asked.write:
        path = Path(__file__).parents[2] / "docs" / "real-demand.md"
        page = path.read_text()
        before, after = page.split(START)[0], page.split(END)[1]
        path.write_text(f"{before}{START}\n\n" + "\n".join(lines) + f"\n\n{END}{after}")


if __name__ == "__main__":
    main()
