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
service closes the steps; `operators` give orders. `storm.check` compares with the service: the total of every step,
its one variant, and the sum of everything.
"""

import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import combinations
from random import Random
from threading import Condition, Event
from time import monotonic
from typing import Any, NamedTuple

import httpx

from testbed.service import BARE, COMMAND, Serving, command
from testbed.storm_clients import PATIENCE, VARIANTS, Client, Closer, Operator, Unsure

CLOSE_EVERY = 300  # rewards, where steps are closed by hand


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
        close_every: int = CLOSE_EVERY,
        operators: int = 0,
    ) -> None:
        self.services = services
        self.name = name
        self.close_every = close_every  # rewards
        self.step = 0  # the latest that anybody has heard of
        self.acknowledged = 0  # rewards
        self.progress = Condition()
        self.up, self.ending = Event(), Event()
        self.up.set()
        self.clients = [Client(self, f"{name} {seed} {number}", number) for number in range(clients)]
        self.closers = [] if step_seconds else [Closer(self, number) for number in range(len(services))]
        self.operators = [Operator(self, f"{name} {seed} {number}", number) for number in range(operators)]
        self.everybody = [*self.clients, *self.closers, *self.operators]
        self.futures = list[Future[None]]()
        asked = {"name": name, "variants": VARIANTS, "window": 2, "reward_max": 1e9, "policy": "ucb1", "seed": seed}
        timed = {} if step_seconds is None else {"step_seconds": step_seconds}
        with services[0].client() as http:
            made = http.post("/v1/experiments", json=asked | timed)
            assert made.status_code == 201, made.text

    def __enter__(self) -> "Storm":
        self.pool = ThreadPoolExecutor(len(self.everybody))
        self.futures = [self.pool.submit(one.run) for one in self.everybody]
        return self

    def __exit__(self, kind: object, *failure: object) -> None:
        """Everything that was begun is retried until it is answered."""
        self.ending.set()
        self.pool.shutdown(wait=True)
        for one in self.everybody:
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
        for one in self.everybody:
            for step, variants in one.seen.items():
                if step < len(rows):  # the step after the last has no row
                    assert variants == {rows[step]["variant"]}


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

    Now and then that is while it starts. Two experiments at the same time, each with its clients and an operator: one
    by the clock, one whose steps a client closes.
    """
    random, deaths, slowest = Random(seed), 0, 0.0
    with ExitStack() as stack:
        storms = [
            stack.enter_context(Storm(seed, [serving], name, clients=clients, operators=1, step_seconds=step))
            for name, step in (("by-clock", step_seconds), ("by-hand", None))
        ]
        while deaths < kills:
            Event().wait(random.uniform(0.0, life))
            with storms[0].hold(), storms[1].hold():
                serving.kill()
                deaths += 1
                if deaths % 5 == 0 and deaths < kills:
                    kill_at_start(serving, random.uniform(0.0, slowest))
                    deaths += 1
                began = monotonic()
                serving.start()
            slowest = max(slowest, monotonic() - began)
        for storm in storms:
            storm.wait(100)
    figures = [storm.check()._replace(kills=deaths, slowest_start=slowest) for storm in storms]
    assert serving.stop() == 0
    assert "Traceback" not in serving.errors
    verdict = command("verify", serving.db).stdout
    assert verdict.count("all as logged") == len(storms), verdict
    return figures[0] + figures[1]


def kill_at_start(serving: Serving, after: float) -> None:
    """Kill it some time after its start, ready or not."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--db", serving.db, "--port", str(serving.port), *serving.flags],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=BARE,
    )  # fmt: skip
    Event().wait(after)
    process.kill()
    process.wait(PATIENCE)
