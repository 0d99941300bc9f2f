"""Group commit: rewards received during one commit are written together in the next.

One thread at a time writes those of an experiment, and four threads write at once. A commit that takes longer than a
moment waits for something: a lock, a replica that is frozen, a long log that has to be read. Another thread then takes
its thread's place, so that experiments that wait hold no other one up. There are at most `MOST` threads. The last
`THREADS` of them are kept for experiments whose last commit was quick, so those that wait again and again, however
many they are, leave room for the others. The queue is bounded by the number of rewards; calls beyond the limit are
refused immediately.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from threading import Condition, Thread, current_thread
from time import monotonic
from typing import NamedTuple

from afterglow.errors import AfterglowError
from afterglow.live import Experiment, Receipt
from afterglow.service.problems import Problem, problem_of

LOG = logging.getLogger("afterglow.service")
THREADS = 4  # that commit at once
MOST = 64  # threads, with those that wait
MOMENT = 0.05  # seconds; a commit that takes longer waits for something
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
        self.writing: dict[Experiment, float] = {}  # when the commit of its rewards began, by the monotonic clock
        self.slow = set[Experiment]()  # whose last commit took longer than a moment
        self.threads = set[Thread]()
        self.changed = Condition()  # of all these
        self.deadlines = deque[tuple[float, Future]]()
        self.timer: asyncio.TimerHandle | None = None
        self.relief: asyncio.TimerHandle | None = None  # the next check for threads that wait
        self.held = 0  # rewards not answered yet
        self.open = True

    def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        with self.changed:
            for _ in range(THREADS):
                self.add_thread()

    def add_thread(self) -> None:
        """Called with the lock held, which the new thread takes first."""
        thread = Thread(target=self.work, name="afterglow-rewards", daemon=True)
        thread.start()
        self.threads.add(thread)

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
            if self.relief is None:
                self.relief = self.loop.call_later(MOMENT, self.relieve)
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

    def relieve(self) -> None:
        """Start threads in place of those that wait, if there is work for them; check again while any rewards wait."""
        with self.changed:
            try:
                if any(True for _ in self.free()):
                    missing = THREADS - (len(self.threads) - self.stuck())
                    for _ in range(min(missing, MOST - len(self.threads))):
                        self.add_thread()
            except RuntimeError as error:  # the system gives no more threads
                LOG.warning("rewards wait behind %d commits that wait themselves: %s", self.stuck(), error)
            self.relief = self.loop.call_later(MOMENT, self.relieve) if self.waiting else None

    def stuck(self) -> int:
        """How many threads have been committing for longer than a moment."""
        before = monotonic() - MOMENT
        return sum(began < before for began in self.writing.values())

    def free(self) -> Iterator[Experiment]:
        """Experiments that have rewards, and that a thread may write to."""
        full = sum(one in self.slow for one in self.writing) >= MOST - THREADS
        return (one for one in self.waiting if one not in self.writing and not (full and one in self.slow))

    def work(self) -> None:
        """Commit what is waiting, until `close`, or until there are threads enough without this one."""
        try:
            while self.write():
                pass
        finally:
            with self.changed:
                self.threads.discard(current_thread())

    def write(self) -> bool:
        """Commit all that waits for one experiment; whether the thread goes on.

        A function of its own: a thread that waits for more must not hold what it has written.
        """
        found = self.take()
        if found is None:
            return False
        experiment, group = found
        try:
            self.loop.call_soon_threadsafe(self.answer, group, commit(experiment, group))
        finally:
            enough = self.written(experiment)
        return not enough

    def written(self, experiment: Experiment) -> bool:
        """Note the end of a commit; whether this thread is no longer needed."""
        with self.changed:
            began = self.writing.pop(experiment)
            if monotonic() - began > MOMENT:
                self.slow.add(experiment)
            else:
                self.slow.discard(experiment)
            enough = self.open and len(self.threads) - self.stuck() > THREADS
            if enough:
                self.threads.discard(current_thread())
                self.changed.notify()  # another takes what has come for this experiment
            return enough

    def take(self) -> tuple[Experiment, list[Waiting]] | None:
        """All that waits for an experiment that nobody writes to; None if there is nothing left, after `close`."""
        with self.changed:
            while True:
                free = list(islice(self.free(), 2))  # others may be many
                if free:
                    break
                if not self.open and not self.waiting:
                    self.threads.discard(current_thread())
                    self.changed.notify_all()
                    return None
                self.changed.wait()
            if len(free) > 1:
                self.changed.notify()
            self.writing[free[0]] = monotonic()
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
            while self.threads and (left := end - monotonic()) > 0:
                self.changed.wait(left)  # every thread notifies when it ends


def commit(experiment: Experiment, group: list[Waiting]) -> Sequence[Answer]:
    """One durable transaction for all batches; a refused batch doesn't affect the others."""
    try:
        return experiment.report([one.batch for one in group])
    except AfterglowError as error:
        return [error] * len(group)
    except Exception as error:
        LOG.exception("rewards of %s couldn't be committed", experiment.name)
        return [error] * len(group)
