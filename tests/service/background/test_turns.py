"""Of several replicas one delivers. Its turn is given up whatever happens meanwhile, and not before it is over."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Event
from time import monotonic
from typing import Any, cast

import pytest

from afterglow import live
from afterglow.errors import Unavailable
from afterglow.live.domain.log import Place
from afterglow.live.experiments import Located
from afterglow.live.log_entries import LogEntry
from afterglow.live.store.access import Access, HookRow
from afterglow.service.background import webhook_delivery as module
from afterglow.service.background.webhook_delivery import Deliveries
from testbed.service import START

HOOK = HookRow("hook", "http://127.0.0.1:9/", "secret", None, None, 0)


class Turns:
    """Lends a turn once `allow` is set, and fails to take it back if it should."""

    def __init__(self, fails: bool = False) -> None:
        self.asked, self.allow, self.ended = Event(), Event(), Event()
        self.fails = fails

    @contextmanager
    def lead(self, purpose: str, lasts: float) -> Iterator[bool]:
        self.asked.set()
        assert self.allow.wait(START)
        try:
            yield True
        finally:
            self.ended.set()
            if self.fails:
                raise Unavailable("it went away")


class Log(Turns):
    """Three records of one experiment, and a webhook that wants them; `gone` says that it was deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.allow.set()
        self.gone = False
        self.place = -1
        self.head = 2

    def hooks(self) -> list[HookRow]:
        return [] if self.gone else [HOOK]

    def hook_places(self) -> dict[tuple[str, str], Place]:
        return {}

    def put_hook_places(self, places: dict[tuple[str, str], Place]) -> None:
        self.place = places[HOOK.id, "shipping"].seq

    def places(self) -> dict[str, Place]:
        return {"shipping": Place(self.head, 1000, b"")}

    def locate(self, places: dict[str, Place]) -> dict[str, Located]:
        return {name: Located(place.seq, False) for name, place in places.items()}

    def changes(self, after: dict[str, int], count: int, only: list[str]) -> list[tuple[str, LogEntry]]:
        return [("shipping", LogEntry(seq, 1.0, "pin", {}, "")) for seq in range(after["shipping"] + 1, self.head + 1)]


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


class Slow(Deliveries):
    """Its deliveries are `begun` and go on when they may."""

    def __init__(self, log: Log) -> None:
        super().__init__(cast(live.Experiments, log), cast(Access, log), "any")
        self.begun, self.may = asyncio.Event(), asyncio.Event()
        self.seqs = list[int]()

    async def deliver(self, http: Any, hook: HookRow, name: str, event: LogEntry) -> None:
        self.seqs.append(event.seq)
        self.begun.set()
        await self.may.wait()


def look(one: Slow, log: Log) -> None:
    """Find out what is to be sent, as a round does."""
    heads = log.places()
    one.note(heads, one.behind_of({HOOK.id: HOOK}, heads))


def test_a_record_that_is_found_while_a_delivery_ends_is_sent_too() -> None:
    """Heads are compared in a thread: what it finds counts only after the delivery, which forgets what it has sent."""

    async def serve() -> tuple[list[int], list[int]]:
        one = Slow(log)
        one.leading, one.until = True, inf
        one.may.set()
        look(one, log)
        log.head = 3
        heads = log.places()
        found = await one.ask(one.behind_of, {HOOK.id: HOOK}, heads)
        log.head = 2
        await one.serve(cast(Any, None), HOOK)  # it has read before the record came
        before, log.head = list(one.seqs), 3
        one.note(heads, found)
        await one.serve(cast(Any, None), HOOK)
        await asyncio.to_thread(one.pool.shutdown)
        return before, one.seqs

    log = Log()
    assert asyncio.run(serve()) == ([0, 1, 2], [0, 1, 2, 3])


def test_a_turn_is_kept_until_the_delivery_that_is_under_way_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next one to lead would deliver the same, and both would go on."""
    monkeypatch.setattr(module, "TERM", 0.0)
    monkeypatch.setattr(module, "LOOK", 0.0)

    async def lead() -> tuple[bool, list[int]]:
        one = Slow(log)
        one.leading, one.until = True, inf
        look(one, log)
        one.under_way["hook"] = asyncio.create_task(one.see_to(cast(Any, None), HOOK))
        await one.begun.wait()
        turn = asyncio.create_task(one.lead(cast(Any, None)))
        over, _ = await asyncio.wait([turn], timeout=0.3)  # time enough to give it up too early
        one.may.set()
        await asyncio.gather(turn, *one.under_way.values())
        await asyncio.to_thread(one.pool.shutdown)
        return not over, one.seqs

    log = Log()
    assert asyncio.run(lead()) == (True, [0])  # the next in turn goes on behind it
    assert (log.place, log.ended.is_set()) == (0, True)


def test_what_happens_after_a_webhook_is_deleted_is_not_delivered() -> None:
    """Though it was there when its turn came."""

    async def serve() -> list[int]:
        one = Slow(log)
        one.leading, one.until = True, inf
        look(one, log)
        one.may.set()
        await one.serve(cast(Any, None), HOOK)
        await asyncio.to_thread(one.pool.shutdown)
        return one.seqs

    log = Log()
    assert asyncio.run(serve()) == [0, 1, 2]
    log = Log()
    log.gone = True
    assert asyncio.run(serve()) == []


def test_a_process_that_was_frozen_beyond_its_term_delivers_and_stores_nothing() -> None:
    """Another one leads since then, and may be ahead of it."""

    async def goes_on(frozen: float) -> tuple[list[int], int]:
        log = Log()
        before, one = log.place, Slow(log)
        one.leading, one.until = True, monotonic() + module.TERM - frozen
        look(one, log)
        one.may.set()
        await one.serve(cast(Any, None), HOOK)
        one.unsaved = {(HOOK.id, "shipping"): Place(0, 0, b"")}
        await one.save()
        await asyncio.to_thread(one.pool.shutdown)
        return one.seqs, log.place - before

    assert asyncio.run(goes_on(0.0)) == ([0, 1, 2], 1)
    assert asyncio.run(goes_on(module.LASTS + 1.0)) == ([], 0)
