"""Thread pool for calls that may wait for the database, with a bounded queue and a time limit.

A call that waits, for a lock that a frozen replica holds or for a database that doesn't answer, is counted no longer
after a moment: the next one begins beside it. So experiments that are stuck don't hold up calls for others. A call that
computes keeps its place, so that no more of them run at once than there are threads.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import get_ident
from typing import Any, ParamSpec, TypeVar

from afterglow.service.problems import Problem

Given = ParamSpec("Given")
Result = TypeVar("Result")
WAITING = 16  # queued calls per thread
SPARE = 8  # threads in all, for each that is counted
MOMENT = 0.25  # seconds after which a call may be found to wait
WAITS = 0.05  # of its time at most, in which a call that waits has computed


class Work:
    """One call."""

    def __init__(self, function: Callable[[], Any], future: "asyncio.Future[Any]") -> None:
        self.function = function
        self.future = future
        self.thread: tuple[float, float, int] | None = None  # when it began, CPU time of its thread then, its clock

    def run(self) -> Any:
        clock = time.pthread_getcpuclockid(get_ident()) if hasattr(time, "pthread_getcpuclockid") else -1
        self.thread = (time.monotonic(), time.thread_time(), clock)
        return self.function()

    def waits(self) -> bool:
        """Whether it has done little but wait for longer than a moment."""
        if self.thread is None:
            return False
        began, before, clock = self.thread
        took = time.monotonic() - began
        computed = 0.0 if clock == -1 else time.clock_gettime(clock) - before
        return took > MOMENT and computed < WAITS * took

    def settle(self, done: "asyncio.Future[Any]") -> None:
        """Pass its result on, unless nobody wants it any more."""
        if self.future.done():
            return
        if done.cancelled():
            self.future.cancel()
        elif (error := done.exception()) is not None:
            self.future.set_exception(error)
            self.future.exception()  # marks it as retrieved
        else:
            self.future.set_result(done.result())


class Workers:
    """Used in the event loop; refuses calls when its queue is full."""

    def __init__(self, threads: int, time_limit: float) -> None:
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads * SPARE, "afterglow-worker")
        self.free = threads * WAITING
        self.time_limit = time_limit
        self.queue = deque[Work]()
        self.running = set[Work]()
        self.timer: asyncio.TimerHandle | None = None
        self.closed = False

    async def call(self, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Run a function and return its result; after the time limit fail with `too-slow`; the thread continues."""
        if not self.free:
            raise Problem("overloaded")
        self.free -= 1
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.queue.append(Work(lambda: function(*given, **named), future))
        self.begin()
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.time_limit)
        except TimeoutError as error:
            if future.done() and not future.cancelled() and future.exception() is error:
                raise
            raise Problem("too-slow") from error

    def begin(self) -> None:
        """Begin what there is room for; look again after a moment if more is waiting."""
        loop = asyncio.get_running_loop()
        while self.queue and self.has_room():
            work = self.queue.popleft()
            if self.closed:
                work.future.cancel()
                continue
            self.running.add(work)
            loop.run_in_executor(self.pool, work.run).add_done_callback(partial(self.done, work))
        if self.queue and self.timer is None:
            self.timer = loop.call_later(MOMENT, self.look)

    def has_room(self) -> bool:
        running = len(self.running)
        if running < self.threads:
            return True
        return running < self.threads * SPARE and running - sum(work.waits() for work in self.running) < self.threads

    def look(self) -> None:
        self.timer = None
        self.begin()

    def done(self, work: Work, done: "asyncio.Future[Any]") -> None:
        self.free += 1
        self.running.discard(work)
        work.settle(done)
        self.begin()

    def close(self) -> None:
        """Call it from a thread."""
        self.closed = True
        self.pool.shutdown(wait=True, cancel_futures=True)
