"""Several units at once: regret, found arms, intervals, the exact test, the window alarm, the time of a round.

Three arms with effects that are spread evenly over a window of 24 steps, the second and third worse by 3 %; a level
of 0.4, own noise of 10 % of it in every step, levels told within 5 %; 1,000 steps. `M` is 8 if nothing is said. Regret
is in % of that of uniform play, with the standard error of its mean; `found` is the share of runs that recommend the
best arm.

    python bench/units/units.py [table] [sizes] [others] [horizon] [intervals] [test] [alarm] [speed] [--runs 1000]
"""

import argparse
import math
import time
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from afterglow import Units, UnitsWorld, World, rng, simulate
from afterglow.engine.job import JobResults
from afterglow.engine.layout import unpack
from afterglow.engine.rounds.job import RoundJob
from afterglow.engine.tiers import SKIP
from afterglow.lab.plan.units_power import rejections
from afterglow.policies import round_policy
from afterglow.round_runner import draw_order
from bench.report.figures import Figure, Item, digits

LEVEL, GAP, WINDOW, STEPS = 0.4, 0.03, 24, 1000
SHOCK = f"noise:{0.1 * LEVEL},0.9"
OWN = f"noise:{0.1 * LEVEL}"
PANEL = round_policy("panel-elimination")


def arms(gap: float = GAP) -> list[str]:
    return [f"discrete:{LEVEL}@1", *[f"discrete:{LEVEL * (1 - gap)}@1"] * 2]


def world(gap: float = GAP, units: int = 8, **given: Any) -> UnitsWorld:
    return UnitsWorld.of(arms(gap), WINDOW, units, **{"own": OWN, "common": SHOCK} | given)


def days(weeks: int = 1) -> str:
    """A day of 24 steps and weekends, 20 % of the level."""
    values = []
    for hour in range(168 * weeks):
        day = math.sin(2 * math.pi * hour / 24)
        values.append(0.2 * LEVEL * (day + (0.5 if hour // 24 % 7 > 4 else -0.2)))
    return "seasonal:" + ",".join(f"{value:.6f}" for value in values)


def day() -> str:
    """A day of 24 steps without weekends."""
    return "seasonal:" + ",".join(f"{0.2 * LEVEL * math.sin(2 * math.pi * hour / 24):.6f}" for hour in range(24))


def shifted() -> UnitsWorld:
    """Days of 20 % that begin at other hours in each unit."""
    return world(own=f"{OWN} + {day()}", shift=24)


def promotions(steps: int) -> str:
    """Two promotions of 48 steps in which all totals are higher by half of the level."""
    on = [*range(steps // 5, steps // 5 + 48), *range(3 * steps // 5, 3 * steps // 5 + 48)]
    return "seasonal:" + ",".join(f"{0.5 * LEVEL:.3f}" if step in on else "0" for step in range(steps))


def played(place: UnitsWorld, runs: int, seed: int, steps: int = STEPS, **given: Any) -> tuple[Any, float]:
    """Regret of each run in % of uniform play, and how often the best arm is found."""
    found = simulate(PANEL, place, steps, runs, seed, threads=1, recommend=True, **given)
    uniform = place.units * steps * sum(place.gaps) / place.arms
    sizes = [sum(place.draw(rng.key(seed, run, rng.UNITS)).sizes) / place.units for run in range(runs)]
    assert found.recommended is not None
    return 100 * found.regrets / (uniform * np.array(sizes)), float(np.mean(found.recommended == place.best))


def played_alone(
    deviation: float, noise: str, runs: int, seed: int, season: int = 1, steps: int = STEPS
) -> tuple[Any, float]:
    """The same of lean-ucb on one total: half of the level is a constant, so that noise never makes it negative."""
    half = math.sqrt(3) * deviation
    laws = [f"uniform:{m - half},{m + half}" for m in (LEVEL / 2, LEVEL / 2 - GAP * LEVEL, LEVEL / 2 - GAP * LEVEL)]
    place = World.of(laws, WINDOW, "uniform", f"constant:{LEVEL / 2}" + (f" + {noise}" if noise else ""))
    found = simulate("lean-ucb", place, steps, runs, seed, threads=1, recommend=True, season=season)
    assert found.recommended is not None
    return 100 * found.regrets / (steps * sum(place.gaps) / 3), float(np.mean(found.recommended == 0))


def show(name: str, regret: Any, right: float) -> None:
    error = regret.std(ddof=1) / len(regret) ** 0.5
    print(f"{name:<44} {regret.mean():6.1f} ± {error:.1f}   found {right:.3f}", flush=True)


def row(name: str, place: UnitsWorld, runs: int, seed: int, steps: int = STEPS, **given: Any) -> None:
    """One line: regret and how often the best arm is found."""
    show(name, *played(place, runs, seed, steps, **given))


def alone(name: str, deviation: float, noise: str, runs: int, seed: int, season: int = 1) -> None:
    show(name, *played_alone(deviation, noise, runs, seed, season))


def table(runs: int, seed: int) -> None:
    own = 0.1 * LEVEL
    cases: list[tuple[str, dict[str, Any], float, str]] = [
        ("shared shock 10 %, correlation .9", {}, own, SHOCK),
        ("shock 5 %, .5; own 15 %", {"common": f"noise:{0.05 * LEVEL},0.5", "own": f"noise:{0.15 * LEVEL}"},
         1.5 * own, f"noise:{0.05 * LEVEL},0.5"),
        ("no shock", {"common": None}, own, ""),
    ]  # fmt: skip
    for name, given, deviation, noise in cases:
        row(f"{name}: panel-elimination", world(**given), runs, seed)
        row(f"{name}: crossover", world(**given), runs, seed, options={"commit": STEPS // 2})
        alone(f"{name}: all units one arm", deviation / math.sqrt(8), noise, runs, seed)
        alone(f"{name}: an agent per unit", deviation, noise, runs, seed)
    row("first + day and weekend 20 %", world(common=f"{SHOCK} + {days()}"), runs, seed)
    row("first + two promotions +50 %", world(common=f"{SHOCK} + {promotions(STEPS)}"), runs, seed)


def sizes(runs: int, seed: int) -> None:
    for units in (2, 3, 4, 8, 16, 32):
        row(f"M = {units}", world(units=units), runs, seed)


def others(runs: int, seed: int) -> None:
    row("levels not told, sizes ±30 %", world(told=None, sizes=0.3), runs, seed)
    row("loadings of the shock .5 to 1.5", world(loadings=(0.5, 1.5)), runs, seed)
    row("effects differ by 2 %, sizes lognormal .8", world(interaction=0.02, sizes=0.8), runs, seed)
    row("own noise AR(.9)", world(own=f"noise:{0.1 * LEVEL},0.9"), runs, seed)
    row("days shifted between units", shifted(), runs, seed)
    row("days shifted between units, season=24", shifted(), runs, seed, season=24)


def horizon(runs: int, seed: int) -> None:
    for steps in (60, 100, 150, 200, 300):
        row(f"T = {steps}", world(), runs, seed, steps)


def states_of(place: UnitsWorld, steps: int, runs: int, seed: int, window: int = WINDOW) -> tuple[RoundJob, list[Any]]:
    """The final states of runs."""
    job = RoundJob(PANEL, {}, place, window, steps, seed, SKIP).compiled()
    results = JobResults.empty(runs, place.arms, np.zeros(0, np.int64), recommend=False)
    return job, [unpack(PANEL.State, state) for state in job.play(results, 0, runs, np.zeros(1))]


def covered(place: UnitsWorld, runs: int, seed: int) -> tuple[float, float]:
    """How often the 95 % interval of a difference holds the truth, and how far it reaches, in the median."""
    job, states = states_of(place, STEPS, runs, seed)
    held, widths, share = 0, [], GAP / (1 - 2 * GAP / 3)
    for run, state in enumerate(states):
        found = PANEL.difference(job.settings(run, job.draws(run).levels), state, 0, 1, 0.95)
        held += found.low <= share <= found.high
        widths.append((found.high - found.low) / 2)
    return held / runs, median(widths)


def intervals(runs: int, seed: int) -> None:
    for name, place in (("first", world()), ("levels not told", world(told=None)), ("M = 4", world(units=4))):
        share, width = covered(place, runs, seed)
        print(f"{name:<44} covers {share:.3f}, reaches {100 * width:.1f} % to either side", flush=True)


def test(runs: int, seed: int) -> None:
    cases = [
        ("no effect", world(gap=0)),
        ("no effect, own noise AR(.9)", world(gap=0, own=f"noise:{0.1 * LEVEL},0.9")),
        ("gap 3 %", world()),
        ("gap 2 %", world(gap=0.02)),
    ]
    for name, place in cases:
        print(
            f"exact test, T = 300, {name:<34} rejects {rejections(place, WINDOW, 300, runs, seed, 199):.3f}", flush=True
        )


def alarm(runs: int, seed: int) -> None:
    cases: list[tuple[str, UnitsWorld, int]] = [
        ("window as told", world(), WINDOW),
        ("window as told, no effect", world(gap=0), WINDOW),
        ("window as told, levels not told", world(told=None), WINDOW),
        ("window as told, own noise AR(.9)", world(own=f"noise:{0.1 * LEVEL},0.9"), WINDOW),
        ("window as told, effects differ by 2 %", world(interaction=0.02), WINDOW),
        ("told half of it, gap 3 %", world(), WINDOW // 2),
        ("told half of it, gap 10 %", world(gap=0.1), WINDOW // 2),
        ("told half of it, gap 30 %", world(gap=0.3), WINDOW // 2),
        ("told a quarter of it, gap 10 %", world(gap=0.1), WINDOW // 4),
        ("told half of it, gap 3 %, own noise 1 %", world(own=f"noise:{0.01 * LEVEL}"), WINDOW // 2),
        *(
            (f"all paid in the last step, {name}", world(gap=gap, spread="last"), told)
            for name, gap, told in (
                ("window as told", GAP, WINDOW),
                ("window as told, gap 30 %", 0.3, WINDOW),
                ("told a step less, gap 10 %", 0.1, WINDOW - 1),
                ("told half of it, gap 3 %", GAP, WINDOW // 2),
                ("told half of it, gap 10 %", 0.1, WINDOW // 2),
                ("told a quarter of it, gap 10 %", 0.1, WINDOW // 4),
            )
        ),
    ]
    for name, place, told in cases:
        _, states = states_of(place, STEPS, runs, seed, told)
        print(f"{name:<44} alarms in {mean(state.alarms for state in states):.4f} of runs", flush=True)


def rounds(missing: float, seed: int) -> list[float]:
    """CPU time of each round of 200 units and 20 arms in plain Python, in ms: the least of three repetitions."""
    order, labels = draw_order(1, 200, 20)
    settings = PANEL.settings(20, 200, WINDOW, 6_000, [1.0] * 200, order, labels)
    repeated = []
    for _ in range(3):
        draws, state, times = np.random.default_rng(seed), PANEL.start(settings), list[float]()
        while state.clock < 6_000:
            bodies = (settings.slot * draws.normal(1, 0.1, 200)).tolist()
            known = [settings.slot * int(one) for one in draws.random(200) >= missing]
            began = time.process_time()
            PANEL.next_round(settings, state)
            PANEL.learn(settings, state, settings.slot, 0, known, [0.0] * 200, bodies)
            times.append(1000 * (time.process_time() - began))
        repeated.append(times)
    return np.min(repeated, axis=0).tolist()  # type: ignore[no-any-return]


def steps_of_units(seed: int) -> list[float]:
    """The same of each step of `Units`, by `select` and `update` with totals by name; one in a thousand is missing."""
    names = [f"unit {unit}" for unit in range(200)]
    repeated = []
    for _ in range(3):
        team = Units(20, names, WINDOW, 3_000, dict.fromkeys(names, 1.0), seed=seed)
        draws, times = np.random.default_rng(seed), list[float]()
        while not team.finished:
            totals = dict(zip(names, draws.normal(1, 0.1, 200).tolist(), strict=True))
            for unit in np.flatnonzero(draws.random(200) < 0.001):
                del totals[names[unit]]
            began = time.process_time()
            team.select()
            team.update(totals)
            times.append(1000 * (time.process_time() - began))
        repeated.append(times)
    return np.min(repeated, axis=0).tolist()  # type: ignore[no-any-return]


def simulated(seed: int) -> float:
    """CPU seconds of 10,000 runs of 1,000 steps of 8 units."""
    simulate(PANEL, world(), STEPS, 10, seed, threads=1)  # compiled
    began = time.process_time()
    simulate(PANEL, world(), STEPS, 10_000, seed, threads=1)
    return time.process_time() - began


SHARES = (0.0, 0.01, 0.1)  # of unit-slots that are missing


def measure(folder: Path) -> Item:
    """The item of `bench/run.py`."""
    del folder
    figures, rows = [Figure("8 units, 10,000 runs of 1,000 steps, on one core", simulated(1), "s", at_most=60)], []
    timed = [(f"a round, {share:.0%} of the unit-slots missing", rounds(share, 1)) for share in SHARES]
    timed.append(("a step of `Units`, by `select` and `update`", steps_of_units(1)))
    for name, times in timed:
        figures.append(Figure(f"200 units, 20 arms: {name}, the slowest", max(times), "ms", at_most=5))
        rows.append([name, *(digits(value) for value in spread_of(times))])
    notes = [
        "Rounds are decided in plain Python; every time is the least of three repetitions. A stage ends about "
        "ten times in an experiment: its last two rounds are the slow ones."
    ]
    columns = ["200 units, 20 arms", "mean, ms", "median", "99 % below", "slowest"]
    return Item("units", "Several units at once", figures, columns, rows, notes)


def spread_of(times: list[float]) -> tuple[float, float, float, float]:
    """Mean, median, 99 % quantile and the largest."""
    return mean(times), median(times), float(np.quantile(times, 0.99)), max(times)


def speed(runs: int, seed: int) -> None:
    del runs
    print(f"8 units x 10,000 runs x 1,000 steps: {simulated(seed):.1f} s of one core", flush=True)
    timed = [(f"round, {share:.0%} of slots missing", rounds(share, seed)) for share in SHARES]
    for name, times in [*timed, ("step of Units", steps_of_units(seed))]:
        found = "mean {:.2f}, median {:.2f}, 99 % below {:.2f}, slowest {:.2f}".format(*spread_of(times))
        print(f"200 units x 20 arms in plain Python, ms a {name}: {found}", flush=True)


PARTS = {
    "table": table, "sizes": sizes, "others": others, "horizon": horizon, "intervals": intervals, "test": test,
    "alarm": alarm, "speed": speed,
}  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=2027)
    asked = parser.parse_args()
    for part in asked.parts or PARTS:
        PARTS[part](asked.runs, asked.seed)
