"""Of several replicas one delivers. Its turn is given up whatever happens meanwhile."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, cast

import pytest

from afterglow import live
from afterglow.errors import Unavailable
from afterglow.live.store.access import Access
from afterglow.service.deliveries import Deliveries
from serving import START


class Turns:
    """Lends a turn once `allow` is set, and fails to take it back if it should."""

    def __init__(self, fails: bool = False) -> None:
        self.asked, self.allow, self.ended = Event(), Event(), Event()
        self.fails = fails

    @contextmanager
    def lead(self, purpose: str) -> Iterator[bool]:
        self.asked.set()
        assert self.allow.wait(START)
        try:
            yield True
        finally:
            self.ended.set()
            if self.fails:
                raise Unavailable("it went away")


async def cancelled(turns: Turns, while_asked: bool) -> bool:
    """Whether a task that has the turn, or asks for it, ends as cancelled."""
    deliveries = Deliveries(cast(live.Experiments, None), cast(Access, turns), "any")
    entered = asyncio.Event()

    async def deliver() -> None:
        async with deliveries.turn() as leads:
            assert leads
            entered.set()
            await asyncio.Event().wait()

    task: asyncio.Task[Any] = asyncio.create_task(deliver())
    if while_asked:
        await asyncio.to_thread(turns.asked.wait, START)
        task.cancel()
        await asyncio.sleep(0)
        turns.allow.set()
    else:
        turns.allow.set()
        await entered.wait()
        task.cancel()
    await asyncio.wait([task], timeout=START)
    await asyncio.to_thread(deliveries.pool.shutdown)
    return task.cancelled()


@pytest.mark.parametrize("while_asked", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_a_turn_is_given_up_whenever_the_service_stops_and_no_stop_is_lost(while_asked: bool, fails: bool) -> None:
    turns = Turns(fails)
    assert asyncio.run(cancelled(turns, while_asked))
    assert turns.ended.is_set()
