"""The client for programs with threads, or without."""

import atexit
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any
from weakref import WeakSet

import httpx

from afterglow.client import calls
from afterglow.client.addresses import Addresses, elsewhere
from afterglow.client.calls import Answer, Call
from afterglow.client.config import ClientConfig, answer_of, arguments
from afterglow.client.delivery import LOG
from afterglow.client.event_stream import Stream
from afterglow.client.methods import ExperimentMethods, ServiceMethods
from afterglow.client.sender import RewardSender
from afterglow.client.variant import Current
from afterglow.errors import AfterglowError, Unavailable

Json = dict[str, Any]
Followed = tuple[str | None, Json]  # a cursor and an event
CLOSING = 5.0  # seconds


class Client(ServiceMethods[Json]):
    """Talks to a service. May be used by several threads, and after a fork."""

    _sender: RewardSender

    def __init__(self, address: str | Sequence[str], token: str, **settings: Any) -> None:
        self._config = ClientConfig(address=address, token=token, **settings)
        self._addresses = Addresses(self._config.addresses)
        self._handles = dict[tuple[str, str | None, str | None], Experiment]()
        self._begin()
        CLIENTS.add(self)

    def _begin(self) -> None:
        """Create what a forked process needs of its own: connections, locks, a thread; rewards stay with the parent."""
        self._http = httpx.Client(**self._config.options())
        self._sender = RewardSender(self._config, self._send, self._http.close)
        for handle in self._handles.values():
            handle._turn = Lock()

    def experiment(self, name: str, default: str | None = None, unit: str | None = None) -> "Experiment":
        """A handle on an experiment; `default` is served until the service has answered once.

        In an experiment with units it is a handle on one `unit`: its variant, its rewards, its
        pins and voids; other commands are for all units.
        """
        return self._handles.setdefault((name, default, unit), Experiment(self, name, default, unit))

    def experiments(self, limit: int = 100) -> Iterator[Json]:
        """All experiments, fetched page by page."""
        return self._pages("/v1/experiments", None, limit)

    def follow(self, experiment: str | None = None, after: str | None = None) -> Generator[Followed, None, None]:
        """Events as they happen, each with a cursor: `follow(after=cursor)` resumes after an interruption."""
        stream = Stream(after)
        given = self._config.following(self._addresses.current(), experiment, after)
        try:
            with self._http.stream(**given) as response:
                if response.status_code != 200:
                    response.read()
                    raise calls.refusal(answer_of(response))
                for line in response.iter_lines():
                    if (event := stream.line(line)) is not None:
                        yield stream.cursor, event
        except httpx.TransportError as error:
            self._addresses.leave()
            raise self._config.unreachable(error) from error

    def flush(self, timeout: float | None = None) -> None:
        """Wait until everything reported so far is delivered; `Undelivered` if some was refused or time is up."""
        self._sender.flush(timeout)

    def close(self, timeout: float | None = CLOSING) -> None:
        """Deliver waiting rewards, then close; `Undelivered` if that isn't possible in time."""
        CLIENTS.discard(self)
        self._sender.close(timeout)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        if kind is None:
            self.close()
        else:
            close_quietly(self)

    def _ask(self, call: Call) -> Json:
        answer: Json = calls.read(call, self._send(call))
        return answer

    def _send(self, call: Call, headers: Mapping[str, str] | None = None, timeout: float | None = None) -> Answer:
        """The answer of the service; Unavailable if there is none."""
        self._config.open(self._http.is_closed)
        failure: Exception | Answer | None = None
        for address in self._addresses.tries():
            given = arguments(address, call, headers)
            try:
                answer = answer_of(self._http.request(**given, timeout=timeout or self._config.timeout))
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

    def _pages(self, path: str, after: object | None, limit: int) -> Iterator[Json]:
        while True:
            page = self._ask(calls.page(path, after, limit))
            yield from page["items"]
            after = page["next"]
            if after is None:
                return


class Experiment(ExperimentMethods[Json]):
    """Made by `Client.experiment`."""

    def __init__(self, client: Client, name: str, default: str | None, unit: str | None) -> None:
        super().__init__(client, name, default, unit)
        self._client = client
        self._turn = Lock()

    def current(self) -> str:
        """The variant to serve, kept as long as the service allows; while it can't be reached, the last one."""
        return self.decision().variant

    def decision(self) -> Current:
        """The variant to serve, with its step, and whether it is a fallback."""
        asked = self._variant.asked
        known = self._variant.ready(asked)
        if known is not None:
            return known
        with self._turn:
            return self._variant.ready(asked) or self._fetch()

    def _fetch(self) -> Current:
        asked = self._variant.ask()
        call = self._current()
        try:
            answer = self._client._send(call, self._variant.headers(), self._client._config.current_timeout)
        except Unavailable as error:
            return self._variant.failed(error)
        return self._variant.answered(answer, asked)

    def close_step(self, total: calls.Totals, step: int, metrics: calls.Metrics | None = None) -> Json:
        """End a step that has no schedule; None takes the sum of its rewards, which are delivered first.

        With units, `total` is a mapping from units to totals. `metrics` has the totals that guards watch, by name, and
        with units by unit.
        """
        if self._client.delivery.waiting:
            self._client.flush(self._client._config.timeout)
        return self._changing(calls.close(self.name, step, total, metrics))

    def _changing(self, call: calls.Call) -> Json:
        """A call after which the variant may be another: none is kept, even if the answer is lost."""
        try:
            return self._ask(call)
        finally:
            for handle in self._client._handles.values():
                if handle.name == self.name:
                    handle._variant.forget()

    def steps(self, after: int | None = None, limit: int = 1000) -> Iterator[Json]:
        """Variant, role and total of each step, fetched page by page."""
        return self._client._pages(calls.of(self.name, "steps"), after, limit)

    def events(self, after: int | None = None, limit: int = 1000) -> Iterator[Json]:
        """The log after record `after`, fetched page by page."""
        return self._client._pages(calls.of(self.name, "events"), after, limit)


def close_quietly(client: Client) -> None:
    """Close, and log errors instead of raising them."""
    try:
        client.close()
    except AfterglowError as error:
        LOG.error("%s", error)


def close_all() -> None:
    for client in list(CLIENTS):
        close_quietly(client)


def begin_all() -> None:
    for client in list(CLIENTS):
        client._begin()


CLIENTS = WeakSet[Client]()
atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_all)
