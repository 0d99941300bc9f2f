"""Promised against achieved: how often a plan says that the best arm is found, and how often it is.

*Simulated.* Histories of a level of 100 with AR(1) noise are planned from, and the default policy is played in
the world that made them. *Real.* The first half of each series in `studies/series` is planned from; the experiments are
played on stretches of the second half, with the effect added to the totals: the gap, relative to the mean of the second
half, because a variant that is 5 % better brings 5 % of what there is then. Either the default policy is told the
season (`random-turns`), or `thrift-ucb` is given totals less the profile, or it is played without any cycle. The table
goes into docs/guides/plan.md.

    python bench/answers/plan_calibration.py [--histories 20] [--runs 120] [--write]
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
from afterglow.policies.default import IN_SEASON
from afterglow.policies.registry import DEFAULT
from afterglow.worlds.baseline import Baseline, Blocks, Constant, Noise, Part
from afterglow.worlds.world import World

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guides/plan.md"
FIRST, LAST = "<!-- written by bench/answers/plan_calibration.py -->\n", "<!-- end -->"
CORRELATIONS, GAP, ARMS, WINDOW = (0.0, 0.5, 0.9, 0.95), 0.05, 3, 6
SEASON, PROFILE, WITHOUT = "season told", "profile taken out", "no cycle counted"
Numbers = NDArray[np.float64]


def scenario_from(history: History, horizon: int, way: str) -> Scenario:
    asked = PlanInputs(ARMS, WINDOW, horizon, GAP, None, None, None, None, None, "uniform")
    made = scenario_of(asked, history, [])
    return {SEASON: made, PROFILE: made.expecting(), WITHOUT: made.aligned(1)}[way]


def promised(scenario: Scenario, runs: int) -> Trial:
    known = {"noise": noise_setting(scenario)}
    candidate = Candidate(IN_SEASON) if scenario.align > 1 else Candidate(DEFAULT, known)
    return trial(candidate, scenario, Effort(runs, 1, 1, lambda _: None))


def achieved(used: Trial, scenario: Scenario, parts: list[Part], gain: float, runs: int) -> float:
    """How often the best arm, better by `gain`, is found when the same settings are played with this baseline."""
    right = []
    pay = ARMS_SHARE * scenario.mean
    for best in range(ARMS):
        laws = [f"discrete:{pay + (gain if arm == best else 0.0)!r}@1" for arm in range(ARMS)]
        world = World.of(laws, WINDOW, "uniform", Baseline((Constant(-pay), *parts), signed=True))
        with unwarned():
            outcome = simulate(
                policy_of(used.candidate, scenario), world, scenario.horizon, runs // ARMS, 7,
                used.candidate.options, threads=1, recommend=True, first=best * runs, season=scenario.align,
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
        scenario = scenario_from(estimate(totals, season=1, window=WINDOW), 400, WITHOUT)
        used, top = promised(scenario, runs), scenario.reward_max
        parts: list[Part] = [Constant(100 / top), Noise(noise / top, correlation)]
        shares.append((used.found, achieved(used, scenario, parts, GAP * 100 / top, runs)))
    return tuple(np.mean(shares, axis=0).tolist())


def real(values: Numbers, way: str, runs: int) -> tuple[float, float] | None:
    """The promise from the first half, and the share found on stretches of the second half; None without a season."""
    half = len(values) // 2
    history = estimate(values[:half].tolist(), window=WINDOW)
    if history.season == 1 and way != WITHOUT:
        return None
    horizon = max(200, min(1_000, half // 3))
    scenario = scenario_from(history, horizon, way)
    season, top = history.season, scenario.reward_max
    first = -(-half // season) * season  # of the second half, in phase 0
    rest = values[first:] / top
    gain = GAP * float(rest.mean())
    if scenario.told:
        profile = np.array(history.expected)[np.arange(rest.size) % season] / top
        rest = rest - profile
    parts: list[Part] = [Blocks(tuple(rest.tolist()), horizon, season if scenario.told else 1)]
    used = promised(scenario, runs)
    return used.found, achieved(used, scenario, parts, gain, runs)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def table(histories: int, runs: int) -> str:
    lines = [
        f"Best of {ARMS} arms found, gap {percent(GAP)}, window {WINDOW}, promised by the plan and achieved, {runs} "
        f"runs each; the simulated rows are means over {histories} histories of 336 totals, 400 steps each:\n",
        "| history | promised | achieved | promised less achieved |",
        "|---|---|---|---|",
    ]
    over: dict[str, list[float]] = {"simulated": []}
    single: dict[str, float] = {}
    for correlation in CORRELATIONS:
        said, came = simulated(correlation, histories, runs)
        over["simulated"].append(said - came)
        lines.append(row(f"simulated, correlation {correlation:g}", said, came))
    folder = ROOT / "studies/series"
    for path in [*sorted(folder.glob("*.csv")), *sorted((folder / "held-out").glob("*.csv"))]:
        values = np.array(read_totals(path).values)
        for way in (SEASON, PROFILE, WITHOUT):
            found = real(values[np.isfinite(values)], way, runs)
            if found is not None:
                over.setdefault(f"real, {way}", []).append(found[0] - found[1])
                single[f"{path.stem}, {way}"] = found[0] - found[1]
                lines.append(row(f"{path.stem}, {way}", *found))
    for name, apart in over.items():
        lines.append(f"| **mean, {name}** | | | {100 * float(np.mean(apart)):+.1f} |")
    real_ones = [value for name, apart in over.items() if name != "simulated" for value in apart]
    lines.append(f"| **mean, all real** | | | {100 * float(np.mean(real_ones)):+.1f} |")
    worst = max(((value, name) for name, value in single.items()), default=(0.0, ""))
    lines.append(f"\nThe most that was promised too much on a real series: {100 * worst[0]:+.0f} points, {worst[1]}.")
    return "\n".join(lines) + "\n"


def row(name: str, said: float, came: float) -> str:
    return f"| {name} | {percent(said)} | {percent(came)} | {100 * (said - came):+.0f} |"


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
