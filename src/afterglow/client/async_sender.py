"""Delivers rewards in a task, which starts with the first reward."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from decimal import Decimal

from afterglow.client import calls
from afterglow.client.calls import Answer, Call
from afterglow.client.config import ClientConfig
from afterglow.client.delivery import Delivery, delivery_of, raise_undelivered, report_refused, unanswered
from afterglow.errors import Unavailable


class AsyncRewardSender:
    """Everything happens in one event loop, so nothing needs a lock."""

    def __init__(self, config: ClientConfig, send: Callable[[Call], Awaitable[Answer]]) -> None:
        self._on_refused = config.on_refused
        self._send = send
        self._outbox = config.outbox()
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()  # for the task
        self._settled = asyncio.Event()  # for those who wait for it
        self._stopping = False

    def put(
        self, experiment: str, amount: float | Decimal, key: str | None, metric: str | None = None,
        unit: str | None = None,
    ) -> str:  # fmt: skip
        loop = asyncio.get_running_loop()
        key = self._outbox.put(experiment, amount, key, metric, unit)
        if self._task is None:
            self._task = loop.create_task(self._deliver(), name="afterglow-client")
        if self._outbox.stirs():
            self._wake.set()
        return key

    def delivery(self) -> Delivery:
        return delivery_of(self._outbox)

    async def flush(self, timeout: float | None) -> None:
        mark = self._outbox.hurry()
        await self._wait(mark, timeout)
        raise_undelivered(self._outbox, mark, timeout, lost=False)

    async def close(self, timeout: float | None) -> None:
        if self._stopping:
            return
        mark = self._outbox.close()
        await self._wait(mark, timeout)
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        raise_undelivered(self._outbox, mark, timeout, lost=True)

    async def _wait(self, mark: int, timeout: float | None) -> None:
        self._wake.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not self._outbox.settled(mark):
                    self._settled.clear()
                    await self._settled.wait()

    async def _deliver(self) -> None:
        while True:
            self._wake.clear()
            batch = self._outbox.take()
            if batch is not None:
                answer: Answer | Unavailable
                try:
                    if self._outbox.step_wanted(batch):
                        self._outbox.learn_step(batch, await self._send(calls.rewards(batch.experiment, [])))
                    self._outbox.sending(batch)
                    answer = await self._send(calls.rewards(batch.experiment, batch.given()))
                except Exception as error:
                    answer = unanswered(error)
                self._outbox.answered(batch, answer)
            elif not self._outbox.unreported:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._outbox.pause()):
                        await self._wake.wait()
            refused, self._outbox.unreported = self._outbox.unreported, []
            self._settled.set()
            report_refused(refused, self._on_refused)
