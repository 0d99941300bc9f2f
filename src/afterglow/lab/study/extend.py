"""Extend results: runs that a folder has are kept for a study that asks for more.

Cells are the same if code, settings, world, horizon, seed and checkpoints are; labels, their order and the number of
runs may differ. Every cell of the folder must be in the new study, with as many runs or more: nothing is dropped. The
kept runs are written to a new journal, moved in place in one step. From then on the folder is that of an interrupted
study, and the tables in the end are the bytes of a study that was run at once.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from afterglow.lab.study.folder import JOURNAL
from afterglow.lab.study.identity import NO_DIGEST
from afterglow.lab.study.journal import SCHEMA, header, message, stretches
from afterglow.lab.study.tables import naming_damage, read

SAME = (
    "policy", "options", "settings", "laws", "means", "window", "spread", "baseline", "horizon", "told_window",
    "told_horizon", "seed", "engine", "season", "checkpoints",
)  # fmt: skip  # columns that decide what is played
Row = dict[str, Any]


def content_of(row: Row, code: dict[str, str]) -> str | None:
    """What decides a cell's numbers, as text; None where its code can't be compared."""
    marks = [code.get(name, "") for name in (row["label"], row["spread"], *row["laws"])]
    if any(mark.startswith(NO_DIGEST) for mark in marks):
        return None
    return json.dumps([marks, *(row[name] for name in SAME)])


def kept_cells(
    old: Iterable[Row], old_code: dict[str, str], new: Iterable[Row], new_code: dict[str, str]
) -> dict[int, dict[int, int]] | None:
    """For each old cell the new cells that take its runs over, and how many; None where one would be dropped."""
    sources: dict[str, Row] = {}
    wanted: dict[str, int] = {}
    for row in old:
        content = content_of(row, old_code)
        if content is None:
            return None
        wanted[content] = max(wanted.get(content, 0), row["runs"])
        if row["runs"] == wanted[content]:
            sources[content] = row
    found: dict[int, dict[int, int]] = {row["cell"]: {} for row in sources.values()}
    most: dict[str, int] = {}
    for row in new:
        content = content_of(row, new_code)
        if content is not None and content in sources:
            found[sources[content]["cell"]][row["cell"]] = row["runs"]
            most[content] = max(most.get(content, 0), row["runs"])
    return found if all(most.get(content, 0) >= runs for content, runs in wanted.items()) else None


def write_kept(folder: Path, identity: dict[str, Any], kept: dict[int, dict[int, int]]) -> None:
    """Replace the journal or begin one: the runs of a folder under the numbers of the new cells."""
    journal = folder / JOURNAL
    part = journal.with_suffix(".part")
    batches = (batch for _, batch, _ in stretches(journal)) if journal.exists() else stored_batches(folder)
    with part.open("wb") as file:
        file.write(header(identity))
        for batch in batches:
            for cell, runs in kept.get(batch.column("cell")[0].as_py(), {}).items():
                own = renumbered(batch, cell, runs)
                if own.num_rows:
                    file.write(message(own))
        file.flush()
        os.fsync(file.fileno())
    part.replace(journal)


def renumbered(batch: Any, cell: int, runs: int) -> Any:
    """The first runs of a batch, as those of another cell."""
    first = batch.column("run")[0].as_py()
    own = batch.slice(0, max(0, runs - first))
    return own.set_column(0, SCHEMA.field("cell"), pa.array([cell] * own.num_rows, pa.int32()))


def stored_batches(folder: Path) -> Iterator[Any]:
    """The runs of finished tables as batches of a journal, one for each cell."""
    path = folder / "runs.parquet"
    with naming_damage(path):
        points = {row["cell"]: len(row["checkpoints"]) for row in read(folder / "cells.parquet").to_pylist()}
        pairs = zip(by_cell(path), by_cell(folder / "curves.parquet"), strict=True)
        for (cell, runs), (twin, curves) in pairs:
            if cell != twin or curves.num_rows != runs.num_rows * points[cell]:
                raise ValueError
            offsets = pa.array(range(0, curves.num_rows + 1, points[cell]), pa.int32())
            lists = [pa.ListArray.from_arrays(offsets, curves[name].combine_chunks()) for name in ("regret", "share")]
            columns = [runs[name].combine_chunks() for name in SCHEMA.names[:-2]]
            yield pa.record_batch([*columns, *lists], schema=SCHEMA)


def by_cell(path: Path) -> Iterator[tuple[int, Any]]:
    """The rows of each cell of a table; a row group has whole cells."""
    with naming_damage(path), pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            group = file.read_row_group(number)
            cells = group["cell"].to_numpy()
            begin = 0
            while begin < len(cells):
                end = int(cells.searchsorted(cells[begin], side="right"))
                yield int(cells[begin]), group.slice(begin, end - begin)
                begin = end
