"""Real demand: the product against what a practitioner does, on the series of `studies/series`.

One arm of three is better by 2, 5 or 10 %, of the demand in the step of the pull (multiplicative) or of the mean demand
(additive), and a pull pays within a window by a uniform, a late or a geometric kernel. Every run takes a stretch of a
series at random. Counted are: runs in which the best arm is found; the captured share of what the best arm would have
brought beyond the others (one in three at random); how many 95 % intervals of differences hold at the end; runs with
equal arms in which a verdict is `clear` at the end of any turn or of the run; and runs that are `clear` at their end,
rightly and wrongly. All methods play the same runs, so their differences are paired. The constants by which
`random-turns` plays were chosen on the series of the folder; those in `held-out` had no part in it.

    python bench/demand/real_demand.py [--runs 100] [--seed 2026] [--write]

`--write` writes the tables of docs/real-demand.md.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from afterglow.engine.layout import pack, unpack
from afterglow.engine.policies import compiled
from afterglow.engine.view import first_cell
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import Comparison, compare
from afterglow.estimation.modelled import modelled
from afterglow.estimation.verdict import is_clear
from afterglow.policies.registry import named
from afterglow.policies.season import seasonal
from bench.demand.practitioner import METHODS, Numbers
from bench.demand.real_demand_tables import Key, tables

ROOT = Path(__file__).parents[2]
ARMS = 3
EFFECTS = (0.02, 0.05, 0.1)
KERNELS = ("uniform", "late", "geometric")
FORMS = ("multiplicative", "additive")
OURS = "random-turns"
DESIGNS = {  # of the product: policy, whether it is told the season, whether it ends at half time
    OURS: (OURS, True, False),
    "lean-ucb, whole seasons": ("lean-ucb", True, False),
    "thrift-ucb, whole seasons": ("thrift-ucb", True, False),
    "thrift-ucb, no season": ("thrift-ucb", False, False),
    "switchback": ("switchback", False, False),
    "switchback until half time": ("switchback", False, True),
}
DAILY = ("pages", "trains", "transactions")
START, END = "<!-- measured -->", "<!-- end -->"


@dataclass(frozen=True)
class Series:
    name: str
    values: Numbers
    steps: int = 2016  # twelve weeks of hours
    window: int = 24
    season: int = 168
    day: int = 24


def all_series() -> list[Series]:
    """Those that constants were chosen on, then those held out."""
    folder = ROOT / "studies" / "series"
    found = []
    for path in [*sorted(folder.glob("*.csv")), *sorted((folder / "held-out").glob("*.csv"))]:
        values = np.loadtxt(path, skiprows=1)
        found.append(Series(path.stem, values, 364, 3, 7, 1) if path.stem in DAILY else Series(path.stem, values))
    return found


def kernel(kind: str, window: int) -> Numbers:
    """What arrives of a reward at each lag."""
    lags = np.arange(window, dtype=float)
    weights: Numbers = {"uniform": np.ones(window), "late": (lags + 1.0) ** 2, "geometric": 0.8**lags}[kind]
    weights /= weights.sum()
    return weights


@dataclass(frozen=True)
class Run:
    """One experiment to play: a stretch of demand with mean 1, and what the arms add to it."""

    series: Series
    demand: Numbers
    effects: Numbers
    weights: Numbers
    base: Numbers  # of which a pull earns its arm's share

    @property
    def best(self) -> int:
        return int(np.argmax(self.effects))

    def earn(self, arms: Any) -> Numbers:
        """The totals of a schedule."""
        earned = np.convolve(self.effects[arms] * self.base, self.weights)
        return self.demand + earned[: len(self.demand)]

    def captured(self, arms: Any) -> float:
        return float(self.base[arms == self.best].sum() / self.base.sum())


def make(series: Series, effect: float, kind: str, form: str, random: np.random.Generator) -> Run:
    first = int(random.integers(len(series.values) - series.steps + 1))
    demand = series.values[first : first + series.steps]
    demand = demand / demand.mean()
    effects = np.zeros(ARMS)
    effects[random.integers(ARMS)] = effect
    base = demand if form == "multiplicative" else np.ones(series.steps)
    return Run(series, demand, effects, kernel(kind, series.window), base)


@njit
def drive(ask, learn, settings, state, uniforms, draws, demand, effects, weights, base, looks, every):  # type: ignore[no-untyped-def]
    """Play a compiled policy: the arm of every step; the state is copied after each turn, as far as there is room."""
    steps, window = len(demand), len(weights)
    totals, arms = np.zeros(steps + window), np.zeros(steps, np.int64)
    totals[:steps] = demand
    t = hold = 0
    while t < steps:
        for i in range(len(draws)):
            draws[i] = uniforms[hold * len(draws) + i]
        arm, asked, split = ask(first_cell(settings), first_cell(state), first_cell(draws))
        asked = min(asked, steps - t)
        split = min(split, asked)
        head = body = 0.0
        for i in range(asked):
            for lag in range(window):
                totals[t + lag] += effects[arm] * base[t] * weights[lag]
            if i < split:
                head += totals[t]
            else:
                body += totals[t]
            arms[t] = arm
            t += 1
        learn(first_cell(settings), first_cell(state), arm, asked, split, head, body)
        hold += 1
        if hold % every == 0 and hold // every <= len(looks):
            looks[hold // every - 1] = state
    return arms, hold // every


class Player:
    """A design of the product, compiled, for a series."""

    def __init__(self, design: str, series: Series) -> None:
        name, told, half = DESIGNS[design]
        self.policy = seasonal(named(name), series.season if told else 1)
        options = {"until": series.steps // 2} if half else {}
        self.settings = self.policy.settings(ARMS, series.window, series.steps, options)
        self.verbs = compiled(self.policy)
        self.row = pack(self.settings)
        self.fresh = pack(self.policy.start(self.settings))
        self.washed = compare(Batches(ARMS, series.window, series.season))

    def play(self, run: Run, looks: Any, random: np.random.Generator) -> tuple[Any, Any, int]:
        """Arms, the last state, and how often it was looked at."""
        state = self.fresh.copy()
        draws = np.zeros(max(1, self.policy.reads(ARMS)))
        uniforms = random.random(draws.size * run.series.steps)
        arms, count = drive(
            *self.verbs, self.row, state, uniforms, draws, run.demand, run.effects, run.weights, run.base, looks,
            getattr(self.settings, "turn", 1),
        )  # fmt: skip
        return arms, unpack(self.policy.State, state), count

    def compared(self, state: Any) -> Comparison:
        assert self.policy.contrasts is not None
        return modelled(self.policy.contrasts(self.settings, state), range(ARMS), self.washed)


@dataclass
class Cell:
    """What one method did in one place, run by run."""

    found: list[float] = field(default_factory=list)
    captured: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)  # intervals
    wrong: list[float] = field(default_factory=list)  # runs with equal arms that were ever `clear`
    clear: list[float] = field(default_factory=list)  # runs rightly `clear` at the end
    mistaken: list[float] = field(default_factory=list)  # runs `clear` at the end for an arm that isn't the best

    def add(self, right: bool, captured: float) -> None:
        self.found.append(float(right))
        self.captured.append(captured)


def measure(runs: int, seed: int) -> dict[Key, Cell]:
    cells: dict[Key, Cell] = {}
    for place, series in enumerate(all_series()):
        players = {name: Player(name, series) for name in DESIGNS}
        for effect in (0.0, *EFFECTS):
            for kind in KERNELS:
                for form in FORMS:
                    for number in range(runs):
                        key = [seed, place, round(1000 * effect), KERNELS.index(kind), FORMS.index(form), number]
                        run = make(series, effect, kind, form, np.random.default_rng(key))
                        random = np.random.default_rng([*key, 1])
                        where = (series.name, effect, kind, form)
                        if effect:
                            play_others(cells, run, random, where)
                        for name, player in players.items():
                            if effect or name == OURS:
                                play_ours(cells.setdefault((name, *where), Cell()), name, player, run, random)
        print(f"{series.name} is measured", file=sys.stderr, flush=True)
    return cells


def play_others(cells: dict[Key, Cell], run: Run, random: np.random.Generator, where: Any) -> None:
    series = run.series
    for method, play in METHODS.items():
        done = play(random, run.earn, series.steps, ARMS, series.window, series.season, series.day)
        cells.setdefault((method, *where), Cell()).add(done.best == run.best, run.captured(done.arms))


def play_ours(cell: Cell, name: str, player: Player, run: Run, random: np.random.Generator) -> None:
    equal = not run.effects.any()
    looks = np.zeros((run.series.steps if equal else 0, player.fresh.size))
    arms, state, count = player.play(run, looks, random)
    recommend = player.policy.recommend
    assert recommend is not None
    cell.add(recommend(player.settings, state) == run.best, run.captured(arms))
    if name != OURS:
        return
    compared, gain = player.compared(state), float(run.base.mean())
    for one in range(ARMS):
        for other in range(one):
            if compared.missing(one, other) is None:
                truth = gain * (run.effects[one] - run.effects[other])
                _, low, high = compared.interval(compared.contrast(one, other), 0.05, uniform=False)
                cell.held.append(float(low <= truth <= high))
    if equal:
        states = (unpack(player.policy.State, looks[look]) for look in range(count))
        cell.wrong.append(float(any(seems_clear(player, one) for one in states) or seems_clear(player, state, True)))
    else:
        sure = seems_clear(player, state, True)
        cell.clear.append(float(sure and cell.found[-1] > 0))
        cell.mistaken.append(float(sure and not cell.found[-1]))


def seems_clear(player: Player, state: Any, fixed_end: bool = False) -> bool:
    assert player.policy.recommend is not None
    best = player.policy.recommend(player.settings, state)
    return is_clear(player.compared(state), best, range(ARMS), 0.95, fixed_end)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    held_out = [path.stem for path in sorted((ROOT / "studies/series/held-out").glob("*.csv"))]
    text = "\n".join(tables(measure(asked.runs, asked.seed), asked.runs, OURS, [*DESIGNS, *METHODS], METHODS, held_out))
    print(text)
    if asked.write:
        path = ROOT / "docs" / "real-demand.md"
        page = path.read_text()
        before, after = page.split(START)[0], page.split(END)[1]
        path.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
