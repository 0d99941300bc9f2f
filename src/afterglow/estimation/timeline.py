"""Washed totals in order of time, in at most `BLOCKS` blocks: what tells noise that lingers from noise that doesn't.

Batches (module `batch_means`) forget when they were played. Noise that outlasts a run is visible only between runs, so
the order is kept here as well: time is cut into blocks of `span` steps, and a *cell* holds the number and the sum of
one arm's washed steps in one block. When there are more than `BLOCKS` blocks, neighbours are merged and the span
doubles, so the memory depends on the number of arms only. Time counts washed steps, and a window for each change of
arm. A run is cut between batches, so a cell belongs to the block in which its last batch ended.
"""

from dataclasses import dataclass, field
from typing import Any

from afterglow import records
from afterglow.errors import BadFormat

BLOCKS = 64


@dataclass(slots=True)
class BlockCells:
    """Cells in order of blocks, as it is records."""

    span: int  # steps of a block
    clock: int = 0  # steps so far
    arm: int = -1  # of the run in play
    blocks: list[int] = field(default_factory=list)
    arms: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)

    def copied(self) -> "BlockCells":
        """A copy that may be changed."""
        lists = (self.blocks[:], self.arms[:], self.steps[:], self.totals[:])
        return BlockCells(self.span, self.clock, self.arm, *lists)


class Timeline:
    """`add` washed steps of an arm as they come, `change` when its run ends."""

    def __init__(self, batch: int, window: int) -> None:
        self.late = window - 1
        self.cells = BlockCells(batch)

    def add(self, arm: int, steps: int, total: float) -> None:
        """Count washed steps of one arm that followed each other."""
        while self.cells.clock + steps > BLOCKS * self.cells.span:
            self.merge()
        cells = self.cells
        block = (cells.clock + steps - 1) // cells.span
        cells.clock += steps
        place = len(cells.blocks) - 1
        while place >= 0 and cells.blocks[place] == block and cells.arms[place] != arm:
            place -= 1
        if place >= 0 and cells.blocks[place] == block:
            cells.steps[place] += steps
            cells.totals[place] += total
            return
        cells.blocks.append(block)
        cells.arms.append(arm)
        cells.steps.append(steps)
        cells.totals.append(total)

    def change(self) -> None:
        """A run has ended: the steps that wash its effects out pass."""
        self.cells.clock += self.late

    def merge(self) -> None:
        """Double the span of blocks."""
        old = self.cells
        new = BlockCells(2 * old.span, old.clock, old.arm)
        found = dict[tuple[int, int], int]()
        for block, arm, steps, total in zip(old.blocks, old.arms, old.steps, old.totals, strict=True):
            place = found.setdefault((block // 2, arm), len(new.blocks))
            if place == len(new.blocks):
                new.blocks.append(block // 2)
                new.arms.append(arm)
                new.steps.append(0)
                new.totals.append(0.0)
            new.steps[place] += steps
            new.totals[place] += total
        self.cells = new

    def forget(self, arm: int) -> None:
        """Leave out all cells of an arm."""
        old = self.cells
        kept = [place for place, one in enumerate(old.arms) if one != arm]
        blocks, arms, steps = ([values[place] for place in kept] for values in (old.blocks, old.arms, old.steps))
        self.cells = BlockCells(
            old.span, old.clock, old.arm, blocks, arms, steps, [old.totals[place] for place in kept]
        )

    def copied(self) -> "Timeline":
        """A copy to which steps can be added."""
        other = Timeline(1, self.late + 1)
        other.cells = self.cells.copied()
        return other

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return records.plain(self.cells, "timeline:")

    def restore(self, values: dict[str, Any]) -> None:
        """Go on from what `values` gave."""
        size = len(values["blocks"])
        model = BlockCells(1, blocks=[0] * size, arms=[0] * size, steps=[0] * size, totals=[0.0] * size)
        cells = records.like(model, values, "timeline")
        if cells.span < 1 or cells.clock < 0 or min(cells.steps, default=0) < 0:
            raise BadFormat(
                f"timeline must have a span of at least 1 and counts of at least 0, got span {cells.span:,} and clock "
                f"{cells.clock:,}"
            )
        self.cells = cells
