r"""Guards: whether an arm's mean of a secondary total (complaints, refunds) lies above its limit.

A limit is $c\,\mu_0 + a$ with $\mu_0$ the control's mean: "+10%" has $c = 1.1$, "+0.5" has $c = 1, a = 0.5$, a fixed
number has $c = 0$. The *excess* of arm $i$ is $s(\mu_i - c\mu_0 - a)$, with $s = -1$ for limits from below. It is a sum
over arms, so `comparison` has its interval: washed totals in batches, every arm with its own noise, kinds of noise that
may linger weighed by their likelihood, time-uniform. Differences to the verdict:

- nobody says how large a secondary total may be, so the noise has no upper limit (`noise`, *no largest reward*);
- the arm and the control are compared alone, with the noise of all arms as prior, so a look costs the same however
  many arms there are;
- looks are taken at growing distances, at least 64 while the number of washed steps doubles, and only if the excess is
  1.5 plain standard errors above 0;
- an arm is *beyond* its limit if the lower end of the excess is above 0. The share of what may be missed is 5 % divided
  by all guards and arms, so it holds for a whole run and all of them together;
- there is no interval before the arm and the control have `LEAST` batches each: fewer can't tell slow noise from an
  effect. The interval has two sides and only one can stop an arm; with one-sided bounds and without `LEAST`, 3 to 9 %
  of runs were stopped at the limit where noise lingered (rho .9 to .99, 100 runs), with both 2 to 4 %.

Like the verdict's intervals this has no theorem: `bench/answers/guards.py` measures it, docs/guides/guards.md has the
table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from afterglow.addition import added
from afterglow.estimation.batch_means import Batches
from afterglow.estimation.comparison import INFLATED, Comparison, Missing, beyond, compare_some
from afterglow.estimation.noise import NoiseVariance, noise

FALSE_STOPS = 0.05  # in a whole run, over all guards and arms
PLAIN = 1.5  # standard errors of the excess below which nobody looks closer
LEAST = 6  # batches of the arm and of the control
LOOKS = 64  # looks while the number of washed steps doubles, at least


@dataclass(frozen=True, slots=True)
class Limit:
    """`sign` is 1 for an upper limit, -1 for a lower one; the limit is factor x mean of the control + offset."""

    sign: int
    factor: float
    offset: float

    @property
    def threshold(self) -> float:
        return self.sign * self.offset

    def of(self, control: float) -> float:
        """The limit, given the control's mean."""
        return self.factor * control + self.offset


@dataclass(frozen=True, slots=True)
class Excess:
    """How far an arm's mean per step lies beyond its limit; `missing` says why there is no interval."""

    mean: float | None
    low: float | None
    high: float | None
    level: float | None  # the arm's mean
    limit: float | None
    missing: str | None = None
    more_steps: int | None = None  # after about so many there is an interval; None: unknown

    @property
    def beyond(self) -> bool:
        """Whether the mean is beyond the limit, at any time and for all guards together."""
        return self.low is not None and self.low > 0


class GuardCase:
    """Batches of one metric, and what is asked of them; `share` is what one arm's bound may miss over a whole run."""

    def __init__(
        self, batches: Batches, largest: float, control: int, limit: Limit, share: float, horizon: int | None
    ) -> None:
        self.batches = batches
        self.largest = largest  # washed total seen
        self.control = control
        self.limit = limit
        self.share = share
        self.horizon = horizon

    @property
    def silent(self) -> int:
        """Washed steps of all arms if their totals are all 0, as those of a metric that nobody reports; else 0."""
        return 0 if self.largest > 0 else sum(one.steps for one in self.batches.arms)

    @cached_property
    def noises(self) -> list[NoiseVariance] | None:
        """The noise of all arms; None while it is unknown."""
        return noise(self.batches, self.largest) if self.largest > 0 else None

    def terms(self, arm: int) -> list[tuple[int, float]]:
        """The excess as a sum over arms, but for the threshold."""
        limit = self.limit
        if arm == self.control:
            return [(arm, limit.sign * (1 - limit.factor))]
        return [(arm, float(limit.sign)), *([(self.control, -limit.sign * limit.factor)] if limit.factor else [])]

    def weights(self, arm: int) -> list[float]:
        found = [0.0] * len(self.batches.arms)
        for one, weight in self.terms(arm):
            found[one] = weight
        return found

    def unseen(self, arm: int) -> Missing | None:
        """Why there is nothing to compute yet."""
        for one, _ in self.terms(arm):
            if not self.batches.arms[one].steps:
                who = "the control" if one == self.control else "it"
                return Missing(f"{who} hasn't run for a full window yet", self.batches.window)
        return Missing("nothing was counted yet") if self.largest <= 0 else None

    def few(self, arm: int) -> Missing | None:
        """Why there is no interval yet, if there are too few batches."""
        batches = min(self.batches.arms[one].counts[0] for one, _ in self.terms(arm))
        if self.noises is not None and batches >= LEAST:
            return None
        more = 2 * (LEAST - batches) * self.batches.size
        length = "1 step" if self.batches.size == 1 else f"{self.batches.size:,} steps"
        return Missing(f"{LEAST} batches of {length} are needed of it and the control, there are {batches}", more)

    def plain(self, arm: int) -> tuple[float, float]:
        """The arm's mean and its limit, of washed totals as they are."""
        washed = self.batches.arms
        control = washed[self.control].total / washed[self.control].steps if self.limit.factor else 0.0
        return washed[arm].total / washed[arm].steps, self.limit.of(control)

    def promising(self, arm: int) -> bool:
        """Whether the excess of plain means is far enough above 0 to look closer."""
        if self.noises is None or self.unseen(arm) is not None or self.few(arm) is not None:
            return False
        mean, variance = -self.limit.threshold, 0.0
        for one, weight in self.terms(arm):
            washed = self.batches.arms[one]
            mean += weight * washed.total / washed.steps
            variance += weight * weight * self.noises[one].value / washed.steps
        return mean >= PLAIN * math.sqrt(variance)

    def compared(self, arm: int) -> Comparison:
        """Of the arm and the control, which tells what noise they share even where the limit is a number."""
        both = dict.fromkeys(one for one in (arm, self.control) if self.batches.arms[one].steps)
        return compare_some(self.batches, self.noises, list(both), self.horizon)

    def is_beyond(self, arm: int) -> bool:
        """Whether the arm is beyond its limit: `excess(arm).beyond` in a fraction of the time."""
        if not self.promising(arm):
            return False
        compared, weights = self.compared(arm), self.weights(arm)
        if lasting(compared, weights) is not None:
            return False
        parts = compared.parts(weights)
        if added(weight * mean for weight, mean, _ in parts) <= self.limit.threshold:
            return False
        outside = compared.outside(weights, self.share)
        return beyond(parts, compared.freedom(weights, parts), self.limit.threshold, -1.0) < 0.5 * outside

    def excess(self, arm: int) -> Excess:
        """Mean and ends of the excess, with the arm's mean and the limit."""
        missing = self.unseen(arm)
        if missing is not None:
            return Excess(None, None, None, None, None, missing.reason, missing.steps)
        level, limit = self.plain(arm)
        few = self.few(arm)
        if few is not None:
            return Excess(None, None, None, level, limit, few.reason, few.steps)
        compared, weights = self.compared(arm), self.weights(arm)
        slow = lasting(compared, weights)
        if slow is not None:
            return Excess(None, None, None, level, limit, f"noise lingers over about {slow:,} steps")
        mean, low, high = (one - self.limit.threshold for one in compared.interval(weights, self.share, True))
        return Excess(mean, low, high, level, limit)


def lasting(compared: Comparison, weights: Sequence[float]) -> int | None:
    """Over how many steps noise lingers, if that makes up more than half of the variance of the excess."""
    slow = compared.lingers
    return slow if slow is not None and compared.inflated(weights) > INFLATED else None


def look_is_due(steps: int) -> bool:
    """Whether to look at this number of washed steps: at every one up to 128, then at every second, fourth, …

    >>> [steps for steps in range(126, 140) if look_is_due(steps)]
    [126, 127, 128, 130, 132, 134, 136, 138]
    """
    stride = 1 << max(0, (steps // LOOKS).bit_length() - 1)
    return steps % stride == 0


def batch_shape(policy: str, settings: Any, window: int, season: int) -> tuple[int, int | None]:
    """Season and size of batches, where a policy's turns are too short for whole seasons or batches of a window."""
    if policy == "random-turns":
        return 1, min(window, max(1, settings.turn * settings.season // settings.slots - window + 1))
    if policy == "switchback" and settings.counted < window:
        return season, settings.counted
    return season, None
