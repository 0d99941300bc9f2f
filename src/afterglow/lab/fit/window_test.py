r"""Test whether the window is long enough: totals must not depend on arms played before it.

Take the steps whose last $d$ steps were all on one arm. If $d$ is long enough, and effects depend on arm and lag
only, their expected total is that arm's mean, whatever was played before and however rewards are spread. So these
totals are regressed on the arms' means and on the shares of the arms at lags from $d$ on, in two groups, up to $4d$ or
$2d$; if the shares matter, the window is too short. Where runs are too short to leave such steps, all steps are used,
and every lag within the window gets a coefficient of its own instead. Only differences between the arms can be
detected. A given season is allowed for.

The test is joint over arms and groups, with errors that allow for correlated steps (`jackknife`). Its degrees of
freedom are those of blocks of equal weight, because few blocks may decide where arms change seldom. A window is called
too short at p < 1 %. The test has little power against small effects: it sees 0 to 7 % of effects of 5 % at half the
true window. So it can show that a window is too short, and hardly that it is long enough.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from afterglow.lab.fit.jackknife import (
    effective_blocks,
    grown_blocks,
    joint_p,
    moments,
    quantile,
    regress,
    shortest_blocks,
    solved,
)
from afterglow.lab.fit.recorded import Array, Mask, Recorded, contrasts
from afterglow.lab.fit.regression import NEGLIGIBLE, levelled

LEVEL = 0.01
SURE = 1.5  # standard errors: blocks grow less readily than for intervals, because few blocks leave no test
MOST_UNKNOWNS = 150
FEW = 0.25  # share of steps after a window on one arm, below which they are the second choice
Groups = list[tuple[int, int]]


@dataclass(frozen=True)
class Past:
    """The test of one window: dependence on arms before it."""

    window: int
    until: int  # end of the tested lags
    p: float  # p-value
    most: float  # upper bound on an arm's excess over the average per pull after the window
    changes: int  # of arm that the test uses

    @property
    def seen(self) -> bool:
        """Whether an effect after the window is detected."""
        return self.p < LEVEL


@dataclass(frozen=True)
class Design:
    """A regression: columns that are allowed for, and columns that are tested."""

    rows: Mask
    known: Array
    tested: Array
    changes: int


def past(recorded: Recorded, window: int, confidence: float) -> Past | None:
    """The test of one window; None where the steps are not sufficient."""
    designs: list[Callable[[Recorded, int, Groups], Design | None]] = [washed, every_lag]
    if (recorded.filled(0, window).max(axis=1) == 1.0).mean() < FEW:
        designs.reverse()
    for design in designs:
        for until in (4 * window, 2 * window):
            middle = window + -(-window // 2)
            groups = [(first, end) for first, end in ((window, middle), (middle, until)) if end > first]
            made = design(recorded, window, groups)
            found = measured(recorded, made, window, until, confidence) if made else None
            if found:
                return found
    return None


def washed(recorded: Recorded, window: int, groups: Groups) -> Design | None:
    """Steps after a window on one arm, each arm with its own mean."""
    pure = recorded.filled(0, window)
    shares = [contrasts(recorded.filled(first, end)) for first, end in groups]
    rows = known_rows(recorded, [pure, *shares]) & (pure.max(axis=1) == 1.0)
    mixed = rows & (np.abs(shares[0] - contrasts(pure)).max(axis=1) > 0)
    changes = int((mixed[1:] & ~mixed[:-1]).sum())
    return Design(rows, pure[rows], np.hstack(shares)[rows], changes)


def every_lag(recorded: Recorded, window: int, groups: Groups) -> Design | None:
    """All steps, with a coefficient for each arm and lag within the window."""
    size = (len(recorded.names) - 1) * (window + len(groups)) + 1
    if size > min(MOST_UNKNOWNS, len(recorded) // 10):
        return None
    lags = [contrasts(recorded.filled(lag, lag + 1)) for lag in range(window)]
    shares = [contrasts(recorded.filled(first, end)) for first, end in groups]
    rows = known_rows(recorded, [*lags, *shares])
    known = np.hstack([np.ones((len(recorded), 1)), *lags])
    return Design(rows, known[rows], np.hstack(shares)[rows], recorded.changes // 2)


def known_rows(recorded: Recorded, parts: list[Array]) -> Mask:
    """Steps of which the total and all these lags are known."""
    return np.asarray(~np.isnan(np.hstack([recorded.total[:, None], *parts])).any(axis=1))


def measured(recorded: Recorded, design: Design, window: int, until: int, confidence: float) -> Past | None:
    """The joint test and the upper bound; None with too few changes of arm."""
    size = design.tested.shape[1]
    columns = np.hstack([design.known, design.tested])
    if design.changes < 2 * size + 4 or len(columns) < 4 * columns.shape[1] + recorded.season - 1:
        return None
    totals, places = recorded.total[design.rows], np.flatnonzero(design.rows)
    if recorded.expected is not None:
        columns = np.column_stack([recorded.surplus[design.rows], columns])
    blocks = shortest_blocks(len(columns), window)
    products = moments(columns, totals, places, blocks, recorded.season)
    rough = levelled(totals - columns @ regress(products).values, places % recorded.season)
    grown, _ = grown_blocks(rough, window, SURE)
    if grown != blocks:
        products = moments(columns, totals, places, grown, recorded.season)
    within, across = products.gram[:-size, :-size], products.gram[:-size, -size:]
    rest = products.gram[-size:, -size:] - across.T @ solved(within, across)
    if np.linalg.eigvalsh(rest)[0] < 1.0:  # a step's worth, after all that is allowed for
        return None
    found = regress(products)
    freedom = min(found.freedom, effective_blocks(products, size) - 1)
    if freedom < size + 1:
        return None
    values, variance = found.values[-size:], found.variance()[-size:, -size:]
    widest = largest(values, variance, len(recorded.names), quantile(confidence, freedom))
    p = 1.0 if np.abs(values).max() <= NEGLIGIBLE * np.abs(totals).max() else joint_p(values, variance, freedom)
    return Past(window, until, p, widest, design.changes)


def largest(values: Array, variance: Array, arms: int, width: float) -> float:
    """The largest absolute end of the intervals for each arm's excess after the window."""
    picks = np.vstack([np.eye(arms - 1), -np.ones(arms - 1)])  # the last arm's is what the others lack
    ends = []
    for pick in picks:
        factors = np.tile(pick, len(values) // (arms - 1))
        ends.append(abs(factors @ values) + width * np.sqrt(factors @ variance @ factors))
    return float(max(ends))
