"""What guards count in an experiment with units: blocks of washed steps in which the same units ran the same variants.

A unit's step counts from the `window`-th of its run on, if the step was in the plan and isn't void. Steps of the
current round wait in `fresh`, so that they can be voided; `fold` adds them to their blocks. There are at most `KINDS`
blocks for different sets of units that were counted together while all stayed on their variants; steps of further sets
share the last one, in which each unit has a number of steps of its own.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from typing import Any

from afterglow.estimation.unit_guards import Block

KINDS = 8
NOBODY = -1

Fresh = tuple[int, list[int], list[int], list[list[int]]]  # step, arms that count, runs, totals by metric


class GuardBlocks:
    """`take` every step, `interrupt` where nobody knows what was served, `lose` what is void, `fold` what is final."""

    def __init__(self, metrics: Iterable[int], units: int, window: int) -> None:
        self.metrics = tuple(metrics)  # those that have guards, by number
        self.window = window
        self.served = [NOBODY] * units
        self.ages = [0] * units  # steps of the present run
        self.runs = [0] * units  # how many runs each unit has begun
        self.blocks = list[Block]()
        self.largest = [0] * len(self.metrics)
        self.folds = 0  # rounds that had steps which count
        self.fresh = list[Fresh]()

    def take(self, step: int, served: Sequence[int], counts: Sequence[bool], totals: Sequence[Sequence[int]]) -> None:
        """A step has ended: what each unit was served, whether it counts, and the totals of all metrics by unit."""
        arms = [NOBODY] * len(served)
        for unit, arm in enumerate(served):
            if arm != self.served[unit]:
                self.served[unit], self.ages[unit] = arm, 0
                self.runs[unit] += 1
            self.ages[unit] += 1
            if counts[unit] and arm != NOBODY and self.ages[unit] >= self.window:
                arms[unit] = arm
        kept = [list(totals[place]) for place in range(len(self.metrics))]
        self.fresh.append((step, arms, self.runs[:], kept))

    def interrupt(self, units: Iterable[int] | None = None) -> None:
        """Some units, or all, were served something else in between: their runs are over."""
        for unit in range(len(self.served)) if units is None else units:
            self.served[unit], self.ages[unit] = NOBODY, 0

    def lose(self, step: int, units: Iterable[int]) -> None:
        """A step of the current round is void for some units."""
        for one, arms, _, _ in self.fresh:
            if one == step:
                for unit in units:
                    arms[unit] = NOBODY

    def fold(self, before: int) -> None:
        """Steps before this one are final."""
        ready = [one for one in self.fresh if one[0] < before]
        self.fresh = [one for one in self.fresh if one[0] >= before]
        counting = [one for one in ready if max(one[1]) >= 0]
        for _, arms, runs, totals in counting:
            self.add(self.block_for(arms, runs), arms, totals)
        self.folds += bool(counting)

    def block_for(self, arms: list[int], runs: list[int]) -> Block:
        """The block of these units, or the one that takes what has none."""
        same = list[Block]()
        for block in reversed(self.blocks[-KINDS:]):
            if block.runs != runs:
                break
            if block.arms == arms:
                return block
            same.append(block)
        if len(same) < KINDS:
            units = len(arms)
            same.insert(0, Block(arms[:], runs[:], [0] * units, [[0] * units for _ in self.metrics]))
            self.blocks.append(same[0])
        return same[0]

    def add(self, block: Block, arms: Sequence[int], totals: Sequence[Sequence[int]]) -> None:
        for unit, arm in enumerate(arms):
            if arm >= 0:
                block.arms[unit] = arm
                block.steps[unit] += 1
                for place, amounts in enumerate(totals):
                    block.totals[place][unit] += amounts[unit]
                    self.largest[place] = max(self.largest[place], amounts[unit])

    def counted(self) -> list[Block]:
        """The blocks as they are now: later steps don't change them."""
        return self.blocks[:-KINDS] + deepcopy(self.blocks[-KINDS:])

    def forget(self, arm: int) -> None:
        """Begin again with one variant, which was enabled: the units that ran it count for the others alone."""
        self.blocks = [
            replace(block, arms=[NOBODY if one == arm else one for one in block.arms]) for block in self.blocks
        ]
        for _, arms, _, _ in self.fresh:
            arms[:] = [NOBODY if one == arm else one for one in arms]

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "served": self.served[:], "ages": [min(age, self.window) for age in self.ages], "runs": self.runs[:],
            "blocks": [list(asdict(block).values()) for block in self.blocks], "largest": self.largest[:],
            "folds": self.folds, "fresh": [[step, arms[:], runs[:], [list(one) for one in totals]]
            for step, arms, runs, totals in self.fresh],
        }  # fmt: skip

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `values` returned."""
        self.served, self.ages, self.runs = list(values["served"]), list(values["ages"]), list(values["runs"])
        self.blocks = [
            Block(list(arms), list(runs), list(steps), [list(one) for one in totals])
            for arms, runs, steps, totals in values["blocks"]
        ]
        self.largest, self.folds = list(values["largest"]), values["folds"]
        self.fresh = [(step, list(arms), list(runs), [list(one) for one in totals])
                      for step, arms, runs, totals in values["fresh"]]  # fmt: skip
