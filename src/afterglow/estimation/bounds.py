r"""Proved confidence bounds on each arm's mean from pooled totals, for any policy and any spread.

A *run* is a maximal stretch of steps on one arm, $w$ the window less one, $X$ the totals, $Y \in [0, 1]$ the
rewards of the arm's pulls. A pull pays nothing negative, and only within its own and the next $w$ steps. So,
on every path, with `head` the $X$ of a run's first $w$ steps, `seen` all its $X$, and `tail` the $X$ of the
steps after its end, $g \le w$ of them, up to the arm's return:

- What entered the run was owed by the $w$ pulls before it, at most 1 each, and arrived in its head:
  all $Y$ of the run $\ge$ seen − min(head, $w$).
- Pulls older than $w$ steps have paid in full, in the run or in its tail; the run owed at most $w$ at its end:
  all $Y$ of the run but the last $w - g$ $\le$ seen + min(tail, $w$).

Added up over an arm's runs, both hold for its whole history: a step within $w$ of a pull lies in a run of the
arm or in a tail. Each sum of $Y$ is over a *prefix* of a run, or of the arm's history, in the order of pulls.

*Radius.* Let $Y_1, Y_2, \dots$ have conditional mean $\mu$ and $\hat\mu_n$ be the mean of the first n. For each
$q$ the product of $(q/\mu)^{Y}((1-q)/(1-\mu))^{1-Y}$ is a supermartingale, as a factor is convex in $Y$ and
equals $q/\mu$ or $(1-q)/(1-\mu)$ at the ends. So is its mean over $q$ uniform on $[0, 1]$, which is at least
$e^{n\,kl(\hat\mu_n, \mu)}/(n+1)$: the points $(1-a)\hat\mu_n + a r$, $r \in [0, 1]$, have measure $a$ and lose
at most the factor $(1-a)^n$, and $\int_0^1 (1 - u^{1/n})\,du = 1/(n+1)$. By Ville's inequality
$n\,kl(\hat\mu_n, \mu) < \log((n+1)/\delta)$ for all $n$ at once, on both sides, but for probability $\delta$.

*Shares.* With $\alpha$ = 1 − confidence and $K$ arms, an arm's history has $\alpha/2K$ and its run number $j$
(which starts before its rewards are drawn) $\alpha/(2K\,j(j+1))$; these add up to $\alpha$. Hence all
intervals, of all arms, at all times, contain their means with the given confidence, and so does what they
have in common: `floor` and `ceiling` keep the best found when a run was looked at, which is when 8, 12, 18, …
of its pulls had settled and when its arm returned. A floor above its ceiling is either a case of probability
$\alpha$ or proof that the window is too short or that totals are not what they should be.

*Condition.* That $Y$ has conditional mean $\mu$, given all that happened before, is more than a constant
mean: demand that lingers breaks it, and with an AR(1) baseline of correlation 0.99 some bound missed at the
end of 60 % of runs (2,000 steps, `trim-ucb`).

Time-uniform bounds by mixtures go back to Ville (1939) and Robbins (1970); the argument for the uniform
mixture is that of Blum & Kalai (Universal Portfolios With and Without Transaction Costs, 1999).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from afterglow.estimation.batch_means import Batches
from afterglow.policies.terms import kldown, klup

VERSION = 1  # of what is computed here and in bounds_with_gaps; a change needs another number
FIRST_LOOK = 8
LATER_LOOKS = 1.5
Interval = tuple[float, float]
Claim = tuple[int, float, int, float, float]


@dataclass(slots=True)
class Tally:
    """One arm: sums over its earlier runs, and its last run."""

    pulls: int = 0
    runs: int = 0
    past: float = 0.0  # totals seen in earlier runs
    entered: float = 0.0  # at most this much of them was not theirs
    left: float = 0.0  # at most this much of theirs came after they ended
    washed: float = 0.0  # totals seen after the heads of all runs
    washed_steps: int = 0
    age: int = 0  # steps of the last run
    seen: float = 0.0  # totals seen in it
    head: float = 0.0
    tail: float = 0.0
    gap: int = 0  # steps summed in tail
    floor: float = 0.0
    ceiling: float = 1.0


class Bounds:
    """Tallies of all arms; `record` each step, then read `interval` and `mean`. Memory is constant.

    Batches of washed totals are kept too: `comparison` has statistics of them.
    """

    def __init__(self, arms: int, window: int, confidence: float, season: int = 1) -> None:
        self.late = window - 1  # w
        self.tallies = [Tally() for _ in range(arms)]
        self.current = -1  # the arm in play
        self.look = 0  # age at which its run is looked at next
        self.owing: list[Tally] = []  # arms whose tail is open, the earliest first
        self.level = math.log(2 * arms / (1 - confidence))
        self.batches = Batches(arms, window, season)
        self.known: dict[int, tuple[Interval, list[Claim], Interval]] = {}  # by arm: what its last interval was made of

    def record(self, arm: int, total: float, adjusted: float | None = None) -> None:
        """Count one step: the arm played and the total seen; `adjusted` joins the batches in its place."""
        tally = self.tallies[arm]
        if arm != self.current:
            self.begin(arm, tally)
        if self.owing:
            self.follow(total)
        tally.pulls += 1
        tally.age += 1
        tally.seen += total
        if tally.age <= self.late:
            tally.head += total
        else:
            tally.washed += total
            tally.washed_steps += 1
            self.wash(arm, total if adjusted is None else adjusted)
        if tally.age == self.look:
            self.look_now(arm, tally)

    def record_all(self, arm: int, totals: Sequence[float], adjusted: Sequence[float] | None = None) -> None:
        """`record` steps of one arm that follow each other: the same numbers in a fraction of the time."""
        joined = totals if adjusted is None else adjusted
        tally, done, count = self.tallies[arm], 0, len(totals)
        if count and (arm != self.current or self.owing or tally.age < self.late):  # each of the first steps by itself
            head = self.late - (0 if arm != self.current else tally.age)
            tails = self.late if arm != self.current else max((self.late - one.gap for one in self.owing), default=0)
            done = min(count, max(1, head, tails))
            for total, other in zip(totals[:done], joined[:done], strict=True):
                self.record(arm, total, other)
        while done < count:
            end = count if self.look <= tally.age else min(count, done + self.look - tally.age)
            self.extend(arm, tally, totals[done:end], joined[done:end])
            done = end

    def extend(self, arm: int, tally: Tally, totals: Sequence[float], joined: Sequence[float]) -> None:
        """Count washed steps of the run in play, when no tail is open; a look is due at the last of them at most."""
        seen, washed = tally.seen, tally.washed
        for total in totals:
            seen += total
            washed += total
        tally.seen, tally.washed = seen, washed
        tally.pulls += len(totals)
        tally.age += len(totals)
        tally.washed_steps += len(totals)
        self.wash_all(arm, joined)
        if tally.age == self.look:
            self.look_now(arm, tally)

    def look_now(self, arm: int, tally: Tally) -> None:
        """Keep the bounds of the run in play, and say when it is looked at next."""
        tally.floor, tally.ceiling = self.interval(arm)
        self.look = self.late + math.ceil(LATER_LOOKS * (tally.age - self.late))

    def wash_all(self, arm: int, totals: Sequence[float]) -> None:
        """Count totals to which only the arm's own pulls paid."""
        self.batches.add_all(arm, totals)

    def wash(self, arm: int, total: float) -> None:
        """Count a total to which only the arm's own pulls paid."""
        self.batches.add(arm, total)

    def begin(self, arm: int, tally: Tally) -> None:
        """Start a run: the arm's last run joins its history."""
        late = self.late
        self.batches.end()
        if tally.age >= late + FIRST_LOOK:
            tally.floor, tally.ceiling = self.interval(arm)
        tally.past += tally.seen
        tally.entered += min(tally.head, late)
        tally.left += min(tally.tail, late)
        tally.seen = tally.head = tally.tail = 0.0
        tally.age = tally.gap = 0
        tally.runs += 1
        self.current, previous = arm, self.current
        self.look = late + FIRST_LOOK
        self.owing = [other for other in self.owing if other is not tally]
        if late and previous >= 0:
            self.owing.append(self.tallies[previous])

    def follow(self, total: float) -> None:
        """Add a step to the open tails; they close one by one, as they opened."""
        for tally in self.owing:
            tally.tail += total
            tally.gap += 1
        if self.owing[0].gap == self.late:
            del self.owing[0]

    def resume(self, tallies: list[Tally], current: int, look: int) -> None:
        """Continue from stored tallies."""
        self.tallies, self.current, self.look = tallies, current, look
        ended = [tally for arm, tally in enumerate(tallies) if arm != current and tally.age and tally.gap < self.late]
        self.owing = sorted(ended, key=lambda tally: -tally.gap)

    def claims(self, arm: int) -> list[Claim]:
        """(pulls, least, settled, most, level) for the arm's history and for its last run.

        All `pulls` brought at least `least`, the first `settled` of them at most `most`; the mean differs from
        that of the first n by a divergence of at most (level + log(n + 1)) / n.
        """
        tally = self.tallies[arm]
        entered, left = min(tally.head, self.late), min(tally.tail, self.late)
        past = tally.past + tally.seen
        owing = self.late - tally.gap  # pulls that may still pay
        share = math.log(max(tally.runs, 1) * (tally.runs + 1))
        return [
            (tally.pulls, past - tally.entered - entered, tally.pulls - owing, past + tally.left + left, self.level),
            (tally.age, tally.seen - entered, tally.age - owing, tally.seen + left, self.level + share),
        ]

    def interval(self, arm: int) -> Interval:
        """Bounds on the mean reward of a pull: the best of history, last run and earlier looks."""
        low, high = kept = self.tallies[arm].floor, self.tallies[arm].ceiling
        claims = self.claims(arm)
        known = self.known.get(arm)
        if known is not None and known[0] == kept and known[1] == claims:
            return known[2]
        for pulls, least, settled, most, level in claims:
            low = max(low, kldown(least, pulls, level + math.log(pulls + 1)))
            if settled > 0:
                high = min(high, klup(most, settled, level + math.log(settled + 1)))
        self.known[arm] = (kept, claims, (low, high))
        return low, high

    def mean(self, arm: int) -> float:
        """The mean of totals seen after the heads of runs, of all if there are none, within the interval.

        Not a number for an arm that was never played; not fitted to an interval that contradicts itself.
        """
        tally = self.tallies[arm]
        if not tally.pulls:
            return math.nan
        if tally.washed_steps:
            mean = tally.washed / tally.washed_steps
        else:
            mean = (tally.past + tally.seen) / tally.pulls
        low, high = self.interval(arm)
        return min(max(mean, low), high) if low <= high else mean

    def counted(self) -> Batches:
        """Batches of all washed totals."""
        return self.batches
