"""Promised against achieved: how often a plan says that the best arm is found, and how often it is.

*Simulated.* Histories of a level of 100 with AR(1) noise are planned from, and the default policy is played in
the world that made them. *Real.* The first half of each series in `studies/series` is planned from; the experiments are
played on stretches of the second half, with the effect added to the totals. A plan either takes week, hour of week and
trend out by the profile (`profile`), or counts no cycles at all (`without`). The policy is the default one. The table
goes into docs/guides/plan.md.

    python bench/plan_calibration.py [--histories 20] [--runs 120] [--write]
"""

import argparse
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterglow.engine.simulate import simulate
from afterglow.lab import read_totals
from afterglow.lab.history.estimate import History, estimate
from afterglow.lab.plan.inputs import PlanInputs, scenario_of
from afterglow.lab.plan.scenario import ARMS_SHARE, Scenario
from afterglow.lab.plan.trials import Candidate, Effort, Trial, noise_setting, policy_of, trial, unwarned
from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Part
from afterglow.worlds.world import World

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs/guides/plan.md"
FIRST, LAST = "<!-- written by bench/plan_calibration.py -->\n", "<!-- end -->"
CORRELATIONS, GAP, ARMS, WINDOW = (0.0, 0.5, 0.9, 0.95), 0.05, 3, 6
Numbers = NDArray[np.float64]


def scenario_from(history: History, horizon: int, told: bool) -> Scenario:
    asked = PlanInputs(ARMS, WINDOW, horizon, GAP, None, None, None, None, None, "uniform")
    made = scenario_of(asked, history, [])
    return made.expecting() if told and history.season > 1 else made.aligned(1)


def promised(scenario: Scenario, runs: int) -> Trial:
    candidate = Candidate("thrift-ucb", {"noise": noise_setting(scenario)})
    return trial(candidate, scenario, Effort(runs, 1, 1, lambda _: None))


def achieved(used: Trial, scenario: Scenario, parts: list[Part], runs: int) -> float:
    """How often the best arm is found when the same settings are played in the world with this baseline."""
    right = []
    pay = ARMS_SHARE * scenario.mean
    for best in range(ARMS):
        laws = [f"discrete:{pay + (scenario.gain if arm == best else 0.0)!r}@1" for arm in range(ARMS)]
        world = World.of(laws, WINDOW, "uniform", Baseline((Constant(-pay), *parts), signed=True))
        with unwarned():
            outcome = simulate(
                policy_of(used.candidate, scenario), world, scenario.horizon, runs // ARMS, 7,
                used.candidate.options, threads=1, recommend=True, first=best * runs,
            )  # fmt: skip
        assert outcome.recommended is not None
        right.append(outcome.recommended == best)
    return float(np.concatenate(right).mean())


def simulated(correlation: float, histories: int, runs: int) -> tuple[float, float]:
    """Mean promise and mean share found over histories of 336 totals."""
    shares = []
    noise = 8.0
    for seed in range(histories):
        random = np.random.default_rng((seed, round(1000 * correlation)))
        value, totals = float(random.normal(0, noise)), []
        for _ in range(336):
            value = correlation * value + math.sqrt(1 - correlation**2) * float(random.normal(0, noise))
            totals.append(100 + value)
        scenario = scenario_from(estimate(totals, season=1, window=WINDOW), 400, told=False)
        used, top = promised(scenario, runs), scenario.reward_max
        shares.append(
            (used.found, achieved(used, scenario, [Constant(100 / top), Noise(noise / top, correlation)], runs))
        )
    return tuple(np.mean(shares, axis=0).tolist())  # type: ignore[return-value]


def real(values: Numbers, told: bool, runs: int) -> tuple[float, float]:
    """The promise from the first half, and the share found on stretches of the second half."""
    half = len(values) // 2
    history = estimate(values[:half].tolist(), window=WINDOW)
    horizon = max(200, min(1_000, half // 3))
    scenario = scenario_from(history, horizon, told)
    season, top = history.season, scenario.reward_max
    first = -(-half // season) * season  # of the second half, in phase 0
    rest = values[first:] / top
    if scenario.told:
        profile = np.array(history.expected)[np.arange(rest.size) % season] / top
        rest = rest - profile
    parts: list[Part] = [Blocks(tuple(rest.tolist()), horizon, season if scenario.told else 1)]
    used = promised(scenario, runs)
    return used.found, achieved(used, scenario, parts, runs)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def table(histories: int, runs: int) -> str:
    lines = [
        f"Best of {ARMS} arms found, gap {percent(GAP)}, window {WINDOW}, promised by the plan and achieved, {runs} "
        f"runs each; the simulated rows are means over {histories} histories of 336 totals, 400 steps each:\n",
        "| history | promised | achieved | promised less achieved |",
        "|---|---|---|---|",
    ]
    over = []
    for correlation in CORRELATIONS:
        said, came = simulated(correlation, histories, runs)
        over.append(said - came)
        lines.append(
            f"| simulated, correlation {correlation:g} | {percent(said)} | {percent(came)} | {100 * over[-1]:+.0f} |"
        )
    for path in sorted((ROOT / "studies/series").glob("*.csv")):
        values = np.array(read_totals(path).values)
        values = values[np.isfinite(values)]
        for told in (False, True):
            said, came = real(values, told, runs)
            over.append(said - came)
            how = "profile taken out" if told else "no cycle counted"
            lines.append(f"| {path.stem}, {how} | {percent(said)} | {percent(came)} | {100 * over[-1]:+.0f} |")
    lines.append(f"| mean | | | {100 * float(np.mean(over)):+.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=20)
    parser.add_argument("--runs", type=int, default=120)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    made = table(asked.histories, asked.runs)
    print(made)
    if asked.write:
        before, _, rest = GUIDE.read_text(encoding="utf-8").partition(FIRST)
        GUIDE.write_text(before + FIRST + "\n" + made + "\n" + rest[rest.index(LAST) :], encoding="utf-8")


if __name__ == "__main__":
    main()
