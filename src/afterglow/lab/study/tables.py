"""The tables of a complete study: Parquet files whose bytes depend only on the study.

    cells.parquet    one row per cell: policy, options, world, horizon, window given to the policy
    runs.parquet     one row per run: regret, rewards, holds, switches, pulls, the recommended arm
    curves.parquet   one row per run and checkpoint: regret and share of the best arm so far

Rows are ordered by cell, run and step, whatever the order of execution. Each file has the study, the seed and the
versions in its metadata under the key `afterglow`.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from afterglow.engine.outcome import Outcome
from afterglow.errors import BadFormat
from afterglow.lab.study.code.policy_files import file_of
from afterglow.lab.study.code.sources import sources_of
from afterglow.lab.study.grid import Cell
from afterglow.lab.study.journal import KEY, SCHEMA, Stretch, batches_at
from afterglow.lab.study.world_fields import income_text, rewards_text

ROWS = 100_000  # a row group is closed at the first cell that fills it
RUNS = pa.schema([column for column in SCHEMA if column.name not in ("curve", "shares")])
CURVES = pa.schema(
    [("cell", pa.int32()), ("run", pa.int64()), ("t", pa.int64()), ("regret", pa.float64()), ("share", pa.float64())]
)
TABLES = ("cells", "runs", "curves")
SOURCES = b"afterglow sources"  # in the metadata of the cells


def batch_of(cell: Cell, outcome: Outcome) -> Any:
    """Finished runs as a record batch of the journal."""
    count, chosen = outcome.runs, outcome.recommended
    return pa.record_batch(
        [
            pa.array(np.full(count, cell.index, np.int32)),
            pa.array(np.arange(outcome.first, outcome.first + count)),
            *(pa.array(column) for column in (outcome.regrets, outcome.seen, outcome.pending, outcome.generated)),
            *(pa.array(column.astype(np.int64)) for column in (outcome.holds, outcome.switches)),
            pa.array(chosen),
            *(rows(table) for table in (outcome.pulls, outcome.curves, outcome.shares)),
        ],
        schema=SCHEMA,
    )


def rows(table: Any) -> Any:
    """A matrix as a column of lists."""
    offsets = np.arange(0, table.size + 1, table.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(table).reshape(-1))


def cells_table(cells: Iterable[Cell]) -> Any:
    """One row for each cell."""
    columns: dict[str, list[Any]] = {}
    for cell in cells:
        world = cell.world
        row = {
            "cell": cell.index, "label": cell.label, "policy": cell.policy.name,
            "options": json.dumps(cell.options, sort_keys=True), "settings": json.dumps(cell.settings()),
            "arms": world.arms, "rewards": rewards_text(world), "laws": [law.text for law in world.rewards],
            "means": world.means,
            "best": world.best, "window": world.window, "spread": world.spread.text,
            "baseline": income_text(world), "horizon": cell.horizon,
            "told_window": cell.told_window, "told_horizon": cell.told_horizon, "runs": cell.runs,
            "seed": cell.seed, "engine": cell.engine, "season": cell.season,
            "checkpoints": list(cell.marks), "needs": ", ".join(cell.policy.needs()),
            "privileged": cell.policy.privileged, "file": file_of(cell.policy),
        }  # fmt: skip
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return pa.table(columns)


def runs_table(batch: Any) -> Any:
    """The runs of a batch, without their curves."""
    return pa.Table.from_batches([batch]).select(RUNS.names)


def curves_table(batch: Any, marks: Iterable[int]) -> Any:
    """The curves of a batch, one row for each run and checkpoint."""
    steps = np.fromiter(marks, np.int64)
    count, points = batch.num_rows, steps.size
    return pa.table(
        [
            np.repeat(batch.column("cell").to_numpy(), points),
            np.repeat(batch.column("run").to_numpy(), points),
            np.tile(steps, count),
            batch.column("curve").flatten(),
            batch.column("shares").flatten(),
        ],
        schema=CURVES,
    )


def in_order(journal: Path, stretches: list[Stretch], cells: list[Cell]) -> Iterator[tuple[Cell, Any]]:
    """Each cell with its runs, one batch a cell."""
    places: dict[int, list[Stretch]] = {}
    for stretch in stretches:
        places.setdefault(stretch.cell, []).append(stretch)
    for cell in cells:
        own = sorted(places[cell.index], key=lambda stretch: stretch.first)
        found = batches_at(journal, [stretch.offset for stretch in own])
        yield cell, pa.Table.from_batches(found).combine_chunks().to_batches()[0]


def write_cells(folder: Path, cells: list[Cell], identity: Any) -> None:
    """Write the table of cells, with the source of users' code in its metadata."""
    said = {KEY: json.dumps(identity, sort_keys=True)}
    own = sources_of(cells)
    if own:
        said[SOURCES] = json.dumps(own)
    write(folder / "cells.parquet", [cells_table(cells)], said)


def write_runs(folder: Path, journal: Path, stretches: list[Stretch], cells: list[Cell], identity: Any) -> None:
    """Write the tables of runs and curves, each moved in place when it is complete."""
    said = {KEY: json.dumps(identity, sort_keys=True)}
    parts = (runs_table(batch) for _, batch in in_order(journal, stretches, cells))
    write(folder / "runs.parquet", parts, said)
    parts = (curves_table(batch, cell.marks) for cell, batch in in_order(journal, stretches, cells))
    write(folder / "curves.parquet", parts, said)


def write(path: Path, parts: Iterable[Any], said: dict[bytes, str]) -> None:
    """One table from its parts."""
    part_path = path.with_suffix(".part")
    groups = grouped(parts)
    first = next(groups)
    schema = first.schema.with_metadata(said)
    with part_path.open("wb") as file:
        with pq.ParquetWriter(file, schema, compression="zstd", version="2.6", write_statistics=True) as writer:
            writer.write_table(first.replace_schema_metadata(said), row_group_size=first.num_rows)
            for group in groups:
                writer.write_table(group.replace_schema_metadata(said), row_group_size=group.num_rows)
        os.fsync(file.fileno())
    part_path.replace(path)


def grouped(parts: Iterable[Any]) -> Iterator[Any]:
    """Parts put together to row groups."""
    waiting: list[Any] = []
    for part in parts:
        waiting.append(part)
        if sum(one.num_rows for one in waiting) >= ROWS:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def slices(cells: Any) -> list[tuple[int, slice]]:
    """Where each cell's rows begin and end, in a column that is in order."""
    if not len(cells):
        return []
    edges = [0, *(np.flatnonzero(np.diff(cells)) + 1).tolist(), len(cells)]
    return [(int(cells[begin]), slice(begin, end)) for begin, end in pairwise(edges)]


def read(path: Path) -> Any:
    """A whole table."""
    with naming_damage(path), pq.ParquetFile(path) as file:
        return file.read()


def table_metadata(path: Path) -> dict[str, Any]:
    """What a table says about itself."""
    with naming_damage(path):
        found: dict[str, Any] = json.loads(pq.read_schema(path).metadata[KEY])
        if not {"study", "versions"} <= set(found) or "seed" not in found["study"]:
            raise ValueError
        return found


def stored_sources(path: Path) -> dict[str, str]:
    """The source of users' code in the metadata of the table of cells, by file; empty if it has none."""
    with naming_damage(path):
        found: Any = json.loads((pq.read_schema(path).metadata or {}).get(SOURCES, b"{}"))
        if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
            raise ValueError
        return found


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Name a table that can't be read."""
    try:
        if path.exists() and not path.is_file():
            raise OSError
        yield
    except (pa.ArrowException, OSError, TypeError, KeyError, ValueError, RecursionError, MemoryError):
        way_out = "restore it from a copy, or run the study again into another folder"
        raise BadFormat(f"{path} is not a table of results, or it is damaged; {way_out}", field="folder") from None
