"""The clients of a storm: they send until they are answered, and keep account of what they know."""

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Sequence
from itertools import count
from random import Random
from threading import Condition, Event
from time import monotonic
from typing import Any, NamedTuple, Protocol

import httpx

from testbed.service import Serving, slug

PATIENCE = 60.0  # seconds in which whatever is waited for must happen
AGAIN = 0.02  # seconds between tries
PACE = 0.2  # seconds between orders, at most
VARIANTS = ["49", "59", "69"]
ORDERS = ("pin", "unpin", "pause", "resume", "disable", "enable", "void")


class Weather(Protocol):
    """What clients know of the storm."""

    services: Sequence[Serving]
    name: str
    close_every: int
    step: int  # the latest that anybody has heard of
    acknowledged: int  # rewards
    progress: Condition
    up: Event
    ending: Event

    def heard(self, step: int, rewards: int = 0) -> None: ...


class Batch(NamedTuple):
    rewards: list[tuple[str, int]]  # key, micro-units

    @property
    def total(self) -> int:
        return sum(amount for _, amount in self.rewards)

    def body(self) -> Any:
        made = [{"key": key, "amount": amount / 1e6} for key, amount in self.rewards]
        return made if len(made) > 1 else made[0]


class Unsure(NamedTuple):
    """A batch that came through though its answer was lost: it is in one of these steps."""

    first: int
    last: int
    total: int


class Caller(ABC):
    """Sends until it is answered, to the next service if one doesn't."""

    def __init__(self, storm: Weather, number: int) -> None:
        self.storm = storm
        self.number = number
        self.seen = dict[int, set[str]]()  # variants by step
        service = storm.services[number % len(storm.services)]
        self.http = service.client()
        self.again = 0  # calls that were tried more than once

    def send(self, method: str, path: str, body: Any = None) -> tuple[httpx.Response, int]:
        """The answer, and how often it was tried."""
        deadline = monotonic() + PATIENCE
        for tries in count(1):
            services = self.storm.services
            address = services[(self.number + tries - 1) % len(services)].address
            try:
                answer = self.http.request(method, f"{address}/v1/experiments/{self.storm.name}/{path}", json=body)
            except httpx.TransportError:
                pass
            else:
                if answer.status_code != 503:
                    self.again += tries > 1
                    return answer, tries
                assert int(answer.headers["retry-after"]) > 0
            if not self.storm.up.is_set():
                assert self.storm.up.wait(PATIENCE)
                deadline = monotonic() + PATIENCE  # it may be killed again before it could answer
            assert monotonic() < deadline
            self.storm.ending.wait(AGAIN)
        raise AssertionError

    @abstractmethod
    def run(self) -> None:
        """Until the storm ends."""

    def see(self, decision: dict[str, Any]) -> None:
        self.seen.setdefault(decision["step"], set()).add(decision["variant"])


class Client(Caller):
    def __init__(self, storm: Weather, seed: str, number: int) -> None:
        super().__init__(storm, number)
        self.random = Random(seed)
        self.key = seed
        self.numbers = count()
        self.sent = 0  # micro-units, each key once
        self.taken = Counter[int]()  # micro-units by the step that the receipt names
        self.unsure = list[Unsure]()
        self.kept = deque[tuple[int, Batch]](maxlen=20)
        self.batches = self.retried = self.repeated = 0

    def run(self) -> None:
        while not self.storm.ending.is_set():
            self.report()
            chance = self.random.random()
            if chance < 0.1:
                self.repeat()
            elif chance < 0.15:
                self.contradict()
            elif chance < 0.4:
                self.ask()

    def report(self) -> None:
        size = 1 if self.random.random() < 0.5 else self.random.randrange(2, 60)
        batch = Batch([
            (f"{self.key} {next(self.numbers)}", self.random.randrange(1, 10**9)) for _ in range(size)
        ])  # fmt: skip
        first = self.storm.step
        answer, tries = self.send("POST", "rewards", batch.body())
        assert answer.status_code == 202, answer.text
        receipt = answer.json()
        step = receipt["step"]
        assert step >= first
        self.batches += 1
        self.retried += tries > 1
        self.sent += batch.total
        if receipt["accepted"] == size:
            self.taken[step] += batch.total
        else:
            assert (receipt["accepted"], receipt["duplicates"]) == (0, size)
            assert tries > 1
            self.unsure.append(Unsure(first, step, batch.total))
        self.kept.append((step, batch))
        self.storm.heard(step, size)

    def known(self) -> Batch | None:
        """A batch that was acknowledged; its keys are known for an hour at least."""
        return self.random.choice(self.kept)[1] if self.kept else None

    def repeat(self) -> None:
        batch = self.known()
        if batch is not None:
            receipt = self.send("POST", "rewards", batch.body())[0].json()
            assert (receipt["accepted"], receipt["duplicates"]) == (0, len(batch.rewards))
            self.repeated += 1

    def contradict(self) -> None:
        batch = self.known()
        if batch is not None:
            key, amount = self.random.choice(batch.rewards)
            answer = self.send("POST", "rewards", {"key": key, "amount": (amount + 1) / 1e6})[0]
            assert slug(answer) == "key-reused"

    def ask(self) -> None:
        decision = self.send("GET", "current")[0].json()
        self.see(decision)
        self.storm.heard(decision["step"])


class Closer(Caller):
    """Closes step after step; several try to close the same one."""

    def __init__(self, storm: Weather, number: int) -> None:
        super().__init__(storm, number)
        self.closed = list[int]()

    def run(self) -> None:
        storm = self.storm
        while not storm.ending.is_set():
            with storm.progress:
                ready = storm.progress.wait_for(
                    lambda: storm.acknowledged >= storm.close_every * (storm.step + 1), AGAIN
                )
                step = storm.step
            if ready:
                self.close(step)

    def close(self, step: int) -> None:
        answer = self.send("POST", f"steps/{step}", {"total": None})[0]
        assert answer.status_code == 200, answer.text
        closed = answer.json()
        assert closed["step"] == step
        self.closed.append(step)
        assert closed["next"]["step"] > step
        self.see(closed["next"])
        self.storm.heard(closed["next"]["step"])


class Operator(Caller):
    """Gives orders, which may be out of turn; sent again, they are harmless."""

    def __init__(self, storm: Weather, seed: str, number: int) -> None:
        super().__init__(storm, number)
        self.random = Random(seed)
        self.given = Counter[str]()  # orders that were taken

    def run(self) -> None:
        while not self.storm.ending.wait(self.random.uniform(0.0, PACE)):
            order = self.random.choice(ORDERS)
            body: dict[str, Any] = {"reason": "it may be wise"}
            if order in ("pin", "disable", "enable"):
                body["variant"] = self.random.choice(VARIANTS)
            if order == "void":
                body["step"] = max(0, self.storm.step - 1)
            answer = self.send("POST", order, body)[0]
            if answer.status_code != 200:
                assert slug(answer) == "out-of-turn"
            self.given[order] += answer.status_code == 200
