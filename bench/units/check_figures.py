"""Every figure that `panel-elimination` and `switchback` were specified with, measured again on fresh seeds.

The specification gave figures of a prototype: 60 to 100 runs of units, 300 of switchback. A figure is within its
tolerance if it is at most three standard errors away, both sides' errors added as squares. Where the prototype told no
error, that of 80 runs is used, with the deviation that is measured here. `better` is a regret that is smaller by more.

    python bench/units/check_figures.py [units] [test] [switchback] [--runs 1000] [--seed 918273]
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterglow.lab.plan.units_power import rejections
from bench.answers import switchback_power
from bench.units.units import (
    LEVEL,
    SHOCK,
    STEPS,
    WINDOW,
    covered,
    day,
    days,
    played,
    played_alone,
    promotions,
    shifted,
    states_of,
    world,
)

TOLD, SWITCHBACK_TOLD = 80, 300  # runs of the prototypes
MILD = f"noise:{0.05 * LEVEL},0.5"


@dataclass(frozen=True)
class Check:
    what: str
    specified: str
    measured: str
    verdict: str

    def __str__(self) -> str:
        return f"| {self.what} | {self.specified} | {self.measured} | {self.verdict} |"


def regret(what: str, specified: float, found: tuple[Any, float], error: float | None = None) -> Check:
    """A mean regret; that of the prototype has a standard error, or gets that of its runs."""
    runs, _ = found
    deviation = float(runs.std(ddof=1))
    told = deviation / math.sqrt(TOLD) if error is None else error
    own = deviation / math.sqrt(len(runs))
    allowed = 3 * math.hypot(told, own)
    away = float(runs.mean()) - specified
    verdict = "yes" if abs(away) <= allowed else "better" if away < 0 else "no"
    return Check(what, f"{specified:g} ± {allowed:.1f}", f"{runs.mean():.1f} ± {own:.1f}", verdict)


def share(what: str, specified: float, found: float, runs: int, told: int = TOLD) -> Check:
    """A share of runs; a difference of half of the last digit that was told is none."""
    pooled = (specified * told + found * runs) / (told + runs)
    allowed = 3 * math.sqrt(pooled * (1 - pooled) * (1 / told + 1 / runs)) + 0.005
    verdict = "yes" if abs(found - specified) <= allowed else "no"
    return Check(what, f"{specified:.2f} ± {allowed:.2f}", f"{found:.3f}", verdict)


def between(what: str, low: float, high: float, found: float) -> Check:
    return Check(what, f"{low:g} to {high:g}", f"{found:.3f}", "yes" if low <= found <= high else "no")


def pair(name: str, specified: float, right: float, found: tuple[Any, float], error: float | None) -> Check:
    """Regret, and in brackets how often the best arm is found."""
    lost, best = regret(name, specified, found, error), share(name, right, found[1], len(found[0]))
    verdict = lost.verdict if best.verdict == "yes" else "no"
    return Check(name, f"{lost.specified} ({best.specified})", f"{lost.measured} ({best.measured})", verdict)


def units_table(runs: int, seed: int) -> Iterator[Check]:
    own = 0.1 * LEVEL
    rows: list[tuple[str, dict[str, Any], float, str, list[tuple[float, float, float | None]]]] = [
        ("shock 10 %, .9", {}, own, SHOCK, [(16.8, 1.0, 0.4), (75.7, 0.62, 4.8), (71.3, 0.64, 3.2)]),
        ("shock 5 %, .5; own 15 %", {"common": MILD, "own": f"noise:{0.15 * LEVEL}"}, 1.5 * own, MILD,
         [(21.5, 1.0, 0.7), (29.9, 0.98, 2.0), (47.4, 0.89, 1.5)]),
        ("no shock", {"common": None}, own, "", [(17.0, 1.0, 0.5), (20.3, 1.0, 0.4), (29.9, 0.99, 0.6)]),
    ]  # fmt: skip
    for name, given, deviation, noise, (panel, one, each) in rows:
        yield pair(f"{name}: `panel-elimination`", panel[0], panel[1], played(world(**given), runs, seed), panel[2])
        alone = played_alone(deviation / math.sqrt(8), noise, runs, seed)
        yield pair(f"{name}: all units one variant", one[0], one[1], alone, one[2])
        alone = played_alone(deviation, noise, runs, seed)
        yield pair(f"{name}: an agent per unit", each[0], each[1], alone, each[2])
        crossed = played(world(**given), runs, seed, options={"commit": STEPS // 2})
        yield pair(f"{name}: crossover", 52.8, 1.0, crossed, None)
    for name, common, season, panel, one in (
        ("first, day and weekend 20 %", f"{SHOCK} + {days()}", 24, (17.1, 1.0, 0.4), (69.2, 0.68, 4.3)),
        ("first, two promotions +50 %", f"{SHOCK} + {promotions(STEPS)}", 1, (16.9, 1.0, 0.4), (84.1, 0.51, 4.7)),
    ):
        place = world(common=common)
        yield pair(f"{name}: `panel-elimination`", panel[0], panel[1], played(place, runs, seed), panel[2])
        alone = played_alone(own / math.sqrt(8), common, runs, seed, season)
        yield pair(f"{name}: all units one variant", one[0], one[1], alone, one[2])
    alone = played_alone(own / math.sqrt(8), f"{SHOCK} + {day()}", runs, seed, 24)
    yield pair("the day alone, without weekends: all units one variant", 69.2, 0.68, alone, 4.3)


def units_others(runs: int, seed: int) -> Iterator[Check]:
    for units, specified in ((2, 41), (3, 28), (4, 24), (8, 17), (16, 14), (32, 12)):
        yield regret(f"{units} units", specified, played(world(units=units), runs, seed))
    found = played(world(), runs, seed, 150)[1]
    yield Check("150 steps: best arm found", "at least .97", f"{found:.3f}", "yes" if found >= 0.97 else "no")
    found = played_alone(0.1 * LEVEL / math.sqrt(8), SHOCK, runs, seed, steps=16_000)[1]
    yield share("16,000 steps, all units one variant: best arm found", 0.97, found, runs)
    yield regret("levels not told, ±30 %", 18.7, played(world(told=None, sizes=0.3), runs, seed))
    yield regret("loadings .5 to 1.5", 18.2, played(world(loadings=(0.5, 1.5)), runs, seed))
    apart = played(world(interaction=0.02, sizes=0.8), runs, seed)
    yield pair("effects differ by 2 %, sizes lognormal .8", 23.2, 0.99, apart, None)
    yield regret("own noise AR(.9)", 27.5, played(world(own=f"noise:{0.1 * LEVEL},0.9"), runs, seed))
    yield regret("days shifted", 41, played(shifted(), runs, seed))
    yield regret("days shifted, season=24", 19.8, played(shifted(), runs, seed, season=24))
    for name, place in (("first", world()), ("levels not told", world(told=None)), ("4 units", world(units=4))):
        yield between(f"95 % interval covers, {name}", 0.97, 1.0, covered(place, runs, seed)[0])
    for name, place in (
        ("", world()),
        (", no effect", world(gap=0)),
        (", own AR(.9)", world(own=f"noise:{0.1 * LEVEL},0.9")),
    ):
        alarms = np.mean([state.alarms for state in states_of(place, STEPS, runs, seed)[1]])
        yield Check(f"false window alarms{name}", "below .015", f"{alarms:.4f}", "yes" if alarms < 0.015 else "no")


def units_tests(runs: int, seed: int) -> Iterator[Check]:
    def rejected(**given: Any) -> float:
        return rejections(world(**given), WINDOW, 300, runs, seed, 199)

    yield share("exact test at T = 300, no effect: rejects", 0.05, rejected(gap=0), runs)
    yield share("the same, own AR(.9)", 0.05, rejected(gap=0, own=f"noise:{0.1 * LEVEL},0.9"), runs)
    yield share("gap 3 %", 0.70, rejected(), runs)
    yield share("gap 2 %", 0.38, rejected(gap=0.02), runs)


def switchback(runs: int, seed: int) -> Iterator[Check]:
    deviations = [3.05, 2.27, 0.92, 0.65, math.nan, math.nan]
    for cell, deviation in zip(switchback_power.CELLS, deviations, strict=True):
        rejected, apart, held = switchback_power.measured(cell, runs, seed)
        for effect, specified, found in zip(cell.effects, cell.expected, rejected, strict=True):
            yield share(f"{cell}: rejects at {effect:.0%}", specified, found, runs, SWITCHBACK_TOLD)
        if not math.isnan(deviation):
            allowed = 3 * deviation * math.sqrt(1 / (2 * SWITCHBACK_TOLD) + 1 / (2 * runs * len(rejected)))
            verdict = "yes" if abs(100 * apart - deviation) <= allowed else "no"
            yield Check(f"{cell}: deviation", f"{deviation:g} ± {allowed:.2f} %", f"{100 * apart:.2f} %", verdict)
        yield between(f"{cell}: size", 0.03, 0.07, rejected[0])
        yield between(f"{cell}: interval covers", 0.93, 0.97, held)
    for cell in switchback_power.HALVES:
        yield between(f"{cell}: size", 0.03, 0.07, switchback_power.measured(cell, runs, seed)[0][0])


def units(runs: int, seed: int) -> Iterator[Check]:
    yield from units_table(runs, seed)
    yield from units_others(runs, seed)


PARTS = {"units": units, "test": units_tests, "switchback": switchback}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=918_273)
    asked = parser.parse_args()
    print("| what | specified, with tolerance | measured | within |\n|---|---|---|---|")
    for part in asked.parts or PARTS:
        for check in PARTS[part](asked.runs, asked.seed):
            print(check, flush=True)
