"""Units in places that are hard for them: size of the exact test, found arms, intervals, false alarms.

Three arms, the second and third worse by 3 % (or by nothing), effects that are spread evenly over a window of 24
steps, a shared shock of 10 % with a correlation of .9, own noise of 10 % in each step, 8 units with levels told within
5 %, if the row doesn't say otherwise. The test is made after 300 steps without an effect, with 199 draws; the rest is
measured after 1,000 steps. `covers` is how often the 95 % interval of the difference of the first two arms holds what
all units together would gain.

    python bench/units/unit_attacks.py [--runs 1000] [--tests 400] [--seed 55000]
"""

import argparse
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from afterglow import rng
from afterglow.engine.rounds.replay import statistics_of
from afterglow.policies import round_policy
from afterglow.round_runner import draw_order

Numbers = NDArray[np.float64]
ARMS, WINDOW, SLOT, GAP = 3, 24, 12, 0.03
LAGS = (6.5 / 24, 12 / 24, 5.5 / 24)  # of a slot's mean total, what this slot's arm pays, the last one's, that before
PANEL = round_policy("panel-elimination")


@dataclass(frozen=True)
class Place:
    name: str
    units: int = 8
    ratio: float = 1.0  # of the largest level to the smallest
    told: float | None = 0.05  # deviation of the logarithm of told levels
    wrong: float = 1.0  # told levels are too large or too small by this factor, by turns
    silent: int = 0  # units that never report
    missing: float = 0.0  # share of unit-slots without a total
    zero: bool = False  # all totals are 0
    spill: float = 0.0  # of what a unit gains, taken from its two neighbours
    heavy: bool = False  # own noise of Student's law with 2 degrees
    share: float = 1.0  # of the runs that are played, where they take long


PLACES = [
    Place("as described"),
    Place("2 units", units=2),
    Place("3 units", units=3),
    Place("200 units", units=200, share=0.2),
    Place("200 units, 10 % of the totals missing", units=200, missing=0.1, share=0.2),
    Place("levels from 1 to 1,000", ratio=1000),
    Place("levels from 1 to 1,000, not told", ratio=1000, told=None),
    Place("levels told 3 times too large or small", wrong=3),
    Place("the same with 60 units, 20 % missing", units=60, wrong=3, missing=0.2, share=0.5),
    Place("a unit that never reports", silent=1),
    Place("a unit that never reports, levels not told", silent=1, told=None),
    Place("20 % of the totals missing", missing=0.2),
    Place("all totals are 0", zero=True),
    Place("all totals are 0, levels not told", zero=True, told=None),
    Place("10 % spill over to neighbours", spill=0.1),
    Place("own noise with heavy tails (t, 2 degrees)", heavy=True),
]


@dataclass(frozen=True)
class Run:
    settings: Any
    state: Any
    known: NDArray[np.int64]  # slots x units
    bodies: Numbers


def play(place: Place, gap: float, steps: int, seed: int) -> Run:
    """One run, slot by slot, as the policy decides."""
    random, units, slots = np.random.default_rng((seed, steps, round(1000 * gap))), place.units, steps // SLOT
    levels = place.ratio ** random.permutation(np.linspace(0, 1, units))
    tells: list[float] = []
    if place.told is not None:
        off = np.exp(random.normal(0, place.told, units)) * place.wrong ** np.where(np.arange(units) % 2, 1.0, -1.0)
        tells = (levels * off).tolist()
    order, labels = draw_order(rng.key(seed, 0, rng.ROUNDS), units, ARMS)
    settings = PANEL.settings(ARMS, units, WINDOW, slots * SLOT, tells, order, labels)
    fresh = random.standard_t(2, (slots * SLOT, units)) if place.heavy else random.normal(size=(slots * SLOT, units))
    shock = lfilter([1.0], [1.0, -0.9], 0.1 * np.sqrt(1 - 0.81) * random.normal(size=slots * SLOT + 200))[200:]
    noise = (0.1 * fresh + shock[:, None]).reshape(slots, SLOT, units).mean(axis=1)
    known = SLOT * (random.random((slots, units)) >= place.missing).astype(np.int64)
    known[:, : place.silent] = 0
    state, gains, bodies = PANEL.start(settings), np.zeros((slots + 2, units)), np.zeros((slots, units))
    for slot in range(slots):
        own = np.where(np.asarray(state.arms) == 0, 0.0, -gap)
        gains[slot + 2] = own - place.spill * (np.roll(own, 1) + np.roll(own, -1)) / 2
        seen = sum(weight * gains[slot + 2 - lag] for lag, weight in enumerate(LAGS))
        bodies[slot] = 0.0 if place.zero else SLOT * levels * (1 + seen + noise[slot])
        PANEL.learn(settings, state, SLOT, 0, known[slot].tolist(), [0.0] * units, bodies[slot].tolist())
    return Run(settings, state, known, bodies)


def rejects(place: Place, seed: int, draws: int = 199) -> bool:
    """Whether the exact test says that arms differ, where they don't."""
    run = play(place, 0.0, 300, seed)
    orders = [draw_order(rng.key(seed, draw, rng.REPLAY), place.units, ARMS) for draw in range(draws)]
    drawn = [run.settings, *(replace(run.settings, order=order, labels=labels) for order, labels in orders)]
    found = statistics_of(PANEL, drawn, SLOT, run.known, run.bodies)
    return bool((found >= found[0] * (1 - PANEL.rounding)).mean() <= 0.05)


def row(place: Place, runs: int, tests: int, seed: int) -> str:
    runs, tests = max(100, int(place.share * runs)), max(100, int(place.share * tests))
    size = np.mean([rejects(place, seed + run) for run in range(tests)])
    quiet = np.mean([play(place, 0.0, 1000, seed + run).state.alarms for run in range(runs)])
    found, held, apart, alarms = 0, 0, [], 0
    for number in range(runs):
        run = play(place, GAP, 1000, seed + number)
        best = PANEL.recommend(run.settings, run.state)
        difference = PANEL.difference(run.settings, run.state, 0, 1, 0.95)
        truth = 0.0 if place.zero else GAP * (1 - place.spill) / (1 - 2 * GAP / 3)
        held += difference.low <= truth <= difference.high
        apart.append(difference.mean)
        found += best == 0
        alarms += run.state.alarms
    known = [one for one in apart if np.isfinite(one)]
    middle = f"{100 * float(np.median(known)):.2f} %" if known else "none"
    shares = f"{found / runs:.2f} | {held / runs:.3f} | {middle} | {quiet:.3f} / {alarms / runs:.3f}"
    return f"| {place.name} | {size:.3f} ({tests}) | {shares} ({runs}) |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--tests", type=int, default=400)
    parser.add_argument("--seed", type=int, default=55_000)
    asked = parser.parse_args()
    columns = ["test rejects, no effect", "best found", "covers", "difference, median", "alarms at 0 / 3 %"]
    print(f"| units | {' | '.join(columns)} |\n|---|" + "--:|" * len(columns))
    for one in PLACES:
        print(row(one, asked.runs, asked.tests, asked.seed), flush=True)
