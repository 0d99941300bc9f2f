"""Thread pool for calls that may wait for the database, with a bounded queue and a time limit."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from afterglow.service.problems import Problem

Given = ParamSpec("Given")
Result = TypeVar("Result")
WAITING = 16  # queued calls per thread


class Workers:
    """A thread pool that refuses calls when its queue is full."""

    def __init__(self, threads: int, time_limit: float) -> None:
        self.pool = ThreadPoolExecutor(threads, "afterglow-worker")
        self.free = threads * WAITING
        self.time_limit = time_limit

    async def call(self, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Run a function and return its result; after the time limit fail with `too-slow`; the thread continues."""
        if not self.free:
            raise Problem("overloaded")
        self.free -= 1
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self.pool, lambda: function(*given, **named))
        future.add_done_callback(self.done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.time_limit)
        except TimeoutError as error:
            if future.done() and not future.cancelled() and future.exception() is error:
                raise
            raise Problem("too-slow") from error

    def done(self, future: "asyncio.Future[Result]") -> None:
        self.free += 1
        if not future.cancelled():
            future.exception()  # marks the exception as retrieved

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)
