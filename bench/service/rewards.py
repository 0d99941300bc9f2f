"""Durable rewards over HTTP beside bare loops of commits, on both databases."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from sqlite3 import sqlite_version
from statistics import median
from time import perf_counter
from uuid import uuid4

from afterglow import live
from afterglow.live import Experiment
from bench.report.figures import Figure, Item, digits
from bench.service.contender import COLUMNS, Contender
from bench.service.databases import (
    BATCH,
    Take,
    bare_postgres,
    bare_sqlite,
    postgres_server,
    release_of,
    rows_a_second,
    sqlite_file,
)  # fmt: skip
from bench.service.load import Plan
from testbed.service import Serving

CONNECTIONS = {0: 128, BATCH: 16}  # one by one, in batches
ROUNDS = 3
SECONDS = 2.0
BARE_SECONDS = 1.0
EXPERIMENT = {"name": "shipping", "variants": ["49", "59", "69"], "window": 24, "reward_max": 1e9}
PATH = "/v1/experiments/shipping/rewards"
EMPTY = [""] * len(COLUMNS)
Bare = Callable[[str], AbstractContextManager[tuple[Take, Take]]]


def measure_sqlite(folder: Path) -> Item:
    with sqlite_file(folder) as address:
        return measure("sqlite", f"SQLite {sqlite_version}", address, f"{address}-inner", bare_sqlite)


def measure_postgres(folder: Path) -> Item:
    with postgres_server(folder) as address:
        return measure("postgres", f"PostgreSQL {release_of(address)}", address, address, bare_postgres)


def measure(name: str, database: str, address: str, inner: str, bare: Bare) -> Item:
    with ExitStack() as stack:
        service = stack.enter_context(Serving(address, "--rate-limit", "1e9"))
        with service.client() as client:
            client.post("/v1/experiments", json=EXPERIMENT).raise_for_status()
        assert service.process is not None
        loads = {
            size: Contender(Plan(service.port, PATH, service.token, lines, SECONDS, batch=size), service.process.pid)
            for size, lines in CONNECTIONS.items()
        }
        single, many = stack.enter_context(bare(address))
        shipping = stack.enter_context(live.open(inner)).create("inner", ["49", "59"], 24, reward_max=1e9)
        one_each, grouped, batched = list[float](), list[float](), list[float]()
        for contender in loads.values():
            contender.run(counted=False)
        for _ in range(ROUNDS):
            one_each.append(rows_a_second(single, 1, BARE_SECONDS))
            loads[0].run()
            grouped.append(grouped_a_second(shipping, BARE_SECONDS))
            batched.append(rows_a_second(many, BATCH, BARE_SECONDS))
            loads[BATCH].run()
        compare_totals(service, sum(contender.accepted for contender in loads.values()))
    return item(name, database, loads, median(one_each), median(grouped), median(batched))


def grouped_a_second(experiment: Experiment, seconds: float) -> float:
    """As the service does it, without HTTP: what many callers sent, each one reward, in one commit."""
    began, done, taken = perf_counter(), 0, 0.0
    while taken < seconds:
        experiment.report([[(uuid4().hex, 1.0)] for _ in range(CONNECTIONS[0])])
        done, taken = done + CONNECTIONS[0], perf_counter() - began
    return done / taken


def compare_totals(service: Serving, accepted: int) -> None:
    """Every reward that was acknowledged is in the total of its step, once."""
    with service.client() as client:
        closed = client.post("/v1/experiments/shipping/steps/0", json={"total": None}).raise_for_status().json()
    if closed["total"] != accepted:
        raise SystemExit(f"{accepted:,} rewards of 1 were acknowledged, the step's total is {closed['total']:,}")


def item(
    name: str, database: str, loads: dict[int, Contender], one_each: float, grouped: float, batched: float
) -> Item:
    singles, batches, callers = loads[0], loads[BATCH], CONNECTIONS[0]
    figures = [
        Figure("one by one over HTTP, over one transaction each", singles.rate / one_each, "×", at_least=4),
        Figure(f"the same in process, {callers} callers in a commit", grouped / one_each, "×", at_least=4),
        Figure(f"in batches of {BATCH} over HTTP, over a bare `executemany` of as many",
               BATCH * batches.rate / batched, "×", at_least=0.5),
    ]  # fmt: skip
    rows = [
        ["one transaction each", digits(one_each), *EMPTY],
        ["the service, one by one", *singles.cells()],
        [f"in process, {callers} in a commit", digits(grouped), *EMPTY],
        [f"`executemany` of {BATCH}", digits(batched), *EMPTY],
        [f"the service, batches of {BATCH}", *batches.cells(BATCH)],
    ]
    most = 1e6 / singles.cpu
    notes = [
        f"{callers} connections with one reward a request, {CONNECTIONS[BATCH]} with {BATCH}; answered when they are "
        "on the disk. The loops write rows that they have ready, one transaction after another, on the same disk with "
        "the same settings: `synchronous = FULL` in SQLite, `synchronous_commit` in PostgreSQL. In turns, medians of "
        f"{ROUNDS}. At the end the step's total is what was acknowledged, to the last reward.",
        f"A request takes {digits(singles.cpu)} µs of one core, so that one process answers at most {digits(most)} a "
        "second, however fast the disk is: that is four times one transaction each on disks that commit up to "
        f"{digits(most / 4)} times a second; this one did {digits(one_each)}. On faster ones, send batches.",
    ]
    title = f"Durable rewards in {database}"
    return Item(f"rewards-{name}", title, figures, ["", "rewards/s", *COLUMNS], rows, notes)
