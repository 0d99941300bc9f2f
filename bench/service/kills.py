"""A hundred times kill -9 under load: no acknowledged reward lost or doubled, retries exact, the log replays."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import repeat
from pathlib import Path

from bench.report.figures import Figure, Item, digits
from bench.service.databases import postgres_server, sqlite_file
from testbed.service import Serving
from testbed.storm import Figures, killed_again_and_again

KILLS = 100
SEED = 2019
STEP_SECONDS = 2.0  # keys are kept for 60 of them, longer than any start takes
DATABASES: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "SQLite": sqlite_file,
    "PostgreSQL": postgres_server,
}


def survived(database: str, folder: Path) -> Figures:
    """What went through it; whatever is wrong is an AssertionError."""
    with DATABASES[database](folder) as address, Serving(address) as serving:
        return killed_again_and_again(serving, KILLS, SEED, step_seconds=STEP_SECONDS)


def measure(folder: Path) -> Item:
    with ThreadPoolExecutor() as pool:  # most of the time is a service's start, on one core
        found = dict(zip(DATABASES, pool.map(survived, DATABASES, repeat(folder)), strict=True))
    figures = [
        Figure(f"{database}: kills after which every reward is there once", one.kills, "", at_least=KILLS)
        for database, one in found.items()
    ]
    rows = [
        [database, *(f"{count:,}" for count in one[1:-1]), digits(one.slowest_start)] for database, one in found.items()
    ]
    columns = [
        "", "rewards", "batches", "sent again unanswered", "of those, there already", "repeated on purpose", "steps",
        "slowest start, s",
    ]  # fmt: skip
    note = (
        "The service is killed at random moments and started again, while clients report to two experiments, one on "
        "a schedule and one whose steps a client closes. Afterwards the total of every step is, to the micro-unit, "
        "what was acknowledged, and the whole log replays."
    )
    return Item("kills", "Killed again and again", figures, columns, rows, [note])
