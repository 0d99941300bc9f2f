"""Estimates of the arms of an experiment, in the unit of its totals.

There are two kinds. The bounds of every arm are proved for any spread within the window, at all times, if an arm's
expected reward, given all that happened before, is its mean; they are therefore wide. The *difference* between two arms
has a narrower interval, for spreads that don't change: `afterglow.estimation.differences` lists its assumptions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from afterglow.addition import added
from afterglow.checks import Name
from afterglow.errors import UnknownName
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.bounds import Bounds
from afterglow.estimation.comparison import compare
from afterglow.estimation.differences import Difference, differences
from afterglow.pictures import card, intervals


@dataclass(frozen=True, slots=True)
class Estimate:
    """One arm: its mean per pull, and bounds on that."""

    arm: Name
    mean: float  # not a number for an arm that was never played
    low: float
    high: float
    pulls: int
    runs: int  # stretches of consecutive steps on the arm
    share: float  # of all steps

    @property
    def contradiction(self) -> bool:
        """The lower bound lies above the upper one."""
        return self.low > self.high


ROUNDING = 1e-9  # of sums of totals


@dataclass(frozen=True, slots=True, repr=False)
class Estimates:
    """Estimates of all arms, in their order; `estimates["A"]` is that of one.

    All bounds hold together, at every step, with probability `confidence`, for any spread within the window, if an
    arm's expected reward, given all that happened before, is its mean. Demand that lingers breaks that condition.
    `alarm` is a sentence when bounds contradict each other, which a right window does with probability
    1 - `confidence` at most; None proves nothing, for short runs hide a lot. Where the noise is seen to linger, the
    alarm says so.

    `against` compares arms by washed totals: narrower, at any time, but only if effects arrive alike all the time, and
    noise is common to all arms or gone within the blocks of the record.
    """

    arms: tuple[Estimate, ...]
    confidence: float
    window: int
    surplus: float = 0.0  # by which totals exceed what all pulls can pay
    batches: Batches | None = field(default=None, repr=False, compare=False)  # of washed totals over reward_max
    reward_max: float = 1.0
    lingers: int | None = None  # steps over which noise lingers, if it does and bounds contradict each other
    horizon: int | None = None

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.arms)

    def __len__(self) -> int:
        return len(self.arms)

    def __getitem__(self, arm: Name) -> Estimate:
        for estimate in self.arms:
            if estimate.arm == arm:
                return estimate
        known = [str(estimate.arm) for estimate in self.arms]
        raise UnknownName("arm", str(arm), known, f"the arms are {', '.join(known)}")

    @property
    def best(self) -> Name | None:
        """The arm of the largest mean among those with a run of a window, and of a whole season behind it if there are
        seasons; None if none has one."""
        known = self.batches.arms if self.batches is not None else []
        means = [(washed.total / washed.steps, -arm) for arm, washed in enumerate(known) if washed.steps]
        return self.arms[-max(means)[1]].arm if means else None

    def against(self, arm: Name) -> tuple[Difference, ...]:
        """Differences between the arm and each of the others, in their order: intervals that hold together, at any
        time, with probability `confidence`."""
        names = [estimate.arm for estimate in self.arms]
        place = names.index(self[arm].arm)
        batches = Batches(len(names), self.window) if self.batches is None else self.batches
        return differences(batches, names, place, self.confidence, self.reward_max, self.horizon)

    @property
    def alarm(self) -> str | None:
        """A sentence if bounds contradict each other or totals exceed what pulls can pay; else None."""
        if self.surplus > 0:
            return (
                f"totals exceed what reward_max allows by {digits(self.surplus)}: it is too small; it must be the "
                "maximum that one pull can pay in all"
            )
        contradictory = [
            f"the average of {one.arm!r} is at least {digits(one.low)} and at most {digits(one.high)}"
            for one in self.arms
            if one.contradiction
        ]
        if not contradictory:
            return None
        lingering = "" if self.lingers is None else f"demand lingers (about {self.lingers:,} steps, it seems), "
        return (
            f"{', '.join(contradictory)}: the window of {self.window:,} steps is too short, {lingering}totals are not "
            f"what they should be or the arms change with time; chance alone does this in at most "
            f"{1 - self.confidence:.2g} of experiments"
        )

    def __str__(self) -> str:
        lines = [
            f"{one.arm!s:<12} {f'{one.mean:.4g}' if one.pulls else '–':>8}  [{one.low:.4g}, {one.high:.4g}]  "
            f"{one.pulls:,} pull{'' if one.pulls == 1 else 's'} ({one.share:.0%})"
            for one in self.arms
        ]
        if self.best is not None:
            lines += [str(one) for one in self.against(self.best) if one.mean is not None]
        return "\n".join([*lines, self.alarm] if self.alarm else lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            (str(one.arm), one.low, one.mean, one.high, f"{one.mean:.4g}" if one.pulls else "–") for one in self.arms
        ]
        title = f"{len(self.arms)} arms, mean per pull with proved bounds, {self.confidence:.0%} together"
        return card(title, intervals(rows, title), self.alarm or "")


def digits(amount: float) -> str:
    """Four digits, all of them before the decimal point.

    >>> digits(52244.1), digits(0.123456)
    ('52,244', '0.1235')
    """
    return f"{amount:,.0f}" if abs(amount) >= 1000 else f"{amount:.4g}"


def read(
    bounds: Bounds, names: Sequence[Name], window: int, reward_max: float, confidence: float, starts: int = 1,
    horizon: int | None = None,
) -> Estimates:  # fmt: skip
    """The bounds in the unit of totals, with arms by name; `starts` is how often they started after an unknown past."""
    steps = sum(tally.pulls for tally in bounds.tallies)
    rows = []
    for arm, (name, tally) in enumerate(zip(names, bounds.tallies, strict=True)):
        low, high = bounds.interval(arm)
        mean = bounds.mean(arm) * reward_max
        share = tally.pulls / steps if steps else 0.0
        rows.append(Estimate(name, mean, low * reward_max, high * reward_max, tally.pulls, tally.runs, share))
    seen = added(tally.past + tally.seen for tally in bounds.tallies)
    most = steps + starts * bounds.late  # a start may bring earlier effects
    surplus = max(0.0, seen * (1 - ROUNDING) - most) * reward_max
    contradictory = any(row.contradiction for row in rows)
    lingers = compare(bounds.batches).lingers if contradictory else None
    return Estimates(tuple(rows), confidence, window, surplus, bounds.counted().copied(), reward_max, lingers, horizon)
