"""What expected totals are worth: regret in percent of uniform play, and how often the best arm is recommended.

Worlds: hours with a day of ±20 % and weekends of +16 %, three arms, a lead of 5 %, single totals with noise of 4 % and
pulls with noise of 10 %; and shocks of 8 % with a correlation of 0.9 from step to step, of which a forecast explains a
share. A profile is the mean of 8 simulated weeks, drawn anew for each of 10 groups of runs. The table goes into
docs/guides/expected-totals.md.

    python bench/answers/expected_totals.py [--runs 400] [--seed 2026] [--write]
    python bench/answers/expected_totals.py --starts 0 48 72 [--runs 200] [--seed 5]    # lean-ucb by the first hour
"""

import argparse
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from afterglow import World, simulate
from afterglow.engine.outcome import Outcome
from afterglow.expected import without_proof
from afterglow.policies import named
from afterglow.worlds.baseline import Baseline, Constant, Noise, Part, Seasonal

GUIDE = Path(__file__).parents[2] / "docs/guides/expected-totals.md"
FIRST, LAST = "<!-- written by bench/answers/expected_totals.py -->\n", "<!-- end -->"
LEVEL, LEAD = 0.5, 0.025
POLICIES = ("thrift-ucb", "lean-ucb")
GROUPS, WEEKS = 10, 8
PLACES = ((2000, 24), (1000, 5))  # horizon, window
SHARES = (0.0, 0.25, 0.5, 0.8, 0.9)
WAYS = ("none", "season=24", "season=168", "profile")
Numbers = NDArray[np.float64]


def week() -> Numbers:
    """Deviations from the level by hour."""
    hours = np.arange(168)
    cycle = 0.2 * np.sin(2 * math.pi * hours / 24) + 0.16 * (hours >= 120)
    return np.asarray(LEVEL * (cycle - cycle.mean()))


def world(window: int, parts: list[Part], signed: bool) -> World:
    """Three arms that pay two fifths of the level, the second better than the others."""
    mean, noise = 0.4 * LEVEL, 0.1 * LEVEL
    laws = [f"normal:{mean + (LEAD if arm == 1 else 0.0)},{noise}" for arm in range(3)]
    return World.of(laws, window, "uniform", Baseline((Constant(0.6 * LEVEL), *parts), signed))


def played(
    policy: str, place: World, horizon: int, runs: int, seed: int, first: int, season: int, told: bool
) -> Outcome:
    used = named(policy)
    if told and "proof" in used.options():
        used = without_proof(used)
    return simulate(used, place, horizon, runs, seed, threads=1, first=first, season=season, recommend=True)


def summed_up(outcomes: list[Outcome], horizon: int) -> str:
    """Regret in percent of uniform play with its standard error, and the share of runs that recommend the best arm."""
    uniform = horizon * LEAD * 2 / 3 / 100
    regrets = np.concatenate([one.regrets for one in outcomes]) / uniform
    right = np.concatenate([one.recommended == 1 for one in outcomes if one.recommended is not None])
    error = regrets.std(ddof=1) / math.sqrt(regrets.size)
    return f"{regrets.mean():.1f} ± {error:.1f} ({right.mean():.0%})".replace("%)", " %)")


def weekly(policy: str, horizon: int, window: int, way: str, runs: int, seed: int) -> str:
    """The week without and with whole cycles, and with a profile of some weeks."""
    random = np.random.default_rng((seed, horizon))
    total_noise = math.hypot(0.04 * LEVEL, 0.1 * LEVEL / math.sqrt(window))
    found = []
    for group in range(GROUPS):
        cycle = np.roll(week(), -int(random.integers(168)))
        profile = cycle + random.normal(0, total_noise / math.sqrt(WEEKS), 168)
        shown = cycle - profile + profile.mean() if way == "profile" else cycle
        place = world(window, [Seasonal(tuple(shown.tolist())), Noise(0.04 * LEVEL)], signed=way == "profile")
        season = int(way.partition("=")[2] or 1)
        found.append(played(policy, place, horizon, runs // GROUPS, seed, group * runs, season, way == "profile"))
    return summed_up(found, horizon)


def begun(start: int, runs: int, seed: int) -> str:
    """`lean-ucb` in 1,000 steps with a window of 5 and no season, from this hour of the week on."""
    place = world(5, [Seasonal(tuple(np.roll(week(), -start).tolist())), Noise(0.04 * LEVEL)], signed=False)
    return summed_up([played("lean-ucb", place, 1000, runs, seed, 0, 1, False)], 1000)


def shocked(policy: str, share: float, runs: int, seed: int) -> str:
    """Shocks that linger, of which a share is expected."""
    place = world(24, [Noise(0.08 * LEVEL * math.sqrt(1 - share), 0.9)], signed=share > 0.0)
    return summed_up([played(policy, place, 1000, runs, seed, 0, 1, share > 0)], 1000)


def table(runs: int, seed: int) -> str:
    lines = [f"Regret in percent of uniform play ± standard error (best arm recommended), {runs} runs, seed {seed}:\n"]
    lines += [f"| week of hours | {' | '.join(WAYS)} of {WEEKS} weeks |", "|---" * 5 + "|"]
    for horizon, window in PLACES:
        for policy in POLICIES:
            cells = [weekly(policy, horizon, window, way, runs, seed) for way in WAYS]
            lines.append(f"| `{policy}`, {horizon:,} steps, window {window} | {' | '.join(cells)} |")
    lines += ["", f"| shocks, explained: | {' | '.join(f'{share:.0%}'.replace('%', ' %') for share in SHARES)} |"]
    lines.append("|---" * 6 + "|")
    for policy in POLICIES:
        cells = [shocked(policy, share, runs, seed) for share in SHARES]
        lines.append(f"| `{policy}`, 1,000 steps, window 24 | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--starts", type=int, nargs="+", default=[])
    asked = parser.parse_args()
    for start in asked.starts:
        print(f"from hour {start} of the week: {begun(start, asked.runs, asked.seed)}")
    if asked.starts:
        return
    made = table(asked.runs, asked.seed)
    print(made)
    if asked.write:
        before, _, rest = GUIDE.read_text(encoding="utf-8").partition(FIRST)
        GUIDE.write_text(before + FIRST + "\n" + made + "\n" + rest[rest.index(LAST) :], encoding="utf-8")


if __name__ == "__main__":
    main()
