"""Durable rewards over HTTP beside bare loops of commits, on both databases."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from sqlite3 import sqlite_version
from statistics import median

from contender import COLUMNS, Contender
from databases import (
    BATCH,
    Take,
    bare_postgres,
    bare_sqlite,
    postgres_server,
    release_of,
    rows_a_second,
    sqlite_file,
)  # fmt: skip
from load import Plan

from figures import Figure, Item, digits
from serving import Serving

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
        return measure("sqlite", f"SQLite {sqlite_version}", address, bare_sqlite)


def measure_postgres(folder: Path) -> Item:
    with postgres_server(folder) as address:
        return measure("postgres", f"PostgreSQL {release_of(address)}", address, bare_postgres)


def measure(name: str, database: str, address: str, bare: Bare) -> Item:
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
        one_each, batched = list[float](), list[float]()
        for contender in loads.values():
            contender.run(counted=False)
        for _ in range(ROUNDS):
            one_each.append(rows_a_second(single, 1, BARE_SECONDS))
            loads[0].run()
            batched.append(rows_a_second(many, BATCH, BARE_SECONDS))
            loads[BATCH].run()
        compare_totals(service, sum(contender.accepted for contender in loads.values()))
    return item(name, database, loads, median(one_each), median(batched))


def compare_totals(service: Serving, accepted: int) -> None:
    """Every reward that was acknowledged is in the total of its step, once."""
    with service.client() as client:
        closed = client.post("/v1/experiments/shipping/steps/0", json={"total": None}).raise_for_status().json()
    if closed["total"] != accepted:
        raise SystemExit(f"{accepted:,} rewards of 1 were acknowledged, the step's total is {closed['total']:,}")


def item(name: str, database: str, loads: dict[int, Contender], one_each: float, batched: float) -> Item:
    singles, batches = loads[0], loads[BATCH]
    figures = [
        Figure("one by one, over one transaction each", singles.rate / one_each, "×", at_least=4),
        Figure(f"in batches of {BATCH}, over a bare `executemany` of as many", BATCH * batches.rate / batched, "×",
               at_least=0.5),
    ]  # fmt: skip
    rows = [
        ["one transaction each", digits(one_each), *EMPTY],
        ["the service, one by one", *singles.cells()],
        [f"`executemany` of {BATCH}", digits(batched), *EMPTY],
        [f"the service, batches of {BATCH}", *batches.cells(BATCH)],
    ]
    notes = [
        f"Over HTTP, {CONNECTIONS[0]} connections with one reward a request, {CONNECTIONS[BATCH]} with {BATCH}; "
        "answered when they are on the disk. The loops write rows that they have ready, one transaction after another, "
        "on the same disk with the same settings: `synchronous = FULL` in SQLite, `synchronous_commit` in PostgreSQL. "
        f"In turns, medians of {ROUNDS}. At the end the step's total is what was acknowledged, to the last reward.",
    ]
    title = f"Durable rewards in {database}"
    return Item(f"rewards-{name}", title, figures, ["", "rewards/s", *COLUMNS], rows, notes)
