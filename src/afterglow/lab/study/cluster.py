"""Run the tasks of a study on a Dask cluster (extra `dask`).

A task is about a second of work, so that the cluster's overhead of a few milliseconds is negligible. If a worker dies,
its tasks are repeated on others. Every worker must have the same versions as this machine, or it is refused, because
its numbers might differ.
"""

import logging
import sys
import time
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import cache
from typing import Any

from afterglow.errors import AfterglowError, MissingExtra
from afterglow.lab.study.grid import Cell
from afterglow.lab.study.play import Piece, Played, play_on_worker
from afterglow.lab.versions import versions
from afterglow.policies.policy import Policy
from afterglow.policies.registry import AnyPolicy, is_ours
from afterglow.worlds.units_world import UnitsWorld
from afterglow.worlds.world import World

try:
    import cloudpickle
    from distributed import Client, KilledWorker
except ImportError as missing:
    raise MissingExtra("a study on a Dask cluster", "dask") from missing

log = logging.getLogger("afterglow")
CONNECT_SECONDS = 10
CLOSE_SECONDS = 2
COUNT_SECONDS = 2.0  # between counts of workers
MOST_LOST = 20  # tasks that may be lost with their workers


class Cluster:
    """The workers behind one scheduler."""

    budget = 1.0

    def __init__(self, address: str) -> None:
        self.address, self.expected = address, versions()
        try:
            self.client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise AfterglowError(f"no Dask scheduler answers at {address}: {str(problem).lower()}") from None
        self.tasks = self.client.get_executor(pure=False)
        self.lost_tasks, self.counted, self.workers = 0, -COUNT_SECONDS, 0

    def size(self) -> int:
        """Threads of all workers; 1 while there are none, so that a task waits for the first."""
        if time.monotonic() - self.counted > COUNT_SECONDS:
            self.counted = time.monotonic()
            try:
                self.workers = sum(self.client.nthreads().values())
            except (OSError, TypeError):
                raise self.gone() from None
            if not self.workers:
                log.info("no worker at %s yet; waiting for one", self.address)
        return max(1, self.workers)

    def submit(self, pieces: list[Piece]) -> "Future[Played]":
        packed = [replace(piece, cell=packed_cell(piece.cell)) for piece in pieces]
        future: Future[Played] = self.tasks.submit(play_on_worker, packed, self.budget, self.expected)
        return future

    def lost(self, failure: BaseException) -> bool:
        """Whether the task was lost with its workers and can be repeated; the number of repetitions is limited."""
        if isinstance(failure, CancelledError):
            raise self.gone()
        self.lost_tasks += isinstance(failure, KilledWorker)
        return isinstance(failure, KilledWorker) and self.lost_tasks <= MOST_LOST

    def gone(self) -> AfterglowError:
        return AfterglowError(
            f"the Dask scheduler at {self.address} is gone; finished runs are stored, run again to continue"
        )

    def close(self) -> None:
        """Drop running tasks; the cluster itself keeps running."""
        if self.client.status == "running":
            self.tasks.shutdown(wait=False)
        self.client.close(timeout=CLOSE_SECONDS)


def packed_cell(cell: Cell) -> Cell:
    """A cell for another machine: a user's own code is pickled by value, because workers don't have its file."""
    policy = cell.policy if is_ours(cell.policy) else packed_policy(cell.policy)
    return replace(cell, policy=policy, world=packed_world(cell.world) if cell.world.spread.function else cell.world)


@cache
def packed_policy(policy: AnyPolicy) -> Any:
    return packed(policy, policy.next_hold if isinstance(policy, Policy) else policy.next_round)


@cache
def packed_world(world: World | UnitsWorld) -> Any:
    return packed(world, world.spread.function)


def packed(thing: Any, function: Any) -> bytes:
    """The object pickled with the module of its function, unless that is part of this package."""
    module = sys.modules.get(function.__module__)
    own = module is not None and not function.__module__.startswith("afterglow.") and module.__name__ != "__main__"
    if own:
        cloudpickle.register_pickle_by_value(module)
    try:
        written: bytes = cloudpickle.dumps(thing)
        return written
    finally:
        if own:
            cloudpickle.unregister_pickle_by_value(module)
