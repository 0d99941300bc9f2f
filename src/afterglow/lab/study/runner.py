"""Run a study into a folder; resumes an earlier run, and extends a smaller study."""

import json
import time
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from afterglow.checks import whole
from afterglow.engine.work import processors
from afterglow.errors import AfterglowWarning, BadValue, argument
from afterglow.lab.study.definition import StudyDefinition
from afterglow.lab.study.extend import SAME, kept_cells, write_kept
from afterglow.lab.study.folder import JOURNAL, QUESTION, finished, locked
from afterglow.lab.study.identity import identity, refuse_other
from afterglow.lab.study.journal import Journal, barely_begun, described, header
from afterglow.lab.study.play import Piece, Played, play
from afterglow.lab.study.schedule import Progress, Schedule
from afterglow.lab.study.tables import cells_table, read, table_metadata, write_cells, write_runs

LOOK_SECONDS = 0.2  # between progress reports
SYNC_SECONDS = 1.0
OnProgress = Callable[[Progress], None]


class TaskWorkers(Protocol):
    """Where tasks run: threads of this process or Dask workers."""

    budget: float  # seconds a task should take

    def size(self) -> int:
        """How many tasks can run at once."""

    def submit(self, pieces: list[Piece]) -> "Future[Played]": ...

    def lost(self, failure: BaseException) -> bool:
        """Whether a task failed because its worker was lost, and can be repeated."""

    def close(self) -> None: ...


class Threads:
    """Threads of this process."""

    budget = 0.5

    def __init__(self, count: int | None) -> None:
        self.count = whole("threads", processors() if count is None else count, 1)
        self.pool = ThreadPoolExecutor(self.count)
        self.stop = Event()

    def size(self) -> int:
        return self.count

    def submit(self, pieces: list[Piece]) -> "Future[Played]":
        return self.pool.submit(play, pieces, self.budget, self.stop.is_set)

    def lost(self, failure: BaseException) -> bool:
        return False

    def close(self) -> None:
        """Stop the threads."""
        self.stop.set()
        self.pool.shutdown(wait=True, cancel_futures=True)


def run(
    study: StudyDefinition,
    folder: Path,
    threads: int | None = None,
    dask: str | None = None,
    progress: OnProgress | None = None,
) -> None:
    """Run all that the folder doesn't have yet, then write the tables."""
    if threads is not None and dask is not None:
        threads_, dask_ = argument("threads"), argument("dask")
        raise BadValue(f"give {threads_} or {dask_}, not both; Dask workers have their own threads", field="dask")
    said = identity(study)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        old = stored_identity(folder, said)
        more = None if old is None else runs_to_keep(folder, old, study, said)
        write_question(folder, study.question)
        if more is not None:
            write_kept(folder, said, more)
        if finished(folder):
            total = sum(cell.runs for cell in study.cells)
            if progress is not None:
                progress(Progress(total, total, 0.0, 0.0, ""))
            return
        with Journal(folder / JOURNAL, said) as kept, warnings.catch_warnings():
            warnings.simplefilter("ignore", AfterglowWarning)  # the study has them all
            write_cells(folder, study.cells, said)
            run_tasks(study, kept, workers_of(threads, dask), progress)
            write_runs(folder, folder / JOURNAL, kept.stretches, study.cells, said)
            (folder / JOURNAL).unlink()


def write_question(folder: Path, question: str) -> None:
    """Write the study's question to its folder."""
    if question:
        (folder / QUESTION).write_text(question + "\n", encoding="utf-8")
    else:
        (folder / QUESTION).unlink(missing_ok=True)


def stored_identity(folder: Path, said: dict[str, Any]) -> dict[str, Any] | None:
    """The identity of the results in a folder; None if it has none."""
    journal = folder / JOURNAL
    if journal.exists():
        return None if barely_begun(journal, header(said)) else described(journal)
    return table_metadata(folder / "runs.parquet") if finished(folder) else None


def runs_to_keep(
    folder: Path, old: dict[str, Any], study: StudyDefinition, said: dict[str, Any]
) -> dict[int, dict[int, int]] | None:
    """Which runs of a folder a study with more cells or runs keeps; None if it is the same study.

    Results of another study, of other code or of other versions are refused.
    """
    same = json.loads(json.dumps(said)) == old
    if not same and old.get("versions") == said["versions"] and cells_fit(folder, old):
        rows = read(folder / "cells.parquet").to_pylist()
        found = kept_cells(rows, old["code"], cells_table(study.cells).to_pylist(), said["code"])
        if found is not None:
            return found
    refuse_other(folder, old, said)
    return None


def cells_fit(folder: Path, old: dict[str, Any]) -> bool:
    """Whether the table of cells is that of the results, and has all that is compared."""
    path = folder / "cells.parquet"
    if "settings" not in old or not path.exists() or table_metadata(path) != old:
        return False
    return set(SAME) <= set(read(path).column_names)


def workers_of(threads: int | None, dask: str | None) -> TaskWorkers:
    if dask is None:
        return Threads(threads)
    from afterglow.lab.study.cluster import Cluster  # noqa: PLC0415  an extra

    return Cluster(dask)


def run_tasks(study: StudyDefinition, journal: Journal, workers: TaskWorkers, progress: OnProgress | None) -> None:
    """Run all tasks on the workers; the results of each go to the journal at once."""
    schedule = Schedule(study.cells, journal.stretches, workers.budget)
    running: dict[Future[Played], list[Piece]] = {}
    synced = time.monotonic()
    try:
        while schedule.waiting or running:
            size = workers.size()
            while schedule.waiting and len(running) < 2 * size:
                task = schedule.take(size)
                running[workers.submit(task)] = task
            for future in wait(running, LOOK_SECONDS, FIRST_COMPLETED).done:
                task = running.pop(future)
                collect(future, task, schedule, journal, workers)
            if time.monotonic() - synced > SYNC_SECONDS:
                journal.sync()
                synced = time.monotonic()
            if progress is not None:
                now = next(iter(running.values()), None)
                progress(schedule.progress(size, now[0].cell.title if now else ""))
    finally:
        workers.close()


def collect(
    future: "Future[Played]", task: list[Piece], schedule: Schedule, journal: Journal, workers: TaskWorkers
) -> None:
    """Store the results of a task; one that was lost with its worker is repeated."""
    failure = CancelledError() if future.cancelled() else future.exception()
    if failure is None:
        played = future.result()
        for batch in played.batches:
            journal.append(batch)
        schedule.learn(played)
    elif workers.lost(failure):
        schedule.put_back(task)
    else:
        raise failure
