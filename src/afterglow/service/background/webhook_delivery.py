"""Webhook delivery: events are sent signed, in order for each experiment, at least once.

The place of each webhook is stored in the database, for all webhooks together every half second, so a restart repeats
what was delivered in the last half second at most. It has the hash of its record: if a log has lost that record,
because a standby was promoted or a backup restored, the webhook gets an event `rewound` and continues after the last
record that is older. One of several replicas delivers; if it is frozen, another takes over within a minute. A failed
delivery is retried after pauses that grow to ten minutes; no event is skipped.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx
import msgspec

from afterglow.client.backoff import Backoff
from afterglow.errors import AfterglowError, Unavailable
from afterglow.live import Experiments
from afterglow.live.domain.log import BEGINNING, Place
from afterglow.live.log_entries import REWOUND, LogEntry, rewound
from afterglow.live.store.access import Access, HookRow
from afterglow.service.background.webhook_call import LIMIT, calling, post
from afterglow.service.event_verdicts import EventVerdicts

LOG = logging.getLogger("afterglow.service.api.webhooks")
PURPOSE = "webhooks"
LOOK = 0.5  # seconds between polls of the log and the webhooks
TERM = 20.0  # seconds after which the lock is taken again, in case it was lost unnoticed
LASTS = TERM + LIMIT + 15.0  # seconds after which a process that is frozen has lost the lock
PAGE = 100
Result = TypeVar("Result")


class DeliveryLane:
    """Deliveries of one experiment to one webhook, in order."""

    def __init__(self, place: Place) -> None:
        self.place = place  # of the last record that was processed
        self.pauses = Backoff(random.random, first=1.0, most=600.0)
        self.later = 0.0  # when to retry, by the monotonic clock


class Deliveries:
    """Runs in the server's event loop; database calls run in threads of its own."""

    def __init__(self, experiments: Experiments, access: Access, reach: str, limit: float = LIMIT) -> None:
        self.experiments = experiments
        self.access = access
        self.reach = reach
        self.limit = limit
        self.event_verdicts = EventVerdicts(experiments)
        self.lanes: dict[tuple[str, str], DeliveryLane] = {}
        self.heads: dict[str, Place] = {}  # last records of all experiments, as far as they were looked at
        self.behind: dict[str, set[str]] = {}  # experiments with records to be sent, by webhook
        self.unsaved: dict[tuple[str, str], Place] = {}
        self.pool = ThreadPoolExecutor(2, "afterglow-webhooks")
        self.task: asyncio.Task[None] | None = None
        self.ending = False
        self.leading = False  # whether this process may begin deliveries
        self.until = 0.0  # the end of the term, by the monotonic clock
        self.under_way: dict[str, asyncio.Task[None]] = {}  # by webhook

    def start(self) -> None:
        if self.reach != "off":
            self.task = asyncio.get_running_loop().create_task(self.run(), name="afterglow-webhooks")

    async def stop(self) -> None:
        """Stop; a delivery that is interrupted is repeated after the next start."""
        self.ending = True  # a cancellation may be lost to an error of the database
        tasks = [*self.under_way.values(), *([self.task] if self.task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(None, self.pool.shutdown)

    async def ask(self, function: Callable[..., Result], *given: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.pool, lambda: function(*given))

    async def run(self) -> None:
        """Take the lock whenever it is free and deliver, until `stop`."""
        async with calling(self.limit) as http:
            while not self.ending:
                with self.going_on():
                    await self.lead(http)
                await asyncio.sleep(LOOK)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Log errors and continue."""
        try:
            yield
        except AfterglowError as error:
            if not isinstance(error, Unavailable):  # the ticker logs that the database is unavailable
                LOG.error("webhook delivery continues after an error: %s", error)
        except Exception:
            LOG.exception("webhook delivery continues after an error")

    async def lead(self, http: httpx.AsyncClient) -> None:
        """Deliver while this process holds the lock; deliveries in progress end before it is released."""
        async with self.turn() as leads:
            self.heads, self.behind, self.unsaved = {}, {}, {}  # another process may have delivered since
            self.until = time.monotonic() + TERM
            self.leading = leads
            try:
                while self.may_begin():
                    await self.round(http)
                    await asyncio.sleep(LOOK)
            finally:
                self.leading = False
                await asyncio.gather(*self.under_way.values(), return_exceptions=True)
                await self.save()

    def may_begin(self) -> bool:
        """Whether this process may begin a delivery: it leads, and its term isn't over, as it may be after a freeze."""
        return self.leading and time.monotonic() < self.until

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Whether this process holds the delivery lock. It is released at the end, also when cancelled while acquiring
        it; a failed release doesn't hide the cancellation."""
        lead = self.access.lead(PURPOSE, LASTS)
        asked = self.pool.submit(lead.__enter__)
        try:
            yield await asyncio.shield(asyncio.wrap_future(asked))
        finally:
            await self.ask(give_up, lead, asked)

    async def round(self, http: httpx.AsyncClient) -> None:
        """Start a task for every webhook; a slow one delays the others at the end of a term at most."""
        hooks = {hook.id: hook for hook in await self.ask(self.access.hooks)}
        if hooks.keys() - self.behind.keys():
            self.begin(await self.ask(self.access.hook_places))
        heads = await self.ask(self.experiments.places) if hooks else {}
        self.note(heads, await self.ask(self.behind_of, hooks, heads))
        await self.save()
        for gone in self.under_way.keys() - hooks.keys():
            self.under_way.pop(gone).cancel()
        self.lanes = {key: lane for key, lane in self.lanes.items() if key[0] in hooks}
        for hook in hooks.values():
            if hook.id not in self.under_way or self.under_way[hook.id].done():
                self.under_way[hook.id] = asyncio.create_task(self.see_to(http, hook))

    def begin(self, places: dict[tuple[str, str], Place]) -> None:
        """Continue from stored places, unless there are newer ones here."""
        for key, place in places.items():
            lane = self.lanes.setdefault(key, DeliveryLane(place))
            if key not in self.unsaved:
                lane.place = place

    def behind_of(self, hooks: dict[str, HookRow], heads: dict[str, Place]) -> dict[str, set[str]]:
        """Which experiments have records to be sent, by webhook; all are compared for a new webhook only.

        In a thread, which changes nothing: there may be thousands, for each of fifty webhooks. What is delivered
        meanwhile is a name too many, which costs a look.
        """
        changed = [name for name, head in heads.items() if self.heads.get(name) != head]
        found = dict[str, set[str]]()
        for hook in hooks.values():
            names = heads.keys() if hook.id not in self.behind else changed
            only = heads.keys() if hook.experiments is None else set(hook.experiments.split())
            found[hook.id] = {name for name in names if name in only and not self.reached(hook, name, heads)}
        return found

    def note(self, heads: dict[str, Place], behind: dict[str, set[str]]) -> None:
        """Take in new heads with what they add; in no thread: a delivery that ends between them would drop a name."""
        self.heads = heads
        self.behind = {id_: self.behind.get(id_, set()) | names for id_, names in behind.items()}

    def reached(self, hook: HookRow, name: str, heads: dict[str, Place]) -> bool:
        """Whether a webhook has all records of an experiment up to its head."""
        lane, head = self.lanes.get((hook.id, name)), heads.get(name)
        if head is None or head.seq < 0:
            return True
        return lane is not None and lane.place.seq == head.seq and head.hash.startswith(lane.place.hash)

    async def save(self) -> None:
        """Store places, all in one transaction, unless another process may have delivered since."""
        unsaved, self.unsaved = self.unsaved, {}
        if unsaved and time.monotonic() < self.until + LASTS - TERM:
            try:
                await self.ask(self.access.put_hook_places, unsaved)
            except BaseException:
                self.unsaved = unsaved | self.unsaved
                raise

    async def see_to(self, http: httpx.AsyncClient, hook: HookRow) -> None:
        with self.going_on():
            await self.serve(http, hook)

    async def serve(self, http: httpx.AsyncClient, hook: HookRow) -> None:
        """Deliver what is pending for one webhook, experiment by experiment."""
        for name in sorted(self.behind.get(hook.id, ())):
            lane = self.lanes.setdefault((hook.id, name), DeliveryLane(BEGINNING))
            if self.may_begin() and time.monotonic() >= lane.later:
                await self.catch_up(http, hook, name, lane)
                if self.reached(hook, name, self.heads) and hook.id in self.behind:
                    self.behind[hook.id].discard(name)

    async def catch_up(self, http: httpx.AsyncClient, hook: HookRow, name: str, lane: DeliveryLane) -> None:
        """Deliver one page of the log, up to the first failure or the loss of the lock."""
        found = await self.ask(self.read, name, lane.place)
        if hook not in await self.ask(self.access.hooks):
            return  # it was deleted meanwhile
        for event in found:
            if not self.may_begin():
                return
            if wanted(hook, event) and not await self.sent(http, hook, name, lane, event):
                return
            lane.place = event.place()
            if wanted(hook, event):
                self.unsaved[hook.id, name] = lane.place
        if len(found) >= PAGE:
            self.unsaved[hook.id, name] = lane.place  # so that unwanted records are not read again after a restart

    def read(self, name: str, place: Place) -> list[LogEntry]:
        """The next records after a place; before them an event that says so, if the log has lost it."""
        located = self.experiments.locate({name: place}).get(name)
        if located is None:
            return []
        found = [event for _, event in self.experiments.changes({name: located.seq}, PAGE, [name])]
        if not located.lost:
            return found
        LOG.error("the log of %s has lost record %d, which a webhook has received", name, place.seq)
        return [rewound(place.seq, located.seq, located.hash, self.experiments.now()), *found]

    async def sent(
        self, http: httpx.AsyncClient, hook: HookRow, name: str, lane: DeliveryLane, event: LogEntry
    ) -> bool:
        """Deliver an event; after a failure its lane pauses."""
        wrong = await self.deliver(http, hook, name, event)
        if wrong is None:
            lane.pauses.over()
            return True
        pause = lane.pauses.next()
        lane.later = time.monotonic() + pause
        failed = "webhook %s failed for %s/%d: %s; retrying in %.0f s"
        LOG.warning(failed, hook.id, name, event.seq, wrong, pause)
        return False

    async def deliver(self, http: httpx.AsyncClient, hook: HookRow, name: str, event: LogEntry) -> str | None:
        """Why a delivery failed; None if it succeeded."""
        body = msgspec.json.encode(await self.ask(self.event_verdicts.data, name, event))
        return await post(http, hook, self.reach, delivery_id(name, event), body, self.limit)


def give_up(lead: AbstractContextManager[bool], asked: Future[bool]) -> None:
    """Release the lock, if it was acquired."""
    if asked.exception() is None:
        try:
            lead.__exit__(None, None, None)
        except Exception as error:
            LOG.debug("the lock was released with its connection: %s", error)


def wanted(hook: HookRow, event: LogEntry) -> bool:
    """Whether a webhook receives an event: one of its kinds, and not older than the webhook."""
    kinds = None if hook.kinds is None else [REWOUND, *hook.kinds.split()]
    return (kinds is None or event.kind in kinds) and round(1000 * event.at) >= hook.created


def delivery_id(name: str, event: LogEntry) -> str:
    return f"{name}/{event.seq}" + (f"-{REWOUND}" if event.kind == REWOUND else "")
