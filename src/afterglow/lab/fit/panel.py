r"""Fit recorded steps of several units: two-way fixed effects on washed unit-steps.

A step of a unit is *washed* if the unit has played one arm in it and in the `window - 1` steps before. Steps are
grouped into batches of a window, the same ones for all units, and each unit's washed totals of a batch are averaged and
divided by the unit's mean. Then, weighted by the number of washed steps,

$$y_{ub} = \text{batch}_b + \text{unit}_u + \text{arm}_{a(u,b)} + \text{noise}.$$

What all units share in a batch is in its effect, whatever it is. Two more regressions test what this takes for
granted: effects of arms that are the same share in all units (F test of the interaction), and a window that is long
enough (F test of "first washed batch after a change", by arm). Noise must be independent from batch to batch; where it
isn't, intervals are too short.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from afterglow.checks import number, whole
from afterglow.errors import BadValue, argument
from afterglow.lab.reading.panel import Panel, read_panel
from afterglow.lab.reading.text import Source
from afterglow.student_t import student_quantile

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]
RANK = 1e-9  # smallest part of the largest eigenvalue that counts
LATE = 0.01  # p below which the window is said to be too short


@dataclass(frozen=True)
class UnitsDifference:
    """How much better one arm is than another, as a share of a unit's mean; intervals of all pairs hold together."""

    arm: str
    than: str
    difference: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class UnitsFit:
    """Differences of arms over several units, and the tests of what they take for granted."""

    window: int
    confidence: float
    units: list[str]
    arms: list[str]
    differences: list[UnitsDifference]
    by_unit: dict[str, dict[str, float | None]]  # unit to arm to its difference from the best arm in that unit
    unit_steps: dict[str, int]  # washed, of each arm
    alike: float | None  # p of "all units react alike"; None if it can't be tested
    window_p: float | None  # p of "the window is long enough"; None if it can't be tested
    notes: list[str]

    @property
    def best(self) -> str:
        """The arm that no other is estimated to be better than."""
        behind = {one.than if one.difference > 0 else one.arm for one in self.differences}
        return next(arm for arm in self.arms if arm not in behind)

    @property
    def window_sentence(self) -> str:
        if self.window_p is None:
            return f"whether a window of {self.window:,} steps is long enough can't be tested with these steps"
        if self.window_p < LATE:
            return (
                f"the window of {self.window:,} steps is too short: arms differ otherwise soon after a change than "
                f"later (p = {self.window_p:.2g})"
            )
        return f"nothing speaks against a window of {self.window:,} steps (p = {self.window_p:.2g})"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"best": self.best}


@dataclass(frozen=True)
class WashedCells:
    """Washed batches: one row for each unit and batch that has any."""

    unit: Counts
    batch: Counts
    arm: Counts
    first: Counts  # 1 for the first washed batch after a change
    value: Numbers
    weight: Numbers


def fit_units(
    source: Source | Panel,
    window: int,
    *,
    unit: str | None = None,
    confidence: float = 0.95,
    **reading: Any,
) -> UnitsFit:
    """Fit a table with step, unit, arm and total in its columns; `unit` names the column of units."""
    window = whole("window", window, 1, "1 = paid at once")
    confidence = number("confidence", confidence, 0, 1)
    panel = source if isinstance(source, Panel) else read_panel(source, unit=unit, arms=True, **reading)
    if panel.arms is None:
        raise BadValue(f"{argument('source')} must say which arm each unit played; read it with arms=True")
    arms = sorted({arm for row in panel.arms for arm in row if arm})
    if len(arms) < 2:
        raise BadValue(f"{argument('source')} must have at least 2 arms, got {arms}")
    levels = np.array([np.nanmean(panel.of_unit(place)) for place in range(len(panel.units))])
    if not (levels > 0).all():
        bad = panel.units[int(np.argmin(levels))]
        raise BadValue(f"{argument('source')} must have totals above 0 on average, those of {bad!r} are not")
    cells = washed(panel, arms, levels, window)
    return fitted(panel, arms, cells, window, confidence)


def washed(panel: Panel, arms: Sequence[str], levels: Numbers, window: int) -> WashedCells:
    """The means of washed steps by unit and batch."""
    rows = []
    for place in range(len(panel.units)):
        sums: dict[int, list[float]] = {}
        kinds: dict[int, tuple[int, int]] = {}
        run, since, before = "", 0, -1
        for step, (names, totals) in enumerate(zip(panel.arms or [], panel.values, strict=True)):
            if names[place] != run or not run:
                run, since, before = names[place], 0, -1
            since += bool(run)
            if run and since >= window and not math.isnan(totals[place]):
                batch = step // window
                before = batch if before < 0 else before
                sums.setdefault(batch, []).append(totals[place] / levels[place])
                kinds[batch] = arms.index(run), int(batch == before)
        rows += [
            (place, batch, *kinds[batch], math.fsum(values) / len(values), len(values))
            for batch, values in sums.items()
        ]
    table = np.array(rows, float).reshape(-1, 6)
    counts = table[:, :4].astype(np.int64)
    return WashedCells(counts[:, 0], counts[:, 1], counts[:, 2], counts[:, 3], table[:, 4], table[:, 5])


def dummies(places: Counts, size: int) -> Numbers:
    return np.eye(size)[places]


@dataclass(frozen=True)
class PanelRegression:
    """A weighted regression in which every batch has an effect of its own."""

    effects: Numbers
    inverse: Numbers  # pseudo-inverse of the normal matrix
    determined: Numbers  # projection on what the cells determine
    squares: float
    freedom: int


def regress(columns: Numbers, cells: WashedCells) -> PanelRegression:
    """Batch effects are taken out by centring values and columns at their weighted means in each batch."""
    used, batch = np.unique(cells.batch, return_inverse=True)
    total = np.bincount(batch, cells.weight)
    sums = np.zeros((used.size, columns.shape[1]))
    np.add.at(sums, batch, columns * cells.weight[:, None])
    root = np.sqrt(cells.weight)
    matrix = (columns - (sums / total[:, None])[batch]) * root[:, None]
    values = (cells.value - (np.bincount(batch, cells.weight * cells.value) / total)[batch]) * root
    sizes, axes = np.linalg.eigh(matrix.T @ matrix)
    kept = sizes > RANK * max(float(sizes[-1]), 1e-300)
    basis = axes[:, kept]
    inverse = (basis / sizes[kept]) @ basis.T
    effects = inverse @ (matrix.T @ values)
    rest = values - matrix @ effects
    freedom = len(values) - used.size - int(kept.sum())
    return PanelRegression(effects, inverse, basis @ basis.T, float(rest @ rest), freedom)


def fitted(panel: Panel, arms: Sequence[str], cells: WashedCells, window: int, confidence: float) -> UnitsFit:
    """All estimates and tests."""
    units, kinds = len(panel.units), len(arms)
    base = np.hstack([dummies(cells.arm, kinds), dummies(cells.unit, units)])
    found = regress(base, cells)
    if found.freedom < 1:
        raise BadValue(
            f"{argument('window')} must leave more washed batches than there are units, batches and arms, got "
            f"{len(cells.value):,} for a window of {window:,}; record more steps, or switch less often"
        )
    pairs = list(combinations(range(kinds), 2))
    reach = student_quantile(1 - (1 - confidence) / len(pairs), found.freedom)
    both = np.hstack([dummies(cells.unit * kinds + cells.arm, units * kinds)])
    soon = np.hstack([base, dummies(cells.arm, kinds) * cells.first[:, None]])
    return UnitsFit(
        window, confidence, panel.units, list(arms), [difference(arms, pair, found, reach) for pair in pairs],
        by_unit(panel.units, arms, regress(both, cells), int(np.argmax(found.effects[:kinds]))),
        {arm: int(cells.weight[cells.arm == place].sum()) for place, arm in enumerate(arms)},
        better(regress(both, cells), found), better(regress(soon, cells), found), panel.notes,
    )  # fmt: skip


def difference(arms: Sequence[str], pair: tuple[int, int], found: PanelRegression, reach: float) -> UnitsDifference:
    """One pair of arms, if the cells compare them."""
    one, other = pair
    contrast = np.zeros(found.effects.size)
    contrast[one], contrast[other] = 1.0, -1.0
    if not compared(contrast, found):
        raise BadValue(
            f"{argument('source')} never has {arms[one]!r} and {arms[other]!r} comparable: units must play different "
            "arms in the same steps, and change them"
        )
    mean = float(contrast @ found.effects)
    variance = found.squares / found.freedom * float(contrast @ found.inverse @ contrast)
    half = reach * math.sqrt(max(0.0, variance))
    return UnitsDifference(arms[one], arms[other], mean, mean - half, mean + half)


def compared(contrast: Numbers, found: PanelRegression) -> bool:
    """Whether the cells determine a contrast."""
    return float(np.abs(found.determined @ contrast - contrast).max()) < 1e-6


def better(larger: PanelRegression, smaller: PanelRegression) -> float | None:
    """p of an F test: whether a larger regression explains more than noise does; None if it can't be tested."""
    more = smaller.freedom - larger.freedom
    if larger.freedom < 1 or more < 1:
        return None
    if larger.squares <= 1e-12 * smaller.squares:
        return 0.0
    gain = (smaller.squares - larger.squares) / more
    return float(fdtrc(more, larger.freedom, max(0.0, gain) / (larger.squares / larger.freedom)))


def by_unit(
    units: Sequence[str], arms: Sequence[str], found: PanelRegression, best: int
) -> dict[str, dict[str, float | None]]:  # fmt: skip
    """How each arm differs from the best one in each unit; None where the cells don't compare them."""
    table: dict[str, dict[str, float | None]] = {}
    for place, unit in enumerate(units):
        row: dict[str, float | None] = {}
        for other, arm in enumerate(arms):
            contrast = np.zeros(found.effects.size)
            contrast[place * len(arms) + other] += 1.0
            contrast[place * len(arms) + best] -= 1.0
            row[arm] = float(contrast @ found.effects) if compared(contrast, found) else None
        table[unit] = row
    return table
