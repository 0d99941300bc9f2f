"""Thread pool for calls that may wait for the database, with a bounded queue and a time limit.

A call that waits, for a lock that a frozen replica holds or for a database that doesn't answer, is counted no longer
after a moment: the next one begins beside it. So experiments that are stuck don't hold up calls for others. A call that
computes keeps its place. Threads that compute get little time where there is little of it, as those that wait do; so
nobody is taken to wait while the event loop comes late itself.
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
SATURATED = 0.7  # of a core: then a call that computes gets its share of what all get, and one that waits hardly any
LATE = 0.015  # seconds by which the event loop comes late when threads compute, or have too little time to


class Work:
    """One call."""

    def __init__(self, function: Callable[[], Any], future: "asyncio.Future[Any]") -> None:
        self.function = function
        self.future = future
        # when it began, CPU time of the process and of its thread then, its clock
        self.thread: tuple[float, float, float, int] | None = None

    def run(self) -> Any:
        clock = time.pthread_getcpuclockid(get_ident()) if hasattr(time, "pthread_getcpuclockid") else -1
        self.thread = (time.monotonic(), time.process_time(), time.thread_time(), clock)
        return self.function()

    def waits(self, running: int) -> bool:
        """Whether it has done little but wait for longer than a moment."""
        if self.thread is None:
            return False
        began, of_all, before, clock = self.thread
        took = time.monotonic() - began
        if clock == -1 or took <= MOMENT:
            return False
        used = (time.process_time() - of_all) / took
        return time.clock_gettime(clock) - before < WAITS * took * (used / running if used > SATURATED else 1.0)

    def stop(self) -> None:
        if not self.future.done():
            self.future.set_exception(Problem("overloaded", "the service is stopping"))
            self.future.exception()  # marks it as retrieved

    def settle(self, done: "asyncio.Future[Any]") -> None:
        """Pass its result on, unless nobody wants it any more."""
        if self.future.done():
            return
        if done.cancelled():
            self.stop()
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
        self.calm = False  # whether the event loop came in time at its last look
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
                self.free += 1
                work.stop()
                continue
            self.running.add(work)
            loop.run_in_executor(self.pool, work.run).add_done_callback(partial(self.done, work))
        if self.queue and self.timer is None:
            self.timer = loop.call_later(MOMENT, self.look, loop.time() + MOMENT)

    def has_room(self) -> bool:
        running = len(self.running)
        if running < self.threads:
            return True
        if not self.calm or running >= self.threads * SPARE:
            return False
        return running - sum(work.waits(running) for work in self.running) < self.threads

    def look(self, due: float) -> None:
        self.timer, self.calm = None, asyncio.get_running_loop().time() - due < LATE
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
