"""Clients that go on whatever happens to the service, and know afterwards what must be there, to the micro-unit.

    with Serving(db) as serving:
        figures = killed_again_and_again(serving, kills=100, seed=7)     # asserts every promise; see `Figures`

That is all a caller needs. For other disasters, a `Storm` is one experiment and its clients:

    with Storm(seed, [serving], "shop", step_seconds=0.5) as storm:      # creates it; its clients begin
        storm.wait(1000)                                                 # until 1,000 more rewards are acknowledged
        ...                                                              # kill, stop, start; `storm.hold()` meanwhile
    storm.check()                                                        # all was retried; nothing lost, nothing twice

Clients report singly and in batches, send again under the same keys what was not answered, repeat now and then what
was, try another amount under a known key, and ask for the variant. Without `step_seconds` one more client for each
service closes the steps. `storm.check` compares with the service: the total of every step, its one variant, and the
sum of everything.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import combinations, count
from random import Random
from threading import Condition, Event
from time import monotonic
from typing import Any, NamedTuple

import httpx

from serving import Serving, command, slug

PATIENCE = 60.0  # seconds in which whatever is waited for must happen
AGAIN = 0.02  # seconds between tries
REMEMBER = 60  # steps for which keys are known
CLOSE_EVERY = 300  # rewards, where steps are closed by hand
VARIANTS = ["49", "59", "69"]


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


class Figures(NamedTuple):
    """What went through a storm."""

    kills: int
    rewards: int  # acknowledged
    batches: int
    retried: int  # batches that were sent again because there was no answer
    came_through: int  # and of those, were there already
    repeated: int  # batches sent again though they were acknowledged
    steps: int
    slowest_start: float  # seconds

    def __add__(self, other: object) -> "Figures":
        assert isinstance(other, Figures)
        added = [mine + more for mine, more in zip(self[1:-1], other[1:-1], strict=True)]
        return Figures(self.kills, *added, slowest_start=max(self.slowest_start, other.slowest_start))  # type: ignore[misc]


class Storm:
    """One experiment, and clients that report to it."""

    def __init__(
        self,
        seed: int,
        services: Sequence[Serving],
        name: str,
        *,
        clients: int = 6,
        step_seconds: float | None = None,
        remember: int = REMEMBER,
        **settings: Any,
    ) -> None:
        self.services = services
        self.name = name
        self.remember = remember
        self.step = 0  # the latest that anybody has heard of
        self.acknowledged = 0  # rewards
        self.progress = Condition()
        self.up, self.ending = Event(), Event()
        self.up.set()
        self.clients = [Client(self, f"{name} {seed} {number}", number) for number in range(clients)]
        self.closers = [] if step_seconds else [Closer(self, number) for number in range(len(services))]
        self.futures = list[Future[None]]()
        asked = {"name": name, "variants": VARIANTS, "window": 2, "reward_max": 1e9, "policy": "ucb1", "seed": seed}
        timed = {} if step_seconds is None else {"step_seconds": step_seconds}
        with services[0].client() as http:
            made = http.post("/v1/experiments", json=asked | timed | {"remember": remember} | settings)
            assert made.status_code == 201, made.text

    def __enter__(self) -> "Storm":
        everybody = [*self.clients, *self.closers]
        self.pool = ThreadPoolExecutor(len(everybody))
        self.futures = [self.pool.submit(one.run) for one in everybody]
        return self

    def __exit__(self, kind: object, *failure: object) -> None:
        """Everything that was begun is retried until it is answered."""
        self.ending.set()
        self.pool.shutdown(wait=True)
        for one in [*self.clients, *self.closers]:
            one.http.close()
        if kind is None:
            for future in self.futures:
                future.result()

    def heard(self, step: int, rewards: int = 0) -> None:
        with self.progress:
            self.step = max(self.step, step)
            self.acknowledged += rewards
            self.progress.notify_all()

    def wait(self, rewards: int) -> None:
        """Until so many more are acknowledged."""
        goal = self.acknowledged + rewards
        self.wait_until(lambda: self.acknowledged >= goal)

    def wait_until(self, done: Any) -> None:
        with self.progress:
            assert self.progress.wait_for(lambda: done() or any(map(failed, self.futures)), PATIENCE)
        for future in self.futures:
            if failed(future):
                future.result()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Nobody asks again what is known to be away."""
        self.up.clear()
        try:
            yield
        finally:
            self.up.set()

    def check(self) -> Figures:
        """Compare with what the service has: it must be stopped by now, or is here."""
        with self.services[-1].client() as http:
            where = f"/v1/experiments/{self.name}"
            answer = http.post(f"{where}/stop", json={"reason": "the storm is over"})
            assert answer.status_code == 200, answer.text
            rows = list(paged(http, f"{where}/steps"))
        assert [row["step"] for row in rows] == list(range(len(rows)))
        self.check_variants(rows)
        totals = {row["step"]: round(1e6 * row["total"]) for row in rows}
        unsure = [one for client in self.clients for one in client.unsure]
        taken = sum((client.taken for client in self.clients), Counter[int]())
        assert sum(totals.values()) == sum(client.sent for client in self.clients)
        left = {step: total - taken.pop(step, 0) for step, total in totals.items()}
        assert not taken
        share_out({step: more for step, more in left.items() if more}, unsure)
        return Figures(
            0,
            self.acknowledged,
            sum(client.batches for client in self.clients),
            sum(client.retried for client in self.clients),
            len(unsure),
            sum(client.repeated for client in self.clients),
            len(rows),
            0.0,
        )

    def check_variants(self, rows: list[dict[str, Any]]) -> None:
        for one in [*self.clients, *self.closers]:
            for step, variants in one.seen.items():
                if step < len(rows):  # the step after the last has no row
                    assert variants == {rows[step]["variant"]}


class Caller:
    """Sends until it is answered, to the next service if one doesn't."""

    def __init__(self, storm: Storm, number: int) -> None:
        self.storm = storm
        self.number = number
        self.seen = dict[int, set[str]]()  # variants by step
        service = storm.services[number % len(storm.services)]
        self.http = service.client()

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
                    return answer, tries
                assert int(answer.headers["retry-after"]) > 0
            assert monotonic() < deadline
            self.storm.up.wait(PATIENCE)
            self.storm.ending.wait(AGAIN)
        raise AssertionError

    def see(self, decision: dict[str, Any]) -> None:
        self.seen.setdefault(decision["step"], set()).add(decision["variant"])


class Client(Caller):
    def __init__(self, storm: Storm, seed: str, number: int) -> None:
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
        """A batch that was acknowledged, and is certain to be remembered."""
        recent = [batch for step, batch in self.kept if self.storm.step - step < self.storm.remember // 2]
        return self.random.choice(recent) if recent else None

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
    """Closes step after step; several may try to close the same one."""

    def run(self) -> None:
        storm = self.storm
        while not storm.ending.is_set():
            goal = storm.acknowledged + CLOSE_EVERY
            with storm.progress:
                storm.progress.wait_for(lambda: storm.acknowledged >= goal or storm.ending.is_set(), AGAIN)  # noqa: B023
            if storm.acknowledged >= goal:
                self.close(storm.step)

    def close(self, step: int) -> None:
        answer = self.send("POST", f"steps/{step}", {"total": None})[0]
        assert answer.status_code == 200, answer.text
        closed = answer.json()
        assert closed["step"] == step
        assert closed["next"]["step"] > step
        self.see(closed["next"])
        self.storm.heard(closed["next"]["step"])


def failed(future: "Future[None]") -> bool:
    return future.done() and future.exception() is not None


def paged(http: httpx.Client, path: str) -> Iterator[dict[str, Any]]:
    after: int | None = None
    while True:
        page = http.get(path, params={"limit": 1000} | ({} if after is None else {"after": after})).json()
        yield from page["items"]
        after = page["next"]
        if after is None:
            return


def share_out(left: dict[int, int], unsure: list[Unsure]) -> None:
    """What a step has beyond its receipts must be batches that came through unanswered, each in one step."""
    open_ = list(unsure)
    for step, more in left.items():
        fit = [one for one in open_ if one.first <= step <= one.last]
        sets = (some for size in range(1, len(fit) + 1) for some in combinations(fit, size))
        found = next((some for some in sets if sum(one.total for one in some) == more), None)
        assert found is not None, f"step {step} has {more} micro-units that nobody knows of"
        for one in found:
            open_.remove(one)
    assert not open_


def killed_again_and_again(
    serving: Serving, kills: int, seed: int, *, clients: int = 3, life: float = 0.4, step_seconds: float = 0.5
) -> Figures:
    """Kill a running service with signal 9 at random moments, start it again, go on; then compare everything.

    Two experiments at the same time, each with its clients: one by the clock, one whose steps a client closes.
    """
    random, slowest = Random(seed), 0.0
    with ExitStack() as stack:
        storms = [
            stack.enter_context(Storm(seed, [serving], "by-clock", clients=clients, step_seconds=step_seconds)),
            stack.enter_context(Storm(seed, [serving], "by-hand", clients=clients)),
        ]
        for _ in range(kills):
            Event().wait(random.uniform(0.0, life))
            began = monotonic()
            with storms[0].hold(), storms[1].hold():
                serving.kill()
                began = monotonic()
                serving.start()
            slowest = max(slowest, monotonic() - began)
        for storm in storms:
            storm.wait(100)
    figures = [storm.check()._replace(kills=kills, slowest_start=slowest) for storm in storms]
    assert serving.stop() == 0
    assert "Traceback" not in serving.errors
    verdict = command("verify", serving.db).stdout
    assert verdict.count("all as logged") == len(storms), verdict
    return figures[0] + figures[1]
