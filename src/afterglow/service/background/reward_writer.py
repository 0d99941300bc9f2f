"""Group commit: rewards received during one commit are written together in the next.

One thread at a time writes those of an experiment. There are four threads, so that up to three experiments that have to
wait, for a lock or for a replica that is frozen, hold no other one up; with four of them, all wait. The queue is
bounded by the number of rewards; calls beyond the limit are refused immediately.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from threading import Condition, Thread
from time import monotonic
from typing import NamedTuple

from afterglow.errors import AfterglowError
from afterglow.live import Experiment, Receipt
from afterglow.service.problems import Problem, problem_of

LOG = logging.getLogger("afterglow.service")
THREADS = 4
LOOKS = 20  # checks for expired waits during one `patience`

Batch = Sequence[tuple[str, float, int | None, str | None, str | None]]
Answer = Receipt | Exception
Future = asyncio.Future[Receipt]


class Waiting(NamedTuple):
    experiment: Experiment
    batch: Batch
    future: Future


class RewardWriter:
    """Queues batches in the event loop, commits them in its threads, and resolves their futures in the event loop.

    A batch that has waited for `patience` seconds fails with `too-slow`. One timer for all costs less than one each.
    """

    def __init__(self, room: int, patience: float, settled: Callable[[str, Answer], None]) -> None:
        self.room = room
        self.patience = patience
        self.settled = settled  # called with every answer, in the event loop
        self.waiting: dict[Experiment, list[Waiting]] = {}  # oldest experiment first
        self.writing = set[Experiment]()  # whose rewards are being committed
        self.changed = Condition()  # of these two
        self.deadlines = deque[tuple[float, Future]]()
        self.timer: asyncio.TimerHandle | None = None
        self.held = 0  # rewards not answered yet
        self.open = True
        self.threads = [Thread(target=self.work, name=f"afterglow-rewards-{n}", daemon=True) for n in range(THREADS)]

    def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        for thread in self.threads:
            thread.start()

    def put(self, experiment: Experiment, batch: Batch) -> Future:
        """A future of the receipt, resolved once the batch is durable."""
        if self.held + len(batch) > self.room:
            raise Problem("overloaded", f"{self.held:,} rewards are waiting, the limit is {self.room:,}")
        if not self.open:
            raise Problem("overloaded", "the service is stopping")
        future: Future = self.loop.create_future()
        self.held += len(batch)
        with self.changed:
            self.waiting.setdefault(experiment, []).append(Waiting(experiment, batch, future))
            if experiment not in self.writing:
                self.changed.notify()
        self.deadlines.append((self.loop.time() + self.patience, future))
        if self.timer is None:
            self.timer = self.loop.call_later(self.patience / LOOKS, self.look)
        return future

    def look(self) -> None:
        """Fail the batches that have waited too long; schedule the next check while any wait."""
        now, deadlines = self.loop.time(), self.deadlines
        while deadlines and (deadlines[0][1].done() or deadlines[0][0] <= now):
            _, future = deadlines.popleft()
            if not future.done():
                future.set_exception(Problem("too-slow"))
        self.timer = self.loop.call_later(self.patience / LOOKS, self.look) if deadlines else None

    def work(self) -> None:
        """Commit what is waiting, until `close`."""
        while (found := self.take()) is not None:
            experiment, group = found
            try:
                answers = commit(experiment, group)
            finally:
                with self.changed:
                    self.writing.discard(experiment)
            self.loop.call_soon_threadsafe(self.answer, group, answers)

    def take(self) -> tuple[Experiment, list[Waiting]] | None:
        """All that waits for an experiment that nobody writes to; None if there is nothing left, after `close`."""
        with self.changed:
            while True:
                free = list(islice((one for one in self.waiting if one not in self.writing), 2))  # others may be many
                if free:
                    break
                if not self.open and not self.waiting:
                    self.changed.notify_all()
                    return None
                self.changed.wait()
            if len(free) > 1:
                self.changed.notify()
            self.writing.add(free[0])
            return free[0], self.waiting.pop(free[0])

    def answer(self, group: list[Waiting], answers: Sequence[Answer]) -> None:
        for (experiment, batch, future), answer in zip(group, answers, strict=True):
            self.held -= len(batch)
            self.settled(experiment.name, answer)
            if future.done():
                continue  # its caller has disconnected
            if isinstance(answer, Exception):
                future.set_exception(problem_of(answer))
            else:
                future.set_result(answer)

    def close(self, patience: float) -> None:
        """Commit what is queued, then end the threads; call it from a worker thread."""
        end = monotonic() + patience
        with self.changed:
            self.open = False
            self.changed.notify_all()
        for thread in self.threads:
            thread.join(max(0.0, end - monotonic()))


def commit(experiment: Experiment, group: list[Waiting]) -> Sequence[Answer]:
    """One durable transaction for all batches; a refused batch doesn't affect the others."""
    try:
        return experiment.report([one.batch for one in group])
    except AfterglowError as error:
        return [error] * len(group)
    except Exception as error:
        LOG.exception("rewards of %s couldn't be committed", experiment.name)
        return [error] * len(group)
