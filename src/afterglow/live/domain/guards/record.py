"""Washed totals of metrics beside the rewards, counted by the same rules: what guards are judged by.

`ExperimentBounds` decides which steps are washed and calls this record for each of them. Steps outside the plan, of a
shadow and void ones are left out. Totals are whole micro-units, and those of the current hold wait in `fresh` until it
is learned, so that they can be voided.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from afterglow.estimation.batch_means import Batches, OpenBatch, Washed

Totals = Sequence[int]  # of all metrics, the reward first, in micro-units


class GuardRecord:
    """`wash` each washed step, `leave_out` those that don't count, `end` the run; `finish` makes steps final."""

    def __init__(self, metrics: Iterable[int], arms: int, window: int, shape: tuple[int, int | None]) -> None:
        self.metrics = tuple(metrics)  # those that have guards, by number
        self.shape = (arms, window, *shape)
        self.batches = {metric: Batches(*self.shape) for metric in self.metrics}
        self.largest = dict.fromkeys(self.metrics, 0)
        self.fresh = list[list[int] | None]()  # washed totals of the run in play that can still be voided
        self.step: list[int] | None = None  # totals of the step that is being recorded; None: it doesn't count

    def of_step(self, totals: Totals | None) -> None:
        """The totals of the step that is recorded next; None if it doesn't count."""
        self.step = None if totals is None else [totals[metric] for metric in self.metrics]

    def wash(self) -> None:
        self.fresh.append(self.step)

    def leave_out(self) -> None:
        self.fresh.append(None)

    def retract(self, back: int) -> None:
        """Void the washed step `back` steps ago."""
        self.fresh[-back] = None

    def finish(self, arm: int) -> None:
        """Move fresh totals to the batches."""
        if not self.fresh:
            return
        for place, metric in enumerate(self.metrics):
            known = [None if totals is None else totals[place] for totals in self.fresh]
            self.batches[metric].add_all(arm, known)
            self.largest[metric] = max(self.largest[metric], *(total or 0 for total in known))
        self.fresh = []

    def end(self) -> None:
        """The run is over."""
        for batches in self.batches.values():
            batches.end()

    def counted(self, metric: int, arm: int) -> tuple[Batches, int]:
        """Batches of all washed totals, those included that can still be voided, and the largest total."""
        batches, largest = self.batches[metric], self.largest[metric]
        if not self.fresh:
            return batches, largest
        place = self.metrics.index(metric)
        known = [None if totals is None else totals[place] for totals in self.fresh]
        batches = batches.forked(arm)
        batches.add_all(arm, known)
        return batches, max(largest, *(total or 0 for total in known))

    def forget(self, arm: int, current: int) -> None:
        """Begin again with one variant, which was enabled; `current` is the one in play."""
        for batches in self.batches.values():
            batches.arms[arm] = Washed()
            batches.timeline.forget(arm)
            if arm == current:
                batches.open = OpenBatch()
        if arm == current:
            self.fresh = [None] * len(self.fresh)

    def values(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "metrics": list(self.metrics),
            "batches": [self.batches[metric].values() for metric in self.metrics],
            "largest": [self.largest[metric] for metric in self.metrics],
            "fresh": [None if totals is None else totals[:] for totals in self.fresh],
        }

    def restore(self, values: dict[str, Any], current: int) -> None:
        """Restore what `values` returned."""
        for place, metric in enumerate(self.metrics):
            self.batches[metric] = Batches(*self.shape)
            self.batches[metric].restore(values["batches"][place], current)
            self.largest[metric] = values["largest"][place]
        self.fresh = [None if totals is None else list(totals) for totals in values["fresh"]]
