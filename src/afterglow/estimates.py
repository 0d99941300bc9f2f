"""What an experiment knows about its arms, in the units of its totals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from afterglow.arguments import Name
from afterglow.errors import UnknownName
from afterglow.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Estimate:
    """One arm: what a pull of it brings on average, and bounds on that."""

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


@dataclass(frozen=True, slots=True)
class Estimates:
    """Estimates of all arms, in their order; `estimates["A"]` is that of one.

    All bounds hold together, at every step, with probability `confidence`, for rewards of constant mean and
    any spread within the window. `alarm` is a sentence when bounds contradict each other, which a right window
    does with probability 1 - `confidence` at most; None proves nothing, for short runs hide a lot.
    """

    arms: tuple[Estimate, ...]
    confidence: float
    window: int
    surplus: float = 0.0  # what came in beyond all that the pulls can have brought

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
    def alarm(self) -> str | None:
        """What is wrong when bounds contradict each other, or totals what one pull can bring; None while all fits."""
        if self.surplus > 0:
            return (
                f"totals add up to {self.surplus:.4g} more than all pulls can have brought: reward_max, the most that "
                "one pull brings in all, is too small"
            )
        torn = [
            f"arm {one.arm!r} brings at least {one.low:.4g} and at most {one.high:.4g} a pull"
            for one in self.arms
            if one.contradiction
        ]
        if not torn:
            return None
        return (
            f"{', '.join(torn)}: the window of {self.window:,} steps is too short, totals are not what they should be "
            f"or the arms change with time; chance alone does this in at most {1 - self.confidence:.2g} of experiments"
        )

    def __str__(self) -> str:
        lines = [
            f"{one.arm!s:<12} {f'{one.mean:.4g}' if one.pulls else '–':>8}  [{one.low:.4g}, {one.high:.4g}]  "
            f"{one.pulls:,} pull{'' if one.pulls == 1 else 's'} ({one.share:.0%})"
            for one in self.arms
        ]
        return "\n".join([*lines, self.alarm] if self.alarm else lines)


def read(
    ledger: Ledger, names: Sequence[Name], window: int, reward_max: float, confidence: float, starts: int = 1
) -> Estimates:
    """The ledger in the units of totals, arms by their names; it has started so many times after an unknown past."""
    steps = sum(tally.pulls for tally in ledger.tallies)
    rows = []
    for arm, (name, tally) in enumerate(zip(names, ledger.tallies, strict=True)):
        low, high = ledger.interval(arm)
        mean = ledger.mean(arm) * reward_max
        share = tally.pulls / steps if steps else 0.0
        rows.append(Estimate(name, mean, low * reward_max, high * reward_max, tally.pulls, tally.runs, share))
    seen = sum(tally.past + tally.seen for tally in ledger.tallies)
    most = steps + starts * ledger.late  # a start may bring earlier effects
    surplus = max(0.0, seen * (1 - ROUNDING) - most) * reward_max
    return Estimates(tuple(rows), confidence, window, surplus)
