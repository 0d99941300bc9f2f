"""The reward writer's threads: experiments that wait get others in their place, and never all of them."""

import asyncio
import weakref
from collections.abc import Iterator
from threading import Event, Thread

import pytest

import afterglow
from afterglow.live import Experiment, Receipt
from afterglow.service.background import reward_writer
from afterglow.service.background.reward_writer import THREADS, Future, RewardWriter
from testbed.quick_disk import quick_folder
from testbed.service import START

BATCH = [("a", 1.0, None, None, None)]


@pytest.fixture
def experiments() -> Iterator[list[Experiment]]:
    with quick_folder() as folder, afterglow.live.open(f"{folder}/experiments.db") as made:
        yield [made.create(f"e{n}", ["49", "59"], window=1, policy="ucb1") for n in range(2 * THREADS)]


def test_experiments_that_wait_again_and_again_leave_threads_for_the_others(
    experiments: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice: the first time they get all threads, because nobody knows yet that they wait."""
    *stuck, quick = experiments
    free = Event()

    def report(self: Experiment, batches: list[object]) -> list[Receipt]:
        if self is not quick:
            assert free.wait(START)
        return [Receipt(0, 1, 0)] * len(batches)

    monkeypatch.setattr(Experiment, "report", report)
    monkeypatch.setattr(reward_writer, "MOST", THREADS + 2)
    writer = RewardWriter(1000, START, lambda name, answer: None)

    async def run() -> None:
        writer.start()
        waiting: list[Future] = [writer.put(one, BATCH) for one in stuck]
        while len(writer.writing) < THREADS + 2:
            await asyncio.sleep(0.01)
        held = writer.put(quick, BATCH)
        await asyncio.sleep(0.2)
        assert not held.done()
        free.set()
        await asyncio.gather(held, *waiting)
        free.clear()
        waiting = [writer.put(one, BATCH) for one in stuck if one in writer.slow]
        assert len(waiting) > 2
        assert (await asyncio.wait_for(writer.put(quick, BATCH), START)).accepted == 1
        assert not any(one.done() for one in waiting)
        free.set()
        await asyncio.gather(*waiting)
        await asyncio.to_thread(writer.close, START)

    asyncio.run(run())
    assert (writer.held, writer.waiting, writer.writing, writer.threads) == (0, {}, {}, set())


def test_threads_that_are_no_longer_needed_end(experiments: list[Experiment], monkeypatch: pytest.MonkeyPatch) -> None:
    free = Event()
    monkeypatch.setattr(Experiment, "report", lambda self, batches: free.wait(START) and [Receipt(0, 1, 0)])
    writer = RewardWriter(1000, START, lambda name, answer: None)

    async def run() -> None:
        writer.start()
        waiting = [writer.put(one, BATCH) for one in experiments]
        while len(writer.writing) < len(experiments):
            await asyncio.sleep(0.01)
        free.set()
        await asyncio.gather(*waiting)
        while len(writer.threads) > THREADS:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(writer.close, START)

    asyncio.run(run())
    assert not writer.threads


class Sent(list[tuple[str, float, None, None, None]]):
    """A batch that can be watched."""


def test_what_is_written_is_let_go_while_the_thread_waits_for_more(experiments: list[Experiment]) -> None:
    writer = RewardWriter(1000, START, lambda name, answer: None)

    async def run() -> None:
        writer.start()
        for round_ in range(2 * THREADS):
            batch = Sent([(f"key {round_}", 1.0, None, None, None)])
            watched = weakref.ref(batch)
            assert (await writer.put(experiments[0], batch)).accepted == 1
            del batch
            for _ in range(3000):
                if watched() is None:
                    break
                await asyncio.sleep(0.01)
            assert watched() is None
        await asyncio.to_thread(writer.close, START)

    asyncio.run(run())


def test_a_thread_that_the_system_refuses_is_asked_for_again(
    experiments: list[Experiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    *stuck, quick = experiments[: THREADS + 1]
    free, refused = Event(), list[int]()
    start = Thread.start

    def report(self: Experiment, batches: list[object]) -> list[Receipt]:
        if self is not quick:
            assert free.wait(START)
        return [Receipt(0, 1, 0)] * len(batches)

    def sometimes(self: Thread) -> None:
        if not refused:
            refused.append(1)
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(Experiment, "report", report)
    writer = RewardWriter(1000, START, lambda name, answer: None)

    async def run() -> None:
        writer.start()
        waiting: list[Future] = [writer.put(one, BATCH) for one in stuck]
        while len(writer.writing) < THREADS:
            await asyncio.sleep(0.01)
        monkeypatch.setattr(Thread, "start", sometimes)
        assert (await asyncio.wait_for(writer.put(quick, BATCH), START)).accepted == 1
        assert refused
        assert all(thread.is_alive() for thread in writer.threads)
        free.set()
        await asyncio.gather(*waiting)
        await asyncio.to_thread(writer.close, START)

    asyncio.run(run())
