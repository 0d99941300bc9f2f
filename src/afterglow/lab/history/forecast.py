"""Expected totals beside a history: how much to trust them, and how much of the noise they explain.

`trust` is the slope of the totals on what was expected, from sums over windows: what counts in an experiment is noise
that lasts a window or longer, and single steps would say little about it. It is kept between 0 and 1.5 and rounded to
0.05. What is expected must not depend on the arms: it was made before, or from things that no arm changes.
"""

import math
from collections.abc import Sequence

import numpy as np

from afterglow.errors import BadValue
from afterglow.expected import MOST_TRUST
from afterglow.lab.history.robust import Numbers

FEWEST = 8  # windows with both
FINE = 0.05  # trust is rounded to


def trust_in(totals: Numbers, expected: Numbers, window: int) -> float:
    """The slope of sums of totals on sums of what was expected."""
    size = max(1, min(window, totals.size // FEWEST))
    whole = totals.size // size * size
    both = np.stack([expected[:whole], totals[:whole]]).reshape(2, -1, size).sum(axis=2)
    x, y = both[:, np.isfinite(both).all(axis=0)]
    if x.size < FEWEST:
        raise BadValue(
            f"expected totals need {FEWEST} windows in which they and the totals are known, got {x.size}",
            field="expected",
        )
    spread = float(np.sum((x - x.mean()) ** 2))
    slope = float(np.sum((x - x.mean()) * (y - y.mean()))) / spread if spread > 0 else 0.0
    return round(round(min(MOST_TRUST, max(0.0, slope)) / FINE) * FINE, 2)


def less_expected(totals: Sequence[float], expected: Sequence[float], window: int) -> tuple[list[float], float, float]:
    """(totals less trust times what is above the typical expectation, typical, trust)."""
    values, told = np.array(totals, float), np.array(expected, float)
    known = np.isfinite(told)
    if not known.any():
        raise BadValue("the column of expected totals has no numbers; name another", field="expected")
    typical = float(f"{np.mean(told[known]):.6g}")
    trust = trust_in(values, told, window)
    left = values - trust * np.where(known, told - typical, 0.0)
    assert not math.isnan(typical)
    return left.tolist(), typical, trust
