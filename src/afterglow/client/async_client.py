"""The client for programs with an event loop (asyncio)."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any

import httpx

from afterglow.client import calls
from afterglow.client.addresses import Addresses, elsewhere
from afterglow.client.async_sender import AsyncRewardSender
from afterglow.client.calls import Answer, Call
from afterglow.client.client import CLOSING, Followed, Json
from afterglow.client.config import ClientConfig, answer_of, arguments
from afterglow.client.delivery import LOG
from afterglow.client.event_stream import Stream
from afterglow.client.methods import ExperimentMethods, ServiceMethods
from afterglow.client.variant import Current
from afterglow.errors import AfterglowError, Unavailable


class AsyncClient(ServiceMethods[Awaitable[Json]]):
    """Talks to a service from one event loop."""

    _sender: AsyncRewardSender

    def __init__(self, address: str | Sequence[str], token: str, **settings: Any) -> None:
        self._config = ClientConfig(address=address, token=token, **settings)
        self._addresses = Addresses(self._config.addresses)
        self._handles = dict[tuple[str, str | None, str | None], AsyncExperiment]()
        self._http = httpx.AsyncClient(**self._config.options())
        self._sender = AsyncRewardSender(self._config, self._send)

    def experiment(self, name: str, default: str | None = None, unit: str | None = None) -> "AsyncExperiment":
        """A handle on an experiment; `default` is served until the service has answered once.

        In an experiment with units it is a handle on one `unit`: its variant, its rewards, its
        pins and voids; other commands are for all units.
        """
        return self._handles.setdefault((name, default, unit), AsyncExperiment(self, name, default, unit))

    def experiments(self, limit: int = 100) -> AsyncIterator[Json]:
        """All experiments, fetched page by page."""
        return self._pages("/v1/experiments", None, limit)

    async def follow(self, experiment: str | None = None, after: str | None = None) -> AsyncGenerator[Followed, None]:
        """Events as they happen, each with a cursor: `follow(after=cursor)` resumes after an interruption."""
        stream = Stream(after)
        given = self._config.following(self._addresses.current(), experiment, after)
        try:
            async with self._http.stream(**given) as response:
                if response.status_code != 200:
                    await response.aread()
                    raise calls.refusal(answer_of(response))
                async for line in response.aiter_lines():
                    if (event := stream.line(line)) is not None:
                        yield stream.cursor, event
        except httpx.TransportError as error:
            self._addresses.leave()
            raise self._config.unreachable(error) from error

    async def flush(self, timeout: float | None = None) -> None:
        """Wait until everything reported so far is delivered; `Undelivered` if some was refused or time is up."""
        await self._sender.flush(timeout)

    async def close(self, timeout: float | None = CLOSING) -> None:
        """Deliver waiting rewards, then close; `Undelivered` if that isn't possible in time."""
        try:
            await self._sender.close(timeout)
        finally:
            await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        try:
            await self.close()
        except AfterglowError as error:
            if kind is None:
                raise
            LOG.error("%s", error)

    async def _ask(self, call: Call) -> Json:
        answer: Json = calls.read(call, await self._send(call))
        return answer

    async def _send(self, call: Call, headers: Mapping[str, str] | None = None, timeout: float | None = None) -> Answer:
        """The answer of the service; Unavailable if there is none."""
        self._config.open(self._http.is_closed)
        failure: Exception | Answer | None = None
        for address in self._addresses.tries():
            given = arguments(address, call, headers)
            try:
                answer = answer_of(await self._http.request(**given, timeout=timeout or self._config.timeout))
            except (httpx.TransportError, httpx.DecodingError) as error:
                failure = error
            else:
                failure = answer
            if not elsewhere(call, failure):
                break
        if isinstance(failure, Answer):
            return failure
        self._addresses.leave()
        raise self._config.unreachable(failure or OSError("no address")) from failure

    async def _pages(self, path: str, after: object | None, limit: int) -> AsyncIterator[Json]:
        while True:
            page = await self._ask(calls.page(path, after, limit))
            for item in page["items"]:
                yield item
            after = page["next"]
            if after is None:
                return


class AsyncExperiment(ExperimentMethods[Awaitable[Json]]):
    """Made by `AsyncClient.experiment`."""

    def __init__(self, client: AsyncClient, name: str, default: str | None, unit: str | None) -> None:
        super().__init__(client, name, default, unit)
        self._client = client
        self._turn = asyncio.Lock()

    async def current(self) -> str:
        """The variant to serve, kept as long as the service allows; while it can't be reached, the last one."""
        return (await self.decision()).variant

    async def decision(self) -> Current:
        """The variant to serve, with its step, and whether it is a fallback."""
        asked = self._variant.asked
        known = self._variant.ready(asked)
        if known is not None:
            return known
        async with self._turn:
            return self._variant.ready(asked) or await self._fetch()

    async def _fetch(self) -> Current:
        asked = self._variant.ask()
        call = self._current()
        try:
            answer = await self._client._send(call, self._variant.headers(), self._client._config.current_timeout)
        except Unavailable as error:
            return self._variant.failed(error)
        return self._variant.answered(answer, asked)

    async def close_step(self, total: calls.Totals, step: int, metrics: calls.Metrics | None = None) -> Json:
        """End a step that has no schedule; None takes the sum of its rewards, which are delivered first.

        With units, `total` is a mapping from units to totals. `metrics` has the totals that guards watch, by name, and
        with units by unit.
        """
        if self._client.delivery.waiting:
            await self._client.flush(self._client._config.timeout)
        return await self._changing(calls.close(self.name, step, total, metrics))

    async def _changing(self, call: calls.Call) -> Json:
        """A call after which the variant may be another: none is kept, even if the answer is lost."""
        try:
            return await self._ask(call)
        finally:
            for handle in self._client._handles.values():
                if handle.name == self.name:
                    handle._variant.forget()

    def steps(self, after: int | None = None, limit: int = 1000) -> AsyncIterator[Json]:
        """Variant, role and total of each step, fetched page by page."""
        return self._client._pages(calls.of(self.name, "steps"), after, limit)

    def events(self, after: int | None = None, limit: int = 1000) -> AsyncIterator[Json]:
        """The log after record `after`, fetched page by page."""
        return self._client._pages(calls.of(self.name, "events"), after, limit)
