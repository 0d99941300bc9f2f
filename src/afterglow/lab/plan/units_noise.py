"""The noise of units in a history: what they share, and what is each unit's own.

A history of each unit's totals is normalised by the unit's mean. What the units have in common in a step is the mean of
the normalised totals, weighted by size; the rest is each unit's own.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import BadValue, argument
from afterglow.lab.reading.panel import Panel

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class SharedNoise:
    """Noise of units, as shares of their levels."""

    common: float  # deviation of what all units share
    common_correlation: float  # from step to step
    own: float  # deviation of each unit's own
    own_correlation: float
    levels: dict[str, float]  # mean total of each unit; empty without a history
    steps: int  # of the history

    @property
    def shared(self) -> float:
        """The share of the variance that is common to all units, and cancels."""
        whole_ = self.common**2 + self.own**2
        return self.common**2 / whole_ if whole_ > 0 else 0.0

    @property
    def sentence(self) -> str:
        return f"{self.shared:.0%} of the noise is common to all units and cancels".replace("%", " %")


def noise_of(panel: Panel) -> SharedNoise:
    """Deviation and correlation of what units share, and of their own."""
    values = np.array(panel.values)
    levels = np.nanmean(values, axis=0)
    if not (levels > 0).all():
        raise BadValue(
            f"{argument('history')} must have totals above 0 on average, those of "
            f"{panel.units[int(np.argmin(levels))]!r} are not"
        )
    full = values[~np.isnan(values).any(axis=1)] / levels
    if len(full) < 10:
        raise BadValue(
            f"{argument('history')} must have at least 10 steps in which all units have a total, got {len(full):,}; "
            "leave out units with gaps"
        )
    weights = levels / levels.sum()
    common = full @ weights
    rest = full - common[:, None]
    own = float((rest**2).sum() / ((len(full) - 1) * max(1e-9, len(weights) - 2 + len(weights) * (weights**2).sum())))
    shared = max(0.0, float(common.var(ddof=1)) - own * float((weights**2).sum()))
    lingers = lag_one(rest)
    lagged = float(((common[1:] - common.mean()) * (common[:-1] - common.mean())).sum()) / (len(common) - 1)
    lagged -= own * float((weights**2).sum()) * lingers
    return SharedNoise(
        math.sqrt(shared), min(0.99, max(0.0, lagged / shared)) if shared > 0 else 0.0, math.sqrt(own), lingers,
        {unit: float(level) for unit, level in zip(panel.units, levels, strict=True)}, len(values),
    )  # fmt: skip


def lag_one(series: Numbers) -> float:
    """The correlation from step to step, between 0 and 0.99."""
    centred = series - series.mean(axis=0)
    below = float((centred**2).sum())
    return min(0.99, max(0.0, float((centred[1:] * centred[:-1]).sum()) / below)) if below > 0 else 0.0
