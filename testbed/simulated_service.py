"""The service's reward writer, ticker and webhook delivery on a simulated event loop: all is done when it is asked for.

The parts are the real ones. In place of threads, `RewardWriter.work` and `Ticker.take_in` are called; in place of the
event loop there is one that calls at once; in place of the network there is a receiver whose answers may be lost.
"""

import math
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, TypeVar, cast

import httpx

from afterglow.live import Experiment, Experiments, Receipt
from afterglow.live.log_entries import REWOUND, LogEntry
from afterglow.live.store.access import Access, HookRow
from afterglow.service.auth.tokens import TokenCache
from afterglow.service.background.event_ids import Places
from afterglow.service.background.reward_writer import Batch, RewardWriter
from afterglow.service.background.ticker import Ticker
from afterglow.service.background.webhook_delivery import Deliveries
from afterglow.service.metrics import Metrics
from afterglow.service.problems import Problem

HOOK = HookRow("hook", "https://receiver.example", "secret", None, None, 0)
LOST = 0.2  # probability that the receiver has an event, and its answer is lost
METRICS = Metrics()  # one for all lives: nothing depends on them
Result = TypeVar("Result")


class Answer:
    """A future that is resolved by whoever has it."""

    def __init__(self) -> None:
        self.receipt: Receipt | None = None
        self.problem: Problem | None = None

    def done(self) -> bool:
        return self.receipt is not None or self.problem is not None

    def set_result(self, receipt: Receipt) -> None:
        self.receipt = receipt

    def set_exception(self, problem: Problem) -> None:
        self.problem = problem


class Loop:
    """An event loop in which everything that is to be called is called at once."""

    def create_future(self) -> Answer:
        return Answer()

    def time(self) -> float:
        return 0.0

    def call_later(self, seconds: float, function: Callable[[], None]) -> None: ...

    def call_soon_threadsafe(self, function: Callable[..., None], *given: Any) -> None:
        function(*given)


def finished(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as ended:
        return cast(Result, ended.value)
    raise AssertionError("it waits for something")


class Receiver:
    """Where webhooks are sent to: what it has got, in order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.got: list[LogEntry] = []

    def take(self, event: LogEntry) -> str | None:
        """What the sender is told: nothing if all is well."""
        chance = self.random.random()
        if chance < LOST / 2:
            return "refused"
        self.got.append(event)
        return "the answer was lost" if chance < LOST else None

    def check(self) -> None:
        """In order: nothing came before the record that it follows."""
        known = {-1}
        for event in self.got:
            assert event.kind == REWOUND or event.seq - 1 in known, f"record {event.seq} was sent before the last one"
            known.add(event.seq)


class SimulatedDeliveries(Deliveries):
    """Deliveries of one process, to a receiver that can't be reached over a network."""

    def __init__(self, experiments: Experiments, access: Access, receiver: Receiver) -> None:
        super().__init__(experiments, access, "any")
        self.pool.shutdown()
        self.receiver = receiver

    async def ask(self, function: Callable[..., Result], *given: Any) -> Result:
        return function(*given)

    async def deliver(self, http: httpx.AsyncClient, hook: HookRow, name: str, event: LogEntry) -> str | None:
        return self.receiver.take(event)

    def begin_term(self) -> None:
        """This process has the lock; another may have delivered since it had it last."""
        self.heads, self.behind, self.unsaved, self.leading = {}, {}, {}, True
        self.until = math.inf  # `end_term` ends it, not the time of this machine

    def end_term(self) -> None:
        self.leading = False
        finished(self.save())

    def is_idle(self) -> bool:
        """Whether all is delivered and stored."""
        return not self.behind.get(HOOK.id, True) and not self.unsaved

    def look(self) -> None:
        """One round, of which the deliveries are part, not tasks of their own."""
        if not self.behind:
            self.begin(self.access.hook_places())
        heads = self.experiments.places()
        self.note(heads, self.behind_of({HOOK.id: HOOK}, heads))
        finished(self.save())
        for lane in self.lanes.values():
            lane.later = 0.0
        finished(self.serve(cast(httpx.AsyncClient, None), HOOK))


class SimulatedService:
    """The parts of one process."""

    def __init__(self, experiments: Experiments, access: Access, receiver: Receiver) -> None:
        self.loop = Loop()
        self.writer = RewardWriter(1000, 10.0, lambda name, answer: None)
        self.writer.loop = cast(Any, self.loop)
        self.ticker = Ticker(experiments, cast(TokenCache, None), METRICS)
        self.ticker.loop = cast(Any, self.loop)
        self.deliveries = SimulatedDeliveries(experiments, access, receiver)

    def report(self, experiment: Experiment, batches: list[Batch]) -> list[Answer]:
        """Batches that arrived during one commit."""
        answers = [cast(Any, self.writer.put(experiment, batch)) for batch in batches]
        self.writer.open = False
        self.writer.work()
        self.writer.open = True
        return answers

    def news(self) -> None:
        """Read new records for the streams."""
        ticker = self.ticker
        if ticker.seen is None:
            ticker.seen = Places(ticker.experiments.places())
        ticker.take_in(ticker.seen)
