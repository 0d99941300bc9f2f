"""`Difference`: what a step on one arm brings more than one on another, with the interval that verdicts use.

Intervals are those of `comparison`: every arm has its own noise, noise that lingers is seen, and they hold at any time
and together for all arms that one is compared with. They assume that effects arrive alike all the time, and that noise
is common to all arms or gone within the blocks of the record.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.checks import Name
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import MOST, Comparison, Missing, compare


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference per step between `arm` and `other`, valid at any time if effects arrive alike all the time.

    Either `mean`, `low` and `high` are numbers or `missing` says why there are none.
    """

    arm: Name
    other: Name
    mean: float | None
    low: float | None
    high: float | None
    missing: str | None = None

    def __str__(self) -> str:
        names = f"{self.arm} over {self.other}"
        if self.mean is None:
            return f"{names:<12} {'–':>8}  {self.missing}"
        interval = f"[{self.low:+.4g}, {self.high:+.4g}]"
        return f"{names:<12} {self.mean:>+8.4g}  {interval}  at any time, if effects arrive alike"


def differences(
    batches: Batches, names: Sequence[Name], arm: int, confidence: float, reward_max: float, horizon: int | None
) -> tuple[Difference, ...]:
    """The arm against each of the others, in their order: intervals that hold together."""
    others = [other for other in range(len(names)) if other != arm]
    if len(names) > MOST:
        why = f"more than {MOST} arms are not compared with each other"
        return tuple(Difference(names[arm], names[other], None, None, None, why) for other in others)
    found, share = compare(batches, horizon), Comparison.RUNNING * (1 - confidence) / max(1, len(others))
    made = []
    for other in others:
        why_not = absent(found, batches, names, arm, other)
        if why_not is not None:
            made.append(Difference(names[arm], names[other], None, None, None, why_not.reason))
            continue
        mean, low, high = found.interval(found.contrast(arm, other), share, uniform=True)
        if low <= -1 and high >= 1:  # a mean lies between 0 and reward_max: the interval says nothing
            few = min((arm, other), key=lambda one: found.steps[one])
            why = f"{names[few]!r} has too few batches to bound the difference"
            made.append(Difference(names[arm], names[other], None, None, None, why))
            continue
        low, high = max(low, min(mean, -1.0)), min(high, max(mean, 1.0))
        made.append(Difference(names[arm], names[other], reward_max * mean, reward_max * low, reward_max * high))
    return tuple(made)


def absent(found: Comparison, batches: Batches, names: Sequence[Name], *arms: int) -> Missing | None:
    """Why two arms can't be compared."""
    for arm in arms:
        if not found.steps[arm]:
            season = " and a full season" if batches.season > 1 else ""
            return Missing(f"{names[arm]!r} hasn't run for a full window{season} yet")
    return found.missing(*arms)
