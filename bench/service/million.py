"""An experiment with a million steps in its log: how long it takes to open, and to verify in full."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from afterglow import live
from afterglow.live.domain import commands
from afterglow.live.domain.commands import Reported
from afterglow.live.domain.log import Record
from afterglow.live.domain.step_rows import StepRow
from afterglow.live.follower import Follower
from afterglow.live.store.sqlite import SqliteStore
from afterglow.live.store.tables import TableLog
from afterglow.live.verify import Verification
from bench.report.figures import Figure, Item, digits

STEPS = 1_000_000
AT_ONCE = 50_000  # steps in a transaction
MEANS = {"49": 0.4, "59": 0.5, "69": 0.6}
WINDOW = 24
BEGAN = 1_800_000_000_000
NONE = Reported(0, 0)
OPEN = """
import sys, time
from afterglow import live
began = time.perf_counter()
with live.open(sys.argv[1]) as experiments:
    experiments["shipping"].current()
    print(time.perf_counter() - began)
"""


class Bulk(TableLog):
    """Keeps records and steps back, and writes them in one go."""

    def __init__(self, log: TableLog) -> None:
        super().__init__(log.session, log.number)
        self.records_kept = list[Record]()
        self.steps_kept = dict[int, StepRow]()

    def append(self, records: Iterable[Record]) -> None:
        self.records_kept += records

    def put_steps(self, rows: Iterable[StepRow]) -> None:
        self.steps_kept.update((row.step, row) for row in rows)

    def end_step(self, step: int, total: int, role: str, void: int, series: str | None = None) -> None:
        row = self.steps_kept.get(step)
        if row is None:
            super().end_step(step, total, role, void, series)
        else:
            self.steps_kept[step] = row._replace(total=total, role=role, void=int(void))

    def forget(self, before: int) -> bool:
        return False  # totals were told, no reward was reported

    def write(self) -> None:
        super().append(self.records_kept)
        super().put_steps(self.steps_kept.values())


def write(address: str) -> None:
    """Steps closed one after another by the code that closes them live, many in a transaction."""
    with live.open(address) as experiments:
        experiments.create("shipping", list(MEANS), WINDOW)
    store, copy, random = SqliteStore(address), Follower("shipping"), Random(7)
    means = list(MEANS.values())
    for first in range(0, STEPS, AT_ONCE):
        with store.writing("shipping") as log:
            copy.follow(log)
            bulk = Bulk(log)
            for step in range(first, first + AT_ONCE):
                total = 1.0 * (random.random() < means[copy.state.served])
                copy.happen(bulk, BEGAN + 1000 * step, [commands.close(copy.spec, copy.state, total, NONE)])
            bulk.write()
    store.close()


def opened(address: str) -> float:
    """Seconds that a fresh process takes to open it and to name the variant, without its own start."""
    said = subprocess.run([sys.executable, "-c", OPEN, address], capture_output=True, text=True, check=True)
    return float(said.stdout)


def verified(address: str) -> tuple[Verification, float, float]:
    """What was found, and the seconds of CPU and by the wall clock that it took."""
    with live.open(address, read_only=True) as experiments:
        cpu, wall = process_time(), perf_counter()
        verdict = experiments["shipping"].verify()
        return verdict, process_time() - cpu, perf_counter() - wall


def measure(folder: Path) -> Item:
    with TemporaryDirectory(dir=folder) as room:
        address = f"{room}/million.db"
        cpu = process_time()
        write(address)
        written = process_time() - cpu
        opening = median(opened(address) for _ in range(5))
        verdict, cpu, wall = verified(address)
        size = sum(file.stat().st_size for file in Path(room).iterdir())
    if not verdict.ok or verdict.steps != STEPS:
        raise SystemExit(str(verdict))
    figures = [
        Figure("opens, and names the variant, in", opening, "s", at_most=1),
        Figure("verifies in full, steps a second", STEPS / cpu, "/s", at_least=100_000, wall=STEPS / wall),
    ]
    rows = [[f"{STEPS:,}", f"{verdict.snapshots:,}", digits(size / 1e6), digits(written), digits(cpu)]]
    return Item(
        "million", "A million steps in the log", figures,
        ["steps", "snapshots", "MB on the disk", "s to write", "s to verify"], rows,
        [
            f"trim-ucb with {len(MEANS)} variants and a window of {WINDOW}, in SQLite. Opened by fresh processes, "
            "median of 5, without their own start. Verifying recomputes all hashes, decisions, totals and snapshots. "
            "The log was written by the code that closes steps live, with many in a transaction.",
        ],
    )  # fmt: skip
