r"""Lag kernels of a fit as priors for media-mix models: mean and standard deviation of an arm's effect by lag.

An effect is what a pull of the arm pays more than a pull of the arm of reference, at one lag. Such differences are
what recorded steps tell: what all arms have in common can't be separated from the level. Within a group of lags the
fit can't tell one from another, so all have the same mean and deviation, and their errors are one: the deviation of a
sum of lags is not the root of the sum of squares; `total` has it for all lags together.

Models with geometric carry-over, weights in proportion to $\alpha^s$ at lag $s$, take its retention $\alpha$. With
$m$ the mean lag of the effect, $\alpha = m/(1 + m)$; its deviation is that of $m$, a ratio of two sums, by the delta
method, over $(1 + m)^2$. It is given only where the total effect is at least two deviations away from zero and $m$
lies within the window.
"""

import csv
import io
import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from afterglow.errors import BadValue, argument
from afterglow.lab.fit.regression import Regressed

CLEAR = 2.0  # deviations of a total effect from zero, below which its delay can't be told


@dataclass(frozen=True)
class LagPrior:
    """What one pull of `arm` pays more than one of `than`, `lag` steps later."""

    arm: str
    than: str
    lag: int
    mean: float
    sd: float


@dataclass(frozen=True)
class EffectPrior:
    """The same over all lags, with its mean lag and the retention of carry-over; None where they can't be told."""

    arm: str
    than: str
    mean: float
    sd: float
    mean_lag: float | None
    mean_lag_sd: float | None
    retention: float | None
    retention_sd: float | None


@dataclass(frozen=True)
class Priors:
    """Normal priors by arm and lag, and by arm over all lags."""

    window: int
    freedom: int  # degrees of freedom behind the deviations: with few, use Student's t
    lags: list[LagPrior]
    total: list[EffectPrior]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """Rows of arm, than, lag, mean, sd; the lag of the row over all lags is `total`."""
        made = io.StringIO()
        rows = csv.writer(made, lineterminator="\n")
        rows.writerow(["arm", "than", "lag", "mean", "sd"])
        rows.writerows([one.arm, one.than, one.lag, repr(one.mean), repr(one.sd)] for one in self.lags)
        rows.writerows([one.arm, one.than, "total", repr(one.mean), repr(one.sd)] for one in self.total)
        return made.getvalue()


def priors_of(found: Regressed, names: tuple[str, ...], window: int, than: str) -> Priors:
    """The effects of all arms but `than`."""
    if than not in names:
        raise BadValue(f"{argument('than')} must be one of the arms {', '.join(names)}, got {than!r}")
    base, lags, total = names.index(than), list[LagPrior](), list[EffectPrior]()
    for arm, name in enumerate(names):
        if arm == base:
            continue
        sides = np.eye(found.arms)[arm] - np.eye(found.arms)[base]
        for place, (first, end) in enumerate(found.bins):
            factors = np.zeros((len(found.bins), found.arms))
            factors[place] = sides / (end - first)
            lags += [LagPrior(name, than, lag, *found.estimate(factors.ravel())) for lag in range(first, end)]
        total.append(EffectPrior(name, than, *whole(found, sides)))
    return Priors(window, found.found.freedom, lags, total)


def whole(found: Regressed, sides: Any) -> tuple[float, float, float | None, float | None, float | None, float | None]:
    """An effect over all lags, its mean lag and retention, each with its deviation."""
    centres = np.array([(first + end - 1) / 2 for first, end in found.bins])
    effect, sd = found.estimate(np.tile(sides, len(found.bins)))
    if abs(effect) < CLEAR * sd or sd == 0.0:
        return effect, sd, None, None, None, None
    delayed, _ = found.estimate((centres[:, None] * sides).ravel())
    lag = delayed / effect
    if not 0 <= lag <= centres[-1]:  # a kernel that changes its sign, which no carry-over does
        return effect, sd, None, None, None, None
    _, lag_sd = found.estimate(((centres - lag)[:, None] * sides / effect).ravel())
    retention = lag / (1 + lag)
    return effect, sd, lag, lag_sd, retention, lag_sd / (1 + lag) ** 2 if math.isfinite(lag_sd) else None
