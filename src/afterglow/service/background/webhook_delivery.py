"""Webhooks: what happened is sent to addresses, signed, in order for each experiment, at least once.

How far a webhook is, is kept in the database, so a restart goes on behind the last delivery that was acknowledged. Of
several replicas one delivers. An address that fails is tried again after pauses that grow to ten minutes; nothing
is skipped, for the log has it all.
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
from afterglow.client.signatures import HEADER, signature
from afterglow.errors import AfterglowError, Unavailable
from afterglow.live import Experiments
from afterglow.live.follower import LogEntry
from afterglow.live.store.access import Access, HookRow
from afterglow.service.api.views import event_view
from afterglow.service.background.addresses import located

LOG = logging.getLogger("afterglow.service.api.webhooks")
PURPOSE = "webhooks"
LOOK = 0.5  # seconds between looks at the log and the webhooks
TERM = 20.0  # seconds after which the turn is taken anew, should it have been lost unnoticed
LIMIT = 10.0  # seconds for a delivery, all in all
PAGE = 100
Result = TypeVar("Result")


class DeliveryLane:
    """One webhook and one experiment: its deliveries are in order."""

    def __init__(self) -> None:
        self.place: int | None = None  # seq of the last record that is done with, once it was looked up
        self.pauses = Backoff(random.random, first=1.0, most=600.0)
        self.later = 0.0  # by the monotonic clock


class Deliveries:
    """Runs in the event loop of the server; the database is asked in threads of its own."""

    def __init__(self, experiments: Experiments, access: Access, reach: str, limit: float = LIMIT) -> None:
        self.experiments = experiments
        self.access = access
        self.reach = reach
        self.limit = limit
        self.lanes: dict[tuple[str, str], DeliveryLane] = {}
        self.pool = ThreadPoolExecutor(2, "afterglow-webhooks")
        self.task: asyncio.Task[None] | None = None
        self.ending = False
        self.leading = False  # whether another delivery may be begun
        self.under_way: dict[str, asyncio.Task[None]] = {}  # by webhook

    def start(self) -> None:
        if self.reach != "off":
            self.task = asyncio.get_running_loop().create_task(self.run(), name="afterglow-webhooks")

    async def stop(self) -> None:
        """A delivery that is under way is made again after the next start."""
        self.ending = True  # for a cancellation may be lost to an error of the database
        tasks = [*self.under_way.values(), *([self.task] if self.task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(None, self.pool.shutdown)

    async def ask(self, function: Callable[..., Result], *given: Any) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.pool, lambda: function(*given))

    async def run(self) -> None:
        """Wait until it is this process's turn, then deliver, until `stop`."""
        async with calling(self.limit) as http:
            while not self.ending:
                with self.going_on():
                    await self.lead(http)
                await asyncio.sleep(LOOK)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Errors end what is done now, and no more."""
        try:
            yield
        except AfterglowError as error:
            if not isinstance(error, Unavailable):  # the watch tells that the database is away
                LOG.error("webhooks go on after an error: %s", error)
        except Exception:
            LOG.exception("webhooks go on after an error")

    async def lead(self, http: httpx.AsyncClient) -> None:
        """Deliver as long as this process is the one to do it; what is under way ends before another takes its turn."""
        async with self.turn() as leads:
            for lane in self.lanes.values():
                lane.place = None  # another process may have gone on
            end = time.monotonic() + TERM
            self.leading = leads
            try:
                while leads and time.monotonic() < end:
                    await self.round(http)
                    await asyncio.sleep(LOOK)
            finally:
                self.leading = False
                await asyncio.gather(*self.under_way.values(), return_exceptions=True)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[bool]:
        """Whether this process is the one to deliver. It is given up in the end, even if that comes while it is asked
        for; that this can fail hides no cancellation."""
        lead = self.access.lead(PURPOSE)
        asked = self.pool.submit(lead.__enter__)
        try:
            yield await asyncio.shield(asyncio.wrap_future(asked))
        finally:
            await self.ask(give_up, lead, asked)

    async def round(self, http: httpx.AsyncClient) -> None:
        """See to every webhook; one that is slow holds up the others at the end of a term at most."""
        hooks = {hook.id: hook for hook in await self.ask(self.access.hooks)}
        heads = await self.ask(self.experiments.heads) if hooks else {}
        for gone in self.under_way.keys() - hooks.keys():
            self.under_way.pop(gone).cancel()
        self.lanes = {key: lane for key, lane in self.lanes.items() if key[0] in hooks}
        for hook in hooks.values():
            if hook.id not in self.under_way or self.under_way[hook.id].done():
                self.under_way[hook.id] = asyncio.create_task(self.see_to(http, hook, heads))

    async def see_to(self, http: httpx.AsyncClient, hook: HookRow, heads: dict[str, int]) -> None:
        with self.going_on():
            await self.serve(http, hook, heads)

    async def serve(self, http: httpx.AsyncClient, hook: HookRow, heads: dict[str, int]) -> None:
        """What waits for one webhook, experiment by experiment."""
        names = None if hook.experiments is None else hook.experiments.split()
        for name, head in heads.items():
            if self.leading and (names is None or name in names):
                lane = self.lanes.setdefault((hook.id, name), DeliveryLane())
                if lane.place is None:
                    lane.place = await self.ask(self.access.hook_place, hook.id, name)
                if lane.place < head and time.monotonic() >= lane.later:
                    await self.catch_up(http, hook, name, lane, lane.place)

    async def catch_up(self, http: httpx.AsyncClient, hook: HookRow, name: str, lane: DeliveryLane, place: int) -> None:
        """One page of the log, or up to the first delivery that fails, or to the end of the turn."""
        found = await self.ask(self.experiments.changes, {name: place}, PAGE, [name])
        if hook not in await self.ask(self.access.hooks):
            return  # what happened since it was deleted is none of its business
        for _, event in found:
            if not self.leading:
                return
            if wanted(hook, event):
                wrong = await self.deliver(http, hook, name, event)
                if wrong is not None:
                    pause = lane.pauses.next()
                    lane.later = time.monotonic() + pause
                    LOG.warning(
                        "webhook %s did not take %s/%d: %s; tried again in %.0f s",
                        hook.id,
                        name,
                        event.seq,
                        wrong,
                        pause,
                    )
                    return
                lane.pauses.over()
            await self.ask(self.access.put_hook_place, hook.id, name, event.seq)
            lane.place = event.seq

    async def deliver(self, http: httpx.AsyncClient, hook: HookRow, name: str, event: LogEntry) -> str | None:
        """Why a delivery failed; None if it was taken."""
        body = body_of(name, event)
        try:
            async with asyncio.timeout(self.limit):
                url, host, tls_name = await located(hook.address, self.reach)
                headers = {
                    "host": host, "content-type": "application/json", "user-agent": "afterglow-webhooks",
                    "afterglow-delivery": f"{name}/{event.seq}", HEADER: signature(hook.secret, body, time.time()),
                }  # fmt: skip
                request = http.build_request(
                    "POST", url, content=body, headers=headers, extensions={"sni_hostname": tls_name}
                )
                response = await http.send(request, stream=True)  # the answer's body is of no interest
                await response.aclose()
        except TimeoutError:
            return f"no answer within {self.limit:g} s"
        except (httpx.HTTPError, OSError, AfterglowError) as error:
            return str(error) or type(error).__name__
        return None if response.is_success else f"it answered {response.status_code}"


def give_up(lead: AbstractContextManager[bool], asked: Future[bool]) -> None:
    """Leave a turn once it is clear whether it was entered."""
    if asked.exception() is None:
        try:
            lead.__exit__(None, None, None)
        except Exception as error:
            LOG.debug("the turn ended with its connection: %s", error)


def calling(limit: float) -> httpx.AsyncClient:
    """Calls addresses themselves, without proxies; certificates may be signed by whom this machine trusts.

    Every delivery has a connection of its own: one that was opened for a name must not serve another name at the same
    address, whose certificate nobody has looked at.
    """
    trust = httpx.create_ssl_context(trust_env=False)
    trust.load_default_certs()
    alone = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=limit, follow_redirects=False, trust_env=False, verify=trust, limits=alone)


def wanted(hook: HookRow, event: LogEntry) -> bool:
    """Whether a webhook is told of an event: one of its kinds, and not from before it was there."""
    return (hook.kinds is None or event.kind in hook.kinds.split()) and round(1000 * event.at) >= hook.created


def body_of(name: str, event: LogEntry) -> bytes:
    """The event as it is in the stream of events."""
    data = {"experiment": name} | event_view(event)
    del data["hash"]
    return msgspec.json.encode(data)
