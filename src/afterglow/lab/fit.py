r"""What recorded steps tell: each arm's mean, when its pulls pay, and whether the window is long enough.

*Means*, twice. Proved bounds for any spread within the window, from the `GapLedger`; they need the largest reward of
a pull. And estimates under the model that effects depend on arm and lag only, which are much sharper.

*Kernels*, under that model: ridge regression of each total on the share of each arm in the lags {0}, {1}, {2, 3},
{4 .. 7}, … up to the window. Some arm is always played, so what the arms have in common can't be told from the level;
shown is an arm's excess over the average arm at the same lags. The ridge is the long-run noise over the squared mean
total, at most 1; its pull towards 0 is added to the error. A kernel that is not level within a bin adds a bias that
the intervals don't show.

Steps before the first full window, and after gaps, have an unknown past and are left out of the regressions.
"""

import math
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from afterglow import estimates
from afterglow.arguments import ROUNDING
from afterglow.errors import BadValue
from afterglow.gap_ledger import GapLedger
from afterglow.lab.blocks import Regression, quantile, regress
from afterglow.lab.csv_tables import Source, Steps, read_steps
from afterglow.lab.recorded import Array, Recorded, lag_edges
from afterglow.lab.window_check import WindowCheck, check_window
from afterglow.policies.checks import number, whole

RUNS = 3  # of an arm, below which leaving one out says nothing


@dataclass(frozen=True)
class ArmMean:
    """What a pull brings on average: an estimate with its interval, and bounds that hold for any spread."""

    arm: str
    mean: float
    low: float
    high: float
    proved_low: float | None
    proved_high: float | None
    pulls: int
    runs: int


@dataclass(frozen=True)
class LagExcess:
    """What a pull pays at each of the lags from `first` to `last` above the average arm."""

    first: int
    last: int
    excess: float
    low: float
    high: float

    def over_all(self) -> tuple[float, float, float]:
        """(excess, low, high) over all its lags together."""
        lags = self.last - self.first + 1
        return lags * self.excess, lags * self.low, lags * self.high

    @property
    def text(self) -> str:
        """The lags as people write them."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class Fit:
    """What recorded steps tell. Intervals hold one by one with the given confidence."""

    window: int
    reward_max: float
    confidence: float
    means: list[ArmMean]
    kernels: dict[str, list[LagExcess]]
    check: WindowCheck
    steps: int
    notes: list[str]
    recorded: Recorded = field(repr=False)

    def as_data(self) -> dict[str, Any]:
        """Plain data, without the steps themselves."""
        plain = {
            name: value for name, value in vars(self).items() if name not in ("recorded", "means", "kernels", "check")
        }
        return plain | {
            "means": [asdict(one) for one in self.means],
            "kernels": {arm: [asdict(lags) for lags in row] for arm, row in self.kernels.items()},
            "check": asdict(self.check),
        }


def fit(
    source: Source | Steps, window: int | None = None, reward_max: float | None = None, confidence: float = 0.95
) -> Fit:
    """Fit recorded steps: a CSV file with step, arm and total, its text, or `Steps`.

    Without a window the one that the data suggest is taken. `reward_max` is the most that one pull can bring in
    all, for the proved bounds; the largest total if it isn't given.
    """
    steps = source if isinstance(source, Steps) else read_steps(source)
    confidence = number("confidence", confidence, 0.5, 1.0)
    told = None if window is None else whole("window", window, 1, "1 = paid at once")
    recorded = Recorded.of(steps)
    if np.isnan(recorded.total).all():
        raise BadValue(f"a fit needs totals, the {len(recorded):,} steps of the table have none")
    notes = list(steps.notes)
    ceiling = most_of_a_pull(recorded, reward_max, notes)
    check = check_window(recorded, told, confidence)
    used = told or check.suggested or check.window
    if len(recorded) < 4 * used:
        raise BadValue(f"a fit needs at least four windows, {4 * used:,} steps, the table has {len(recorded):,}")
    alarm, bounds = proved(recorded, used, ceiling, confidence, notes)
    means, kernels = regression(recorded, used, confidence, bounds, notes)
    notes += [
        f"arm {one.arm!r} was played in {'one run' if one.runs == 1 else 'two runs'} only: its intervals can't be "
        "trusted, its proved bounds can"
        for one in means
        if one.runs < RUNS
    ]
    return Fit(used, ceiling, confidence, means, kernels, check.with_alarm(alarm), len(recorded), notes, recorded)


def most_of_a_pull(recorded: Recorded, reward_max: float | None, notes: list[str]) -> float:
    """The largest reward of a pull, guessed if it isn't given."""
    if reward_max is not None:
        return number("reward_max", reward_max, above=0.0)
    largest = float(np.nanmax(recorded.total))
    if largest <= 0:
        return 1.0
    notes.append(
        f"reward_max is not given; {largest:,.4g}, the largest total, is taken, and the proved bounds rest on it"
    )
    return largest


def proved(
    recorded: Recorded, window: int, reward_max: float, confidence: float, notes: list[str]
) -> tuple[str | None, list[tuple[float, float] | None]]:
    """(contradiction, bounds on the means) by the ledger, which counts what may have come in unseen."""
    totals = recorded.total / reward_max
    least, most = float(np.nanmin(totals)), float(np.nanmax(totals))
    if least < 0 or most > window * (1 + ROUNDING):
        notes.append(
            f"totals from {least * reward_max:,.4g} to {most * reward_max:,.4g} are not within 0 and "
            f"window x reward_max = {window * reward_max:,.4g}; no bounds are proved"
        )
        return None, [None] * len(recorded.names)
    ledger, starts = GapLedger(len(recorded.names), window, confidence), 1
    for arm, total in zip(recorded.arm.tolist(), totals.tolist(), strict=True):
        if arm < 0:
            starts += ledger.current >= 0
            ledger.interrupt()
        elif math.isnan(total):
            ledger.lose(arm)
        else:
            ledger.record(arm, total)
    found = estimates.read(ledger, recorded.names, window, reward_max, confidence, starts)
    return found.alarm, [None if one.contradiction else (one.low, one.high) for one in found]


def regression(
    recorded: Recorded, window: int, confidence: float, bounds: list[tuple[float, float] | None], notes: list[str]
) -> tuple[list[ArmMean], dict[str, list[LagExcess]]]:
    """Means and kernels by ridge regression."""
    edges = lag_edges(window)
    bins = list(pairwise(edges))
    columns = np.hstack([recorded.filled(first, end) for first, end in bins])  # bin by bin, arm by arm
    rows = ~np.isnan(columns).any(axis=1) & ~np.isnan(recorded.total)
    if rows.sum() < 2 * columns.shape[1]:
        raise BadValue(
            f"a fit of {len(recorded.names)} arms x {len(bins)} groups of lags needs {2 * columns.shape[1]:,} steps "
            f"with a known past, the table has {int(rows.sum()):,}; shorten the window of {window:,} or fill the gaps"
        )
    level = float(np.mean(recorded.total[rows])) or 1.0
    scaled, places = recorded.total[rows] / level, np.flatnonzero(rows)
    rough = regress(columns[rows], scaled, places, window, 1e-6)
    ridge = min(1.0, noise(scaled - columns[rows] @ rough.values, window))
    if recorded.changes < 8:
        notes.append(f"only {recorded.changes} changes of arm: kernels are hardly known")
    found = regress(columns[rows], scaled, places, window, ridge)
    return read(recorded, found, bins, level, confidence, bounds)


def noise(error: Array, window: int) -> float:
    """Long-run variance of a step's noise, from sums over four windows."""
    size = min(4 * window, max(1, len(error) // 8))
    sums = error[: len(error) // size * size].reshape(-1, size).sum(axis=1)
    return float(np.mean(sums**2) / size)


def read(
    recorded: Recorded,
    found: Regression,
    bins: list[tuple[int, int]],
    level: float,
    confidence: float,
    bounds: list[tuple[float, float] | None],
) -> tuple[list[ArmMean], dict[str, list[LagExcess]]]:
    """The regression in the units of totals."""
    arms, width = len(recorded.names), quantile(confidence, found.freedom)
    variance = found.variance() + found.shrunk @ found.shrunk.T  # noise, and the pull on weights of about the mean
    means: list[ArmMean] = []
    kernels: dict[str, list[LagExcess]] = {}

    def interval(factors: Array) -> tuple[float, float, float]:
        value = float(factors @ found.values)
        half = width * math.sqrt(float(factors @ variance @ factors))
        return level * value, level * (value - half), level * (value + half)

    for arm, name in enumerate(recorded.names):
        one = np.eye(arms)[arm]
        low, high = bounds[arm] or (None, None)
        runs = int(((recorded.arm == arm) & (np.concatenate([[-1], recorded.arm[:-1]]) != arm)).sum())
        pulls = int((recorded.arm == arm).sum())
        means.append(ArmMean(name, *interval(np.tile(one, len(bins))), low, high, pulls, runs))
        kernels[name] = []
        for place, (first, end) in enumerate(bins):
            factors = np.zeros((len(bins), arms))
            factors[place] = (one - 1 / arms) / (end - first)
            kernels[name].append(LagExcess(first, end - 1, *interval(factors.ravel())))
    return means, kernels
