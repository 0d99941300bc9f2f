r"""Batch means of washed totals, from which the variance of means is estimated.

From step `window` of a run on, only the arm's own pulls pay: such totals are *washed*, and under any spread whose law
stays the same their mean is that of the arm. Neighbouring totals are alike, so their scatter says little about that
of a mean; the means of long enough batches do. A run's washed steps are cut into batches of $b$ steps, the window
rounded up to whole seasons, and pairs of neighbouring batches make batches of $2b$, $4b$, … None spans two runs, and
each length is summed up by three numbers (Welford 1962), so memory doesn't grow. Which length is read, `evidence` says.

With a season, only whole ones of a run count, in the mean too: a cycle adds the same to all of them. A step whose total
is not known is left out, and with it what its season had begun.
"""

from collections.abc import Iterable
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from afterglow import records
from afterglow.errors import BadFormat
from afterglow.estimation.timeline import BlockCells, Timeline

VERSION = 2  # of what is computed here and in timeline; a change needs another number
LENGTHS = 8  # b, 2 b, ..., 128 b


@dataclass(slots=True)
class Washed:
    """One arm: washed steps and their sum, and for each length the batches, their mean and scatter around it."""

    steps: int = 0
    total: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * LENGTHS)
    means: list[float] = field(default_factory=lambda: [0.0] * LENGTHS)
    scatters: list[float] = field(default_factory=lambda: [0.0] * LENGTHS)  # sum of squared deviations

    @property
    def mean(self) -> float:
        """Of all washed steps, 0 without any."""
        return self.total / self.steps if self.steps else 0.0

    def count(self, length: int, mean: float) -> None:
        """A batch has ended."""
        self.counts[length] += 1
        off = mean - self.means[length]
        self.means[length] += off / self.counts[length]
        self.scatters[length] += off * (mean - self.means[length])


@dataclass(slots=True)
class OpenBatch:
    """The current run: its incomplete season and batch."""

    season_steps: int = 0
    season_total: float = 0.0
    batch_steps: int = 0
    batch_total: float = 0.0
    batches: int = 0  # shortest ones that have ended
    halves: list[float] = field(default_factory=lambda: [0.0] * LENGTHS)  # means that wait for the next of their length


class Batches:
    """`add` each washed total of a run, `skip` those that are not known, `end` the run."""

    def __init__(self, arms: int, window: int, season: int = 1, size: int | None = None) -> None:
        """`size` is the length of the shortest batches where turns are too short for one of a window."""
        self.window = window  # d
        self.season = season
        self.size = season * -(-window // season) if size is None else size  # b
        self.edge = window - 1 if self.size >= window else 0  # lags that a batch hides; a short one is a turn by itself
        self.arms = [Washed() for _ in range(arms)]
        self.open = OpenBatch()
        self.timeline = Timeline(self.size, window)

    def add(self, arm: int, total: float) -> None:
        now = self.open
        now.season_total += total
        now.season_steps += 1
        if now.season_steps < self.season:
            return
        washed = self.arms[arm]
        washed.steps += self.season
        washed.total += now.season_total
        now.batch_steps += self.season
        now.batch_total += now.season_total
        self.skip()
        self.timeline.cells.arm = arm
        if now.batch_steps == self.size:
            self.close(washed, now, now.batch_total)
            now.batch_steps, now.batch_total = 0, 0.0

    def add_all(self, arm: int, totals: Iterable[float | None]) -> None:
        """`add` all that are known, `skip` the others: the same numbers, in a fraction of the time without a season."""
        if self.season > 1:
            for total in totals:
                if total is None:
                    self.skip()
                else:
                    self.add(arm, total)
            return
        washed, now, size = self.arms[arm], self.open, self.size
        self.timeline.cells.arm = arm
        steps, seen, batch_steps, batch_total = washed.steps, washed.total, now.batch_steps, now.batch_total
        for total in totals:
            if total is not None:
                steps += 1
                seen += total
                batch_steps += 1
                batch_total += total
                if batch_steps == size:
                    self.close(washed, now, batch_total)
                    batch_steps, batch_total = 0, 0.0
        washed.steps, washed.total, now.batch_steps, now.batch_total = steps, seen, batch_steps, batch_total

    def close(self, washed: Washed, now: OpenBatch, total: float) -> None:
        """A batch of the shortest length is full; each second one ends a longer one."""
        mean = total / self.size
        for length in range(LENGTHS):
            washed.count(length, mean)
            if not now.batches >> length & 1:
                now.halves[length] = mean
                break
            mean = 0.5 * (now.halves[length] + mean)
        now.batches += 1
        self.timeline.add(self.timeline.cells.arm, self.size, total)

    def skip(self) -> None:
        """Begin a new season: the last one is over or broken."""
        self.open.season_steps, self.open.season_total = 0, 0.0

    def end(self) -> None:
        """The run is over."""
        now, timeline = self.open, self.timeline
        if now.batch_steps:
            timeline.add(timeline.cells.arm, now.batch_steps, now.batch_total)
        if now.batches or now.batch_steps:
            timeline.change()
        self.open = OpenBatch()

    def forked(self, arm: int) -> "Batches":
        """A copy to which steps of this arm can be added, the one in play."""
        other = copy(self)
        other.arms = self.arms[:]
        other.arms[arm], other.open = deepcopy((self.arms[arm], self.open))
        other.timeline = self.timeline.copied()
        return other

    def copied(self) -> "Batches":
        """A copy of what is known now."""
        other = copy(self)
        other.arms = [Washed(one.steps, one.total, one.counts[:], one.means[:], one.scatters[:]) for one in self.arms]
        other.open = replace(self.open, halves=self.open.halves[:])
        other.timeline = self.timeline.copied()
        return other

    def in_time(self) -> BlockCells:
        """Washed steps and their sums by block and arm, in order, those of the batch that is open included."""
        now = self.open
        if not now.batch_steps:
            return self.timeline.cells
        timeline = self.timeline.copied()
        timeline.add(timeline.cells.arm, now.batch_steps, now.batch_total)
        return timeline.cells

    def values(self) -> dict[str, Any]:
        """The batches as JSON values."""
        return {
            "arms": [records.plain(washed, "batches:") for washed in self.arms],
            "open": records.plain(self.open, "open batches:"),
            "timeline": self.timeline.values(),
        }

    def restore(self, values: dict[str, Any], current: int = -1) -> None:
        """Restore what `values` returned; `current` is the arm in play."""
        pairs = zip(self.arms, values["arms"], strict=True)
        self.arms = [records.like(washed, value, "batches") for washed, value in pairs]
        self.open = records.like(self.open, values["open"], "open batches")
        counted = [count for washed in self.arms for count in (washed.steps, *washed.counts)]
        if min(*counted, self.open.season_steps, self.open.batch_steps, self.open.batches) < 0:
            raise BadFormat(
                f"batches must have counts of at least 0, got {min(counted):,} in arms and {self.open!r:.200}"
            )
        self.timeline = Timeline(self.size, self.window)
        if "timeline" in values:
            self.timeline.restore(values["timeline"])
        else:
            self.recall(current)

    def recall(self, current: int) -> None:
        """State that was stored before there was a timeline: all that was seen counts as one stretch for each arm."""
        self.timeline.cells.arm = current
        for arm, washed in enumerate(self.arms):
            waiting = (self.open.batch_steps, self.open.batch_total) if arm == current else (0, 0.0)
            if washed.steps > waiting[0]:
                self.timeline.add(arm, washed.steps - waiting[0], washed.total - waiting[1])
