"""The default study: every policy in every kind of world, with the theorems' bounds beside.

Five Bernoulli arms, one window, seven spreads: four that follow a fixed law and three adversaries. The policies of
the ODAAF family are told the mean delay of the spread, or the largest there can be where it reacts to the player.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from afterglow.engine.outcome import Mean, Outcome
from afterglow.engine.simulate import log_marks, simulate
from afterglow.policies.registry import named
from afterglow.policies.student import student_quantile
from afterglow.theory import bounds
from afterglow.worlds.world import World

BENIGN = ("immediate", "uniform", "dirichlet", "last")
ADVERSARIAL = ("hoard", "handicap", "chameleon")
LEVEL = 0.95  # of every interval shown
Tell = Callable[[float, str], None]  # (share done, what is being played)


@dataclass(frozen=True)
class Entry:
    """A policy with its options, under the label it has in tables and figures."""

    label: str
    policy: str
    kind: str  # paper, ours, others or reference
    options: Mapping[str, Any] = field(default_factory=dict)
    theorem: str = ""  # the bound to show, by its name in `afterglow.theory.bounds`
    costs: int = 1  # runs are fewer by this where one takes longest


ENTRIES = (
    Entry("phased-ucb paper", "phased-ucb", "paper", {"constants": "paper"}, "theorem_1_paper"),
    Entry("phased-ucb corrected", "phased-ucb", "paper", {"constants": "corrected"}, "theorem_1_corrected"),
    Entry("phased-elimination", "phased-elimination", "paper", theorem="theorem_2_paper"),
    Entry("trim-ucb", "trim-ucb", "ours", theorem="regret_as_set"),
    Entry("leak-ucb", "leak-ucb", "ours"),
    Entry("washout-ucb", "washout-ucb", "ours"),
    Entry("lag-ridge-ucb", "lag-ridge-ucb", "ours", costs=4),
    Entry("lean-ucb", "lean-ucb", "ours", costs=4),
    Entry("ucb1", "ucb1", "others"),
    Entry("improved-ucb", "improved-ucb", "others"),
    Entry("odaaf", "odaaf", "others"),
    Entry("odaaf-bounded", "odaaf-bounded", "others"),
    Entry("odaaf-variance", "odaaf-variance", "others"),
    Entry("composite-exp3", "composite-exp3", "others"),
    Entry("composite-tsallis", "composite-tsallis", "others"),
    Entry("ars-ucb", "ars-ucb", "others"),
    Entry("attributed-ucb", "attributed-ucb", "reference"),
)


@dataclass(frozen=True)
class Study:
    """What is played."""

    horizon: int = 100_000
    window: int = 10
    means: tuple[float, ...] = (0.9, 0.8, 0.7, 0.6, 0.5)
    entries: tuple[Entry, ...] = ENTRIES
    spreads: tuple[str, ...] = BENIGN + ADVERSARIAL
    runs: int = 400
    stepwise_runs: int = 80  # for policies that decide at every step, which take a hundred times as long
    points: int = 60  # of a curve

    @property
    def world(self) -> World:
        """The arms; each spread takes the place of this one's."""
        return World.of(self.means, self.window)

    @property
    def random_play(self) -> float:
        """Regret of choosing arms at random."""
        return self.horizon * sum(self.world.gaps) / len(self.means)

    def options(self, entry: Entry, spread: str) -> dict[str, Any]:
        """An entry's options, with what it must be told of the spread."""
        mean, variance = delay_of(spread, self.window)
        known = {"mean_delay": mean, "delay_variance": variance}
        told = {name: known[name] for name in named(entry.policy).needs() if name in known}
        return {**entry.options, **told}


QUICK = Study(horizon=10_000, runs=100, stepwise_runs=40, points=40)


def delay_of(spread: str, window: int) -> tuple[float, float]:
    """Mean and variance of the lag at which a unit of reward arrives; the largest there are for an adversary."""
    most = window - 1
    if spread in ("uniform", "dirichlet"):
        return most / 2, (window**2 - 1) / 12
    if spread in ("immediate", "last"):
        return (0.0 if spread == "immediate" else float(most)), 0.0
    return float(most), most**2 / 4


@dataclass(frozen=True)
class Cell:
    """One policy under one spread."""

    label: str
    policy: str
    options: dict[str, Any]
    settings: dict[str, Any]
    spread: str
    runs: int
    engine: str
    regret: Mean
    best_arm_share: float
    holds: float
    switches: float
    t: list[int]
    curve: list[Mean]

    @property
    def half_width(self) -> float:
        """Of the interval for the mean regret."""
        return student_quantile(LEVEL, self.runs - 1) * self.regret.se

    def as_data(self) -> dict[str, Any]:
        """Plain data, without how long it took."""
        curve = {"t": self.t, "mean": [at.mean for at in self.curve], "se": [at.se for at in self.curve]}
        plain = {name: value for name, value in vars(self).items() if name not in ("regret", "t", "curve")}
        return plain | {"regret": vars(self.regret), "curve": curve}


@dataclass(frozen=True)
class Standing:
    """A policy's place: by its regret under the spread that suits it least."""

    entry: Entry
    worst: Cell
    average: float  # over the spreads
    bound: float | None


@dataclass(frozen=True)
class Comparison:
    """What came out."""

    study: Study
    seed: int
    cells: list[Cell]
    bounds: dict[str, dict[str, Any]]  # by label

    def cell(self, label: str, spread: str) -> Cell:
        return next(cell for cell in self.cells if (cell.label, cell.spread) == (label, spread))

    def row(self, label: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.label == label]

    def bound(self, entry: Entry) -> float | None:
        """The theorem's bound on the regret, if the policy has one."""
        value: float | None = self.bounds.get(entry.label, {}).get(entry.theorem)
        return value

    def ranking(self) -> list[Standing]:
        """The policies, least regret in their worst spread first."""
        found = []
        for entry in self.study.entries:
            row = self.row(entry.label)
            worst = max(row, key=lambda cell: cell.regret.mean)
            average = sum(cell.regret.mean for cell in row) / len(row)
            found.append(Standing(entry, worst, average, self.bound(entry)))
        return sorted(found, key=lambda standing: standing.worst.regret.mean)

    def best(self, spread: str) -> str:
        """The label of least regret under a spread, among the policies that could run live."""
        labels = {entry.label for entry in self.study.entries if entry.kind != "reference"}
        cells = [cell for cell in self.cells if cell.spread == spread and cell.label in labels]
        return min(cells, key=lambda cell: cell.regret.mean).label


def compare(
    study: Study, seed: int = 1, threads: int | None = None, tell: Tell = lambda share, what: None
) -> Comparison:
    """Play the study; `tell` hears how far it is."""
    pairs = [(entry, spread) for entry in study.entries for spread in study.spreads]
    cells = []
    for number, (entry, spread) in enumerate(pairs):
        tell(number / len(pairs), f"{entry.label}, {spread}")
        cells.append(cell_of(entry, play(study, entry, spread, seed, threads)))
    tell(1.0, "")
    return Comparison(study, seed, cells, known_bounds(study))


def play(study: Study, entry: Entry, spread: str, seed: int, threads: int | None) -> Outcome:
    """All runs of one cell."""
    runs = (study.stepwise_runs if named(entry.policy).every_step else study.runs) // entry.costs
    return simulate(
        entry.policy,
        World.of(study.means, study.window, spread),
        study.horizon,
        runs,
        seed,
        study.options(entry, spread),
        threads=threads,
        checkpoints=log_marks(study.horizon, study.points),
    )


def cell_of(entry: Entry, outcome: Outcome) -> Cell:
    return Cell(
        entry.label, entry.policy, outcome.options, outcome.settings, outcome.world.spread.text, outcome.runs,
        outcome.engine, outcome.regret, outcome.best_arm_share, float(outcome.holds.mean()),
        float(outcome.switches.mean()), outcome.checkpoints.tolist(), [Mean.of(column) for column in outcome.curves.T],
    )  # fmt: skip


def known_bounds(study: Study) -> dict[str, dict[str, Any]]:
    """What theory says of the entries that it covers, for these gaps."""
    gaps: Sequence[float] = study.world.gaps
    covered = [entry for entry in study.entries if entry.theorem]
    return {
        entry.label: bounds(entry.policy, len(study.means), study.horizon, study.window, gaps, entry.options)
        for entry in covered
    }
