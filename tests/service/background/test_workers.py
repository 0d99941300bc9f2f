"""Worker threads: calls that compute keep their places, calls that wait give them to others."""

import asyncio
import time
from threading import Event, Lock

import pytest

from afterglow.service.background.workers import Workers
from afterglow.service.problems import Problem
from testbed.service import START

THREADS = 24  # a call that computes beside 23 others gets less than a twentieth of the time


class Crowd:
    """Calls that compute, and how many did so at once."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.now = self.most = 0

    def compute(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        until = time.thread_time() + 0.03
        while time.thread_time() < until:
            sum(range(500))
        with self.lock:
            self.now -= 1


def test_calls_that_compute_are_not_taken_to_wait() -> None:
    crowd = Crowd()

    async def run() -> None:
        workers = Workers(THREADS, START)
        await asyncio.gather(*(workers.call(crowd.compute) for _ in range(2 * THREADS)))
        await asyncio.to_thread(workers.close)

    asyncio.run(run())
    assert crowd.most <= THREADS


def test_calls_that_wait_give_their_places_to_others() -> None:
    free = Event()

    async def run() -> None:
        workers = Workers(2, START)
        waiting = [asyncio.ensure_future(workers.call(free.wait, START)) for _ in range(6)]
        assert await asyncio.wait_for(workers.call(lambda: "here"), START) == "here"
        assert not any(one.done() for one in waiting)
        free.set()
        assert all(await asyncio.gather(*waiting))
        await asyncio.to_thread(workers.close)
        with pytest.raises(Problem, match="the service is stopping"):
            await workers.call(lambda: "late")

    asyncio.run(run())
