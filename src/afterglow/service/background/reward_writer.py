"""Group commit: rewards received during one commit are written together in the next.

One thread writes. The queue is bounded by the number of rewards; calls beyond the limit are refused immediately.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

from afterglow.errors import AfterglowError
from afterglow.live import Experiment, Receipt
from afterglow.service.problems import Problem, problem_of

LOG = logging.getLogger("afterglow.service")
LOOKS = 20  # checks for expired waits during one `patience`

Batch = Sequence[tuple[str, float, int | None, str | None, str | None]]
Answer = Receipt | Exception
Future = asyncio.Future[Receipt]


class Waiting(NamedTuple):
    experiment: Experiment
    batch: Batch
    future: Future


class RewardWriter:
    """Queues batches in the event loop, commits them in its thread, and resolves their futures in the event loop.

    A batch that has waited for `patience` seconds fails with `too-slow`. One timer for all costs less than one each.
    """

    def __init__(self, room: int, patience: float, settled: Callable[[str, Answer], None]) -> None:
        self.room = room
        self.patience = patience
        self.settled = settled  # called with every answer, in the event loop
        self.waiting = SimpleQueue[Waiting | None]()  # None ends the thread
        self.deadlines = deque[tuple[float, Future]]()
        self.timer: asyncio.TimerHandle | None = None
        self.held = 0  # rewards not answered yet
        self.open = True
        self.thread = Thread(target=self.work, name="afterglow-rewards", daemon=True)

    def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread.start()

    def put(self, experiment: Experiment, batch: Batch) -> Future:
        """A future of the receipt, resolved once the batch is durable."""
        if self.held + len(batch) > self.room:
            raise Problem("overloaded", f"{self.held:,} rewards are waiting, the limit is {self.room:,}")
        if not self.open:
            raise Problem("overloaded", "the service is stopping")
        future: Future = self.loop.create_future()
        self.held += len(batch)
        self.waiting.put(Waiting(experiment, batch, future))
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
        while True:
            taken = [self.waiting.get()]
            while not self.waiting.empty():
                taken.append(self.waiting.get())
            by_experiment: dict[Experiment, list[Waiting]] = {}
            for one in taken:
                if one is not None:
                    by_experiment.setdefault(one.experiment, []).append(one)
            for experiment, group in by_experiment.items():
                self.loop.call_soon_threadsafe(self.answer, group, commit(experiment, group))
            if None in taken:
                return

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
        """Commit what is queued, then end the thread; call it from a worker thread."""
        self.open = False
        self.waiting.put(None)
        self.thread.join(patience)


def commit(experiment: Experiment, group: list[Waiting]) -> Sequence[Answer]:
    """One durable transaction for all batches; a refused batch doesn't affect the others."""
    try:
        return experiment.report([one.batch for one in group])
    except AfterglowError as error:
        return [error] * len(group)
    except Exception as error:
        LOG.exception("rewards of %s couldn't be committed", experiment.name)
        return [error] * len(group)
