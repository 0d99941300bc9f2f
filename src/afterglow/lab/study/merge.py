"""Merge the results of several studies into one folder.

Cells of the same content, as in `extend`, become one, with the runs of the longest; runs that two folders have must be
the same numbers. Labels name one policy only. The merged study lists the definitions of its parts.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from afterglow.errors import BadValue, argument
from afterglow.lab.study.extend import SAME, content_of, renumbered, stored_batches
from afterglow.lab.study.folder import finished
from afterglow.lab.study.journal import KEY
from afterglow.lab.study.mean_delay import KNOWN
from afterglow.lab.study.tables import SOURCES, curves_table, naming_damage, read, runs_table, table_metadata, write

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results

Row = dict[str, Any]


def merge(parts: "Sequence[Results]", out: Path) -> None:
    """Write the tables of the merged results; the folders merged are left alone."""
    if finished(out) or (out.is_dir() and any(out.iterdir())):
        raise BadValue(f"{argument('out')} must be a new or empty folder, got {out}", field="out")
    said = [refused_unless_whole(part) for part in parts]
    for other in said[1:]:
        if other["versions"] != said[0]["versions"]:
            sentence = f"{parts[0].folder} and another folder have results of different versions; run one again"
            raise BadValue(sentence, kind="other-versions", field="others")
    code: dict[str, str] = {}
    for one in said:
        code |= one["code"]
    rows, sources = merged_cells(parts, said)
    refuse_shared_labels(rows, code, parts, said)
    merged = {"study": merged_study([part.study for part in parts]), "code": code, "versions": said[0]["versions"]}
    merged["settings"] = {label: own for one in said for label, own in one["settings"].items()}
    text = json.dumps(merged, sort_keys=True)
    out.mkdir(parents=True, exist_ok=True)
    own = {name: source for part in parts for name, source in part.sources.items()}
    schema = read(parts[0].folder / "cells.parquet").schema.remove_metadata()
    write(out / "cells.parquet", [pa.Table.from_pylist(rows, schema)], {KEY: text, SOURCES: json.dumps(own)})
    marks = {row["cell"]: row["checkpoints"] for row in rows}
    write(out / "runs.parquet", (runs_table(batch) for _, batch in in_new_order(parts, sources)), {KEY: text})
    curves = (curves_table(batch, marks[cell]) for cell, batch in in_new_order(parts, sources))
    write(out / "curves.parquet", curves, {KEY: text})


def refused_unless_whole(part: "Results") -> dict[str, Any]:
    """The identity of complete results."""
    if not part.complete:
        raise BadValue(f"{part.folder} is not complete; run its study to the end, then merge", field="others")
    found = table_metadata(part.folder / "runs.parquet")
    with naming_damage(part.folder / "cells.parquet"):
        if not {"code", "settings"} <= set(found) or not set(SAME) <= set(part.cells[0]):
            raise ValueError
    return found


def merged_cells(
    parts: "Sequence[Results]", said: Sequence[dict[str, Any]]
) -> tuple[list[Row], list[tuple[int, int, int]]]:
    """The rows of all cells under new numbers, and for each the part, the cell and the new number that has its runs."""
    rows: list[Row] = []
    taken: dict[str, int] = {}
    sources: list[tuple[int, int, int]] = []
    for number, (part, one) in enumerate(zip(parts, said, strict=True)):
        for row in part.cells:
            content = content_of(row, one["code"]) or f"{number} {row['cell']}"
            if content not in taken:
                taken[content] = len(rows)
                sources.append((number, row["cell"], len(rows)))
                rows.append(row | {"cell": len(rows)})
                continue
            place = taken[content]
            refuse_other_numbers(parts, sources[place], number, row)
            if row["runs"] > rows[place]["runs"]:
                rows[place]["runs"] = row["runs"]
                sources[place] = (number, row["cell"], place)
    return rows, sources


def refuse_other_numbers(parts: "Sequence[Results]", first: tuple[int, int, int], number: int, row: Row) -> None:
    """Refuse results that should have the same runs and don't."""
    known = parts[first[0]].runs_of(first[1])["regret"]
    own = parts[number].runs_of(row["cell"])["regret"]
    shared = min(known.size, own.size)
    if not (known[:shared] == own[:shared]).all():
        sentence = (
            f"{parts[number].folder} has other numbers for the same runs of {row['label']}; run one of them again"
        )
        raise BadValue(sentence, kind="other-results", field="others")


def refuse_shared_labels(
    rows: list[Row], code: dict[str, str], parts: "Sequence[Results]", said: Sequence[dict[str, Any]]
) -> None:
    """Refuse a label that names two policies, or one policy with two settings."""
    for part, one in zip(parts, said, strict=True):
        for label, mark in one["code"].items():
            if code[label] != mark:
                sentence = f"{label} is other code in {part.folder}; give one of them another label"
                raise BadValue(sentence, kind="other-results", field="others")
    known: dict[str, Any] = {}
    for row in rows:
        given = {key: value for key, value in json.loads(row["options"]).items() if key not in KNOWN}
        if known.setdefault(row["label"], given) != given:
            sentence = f"{row['label']} has options {known[row['label']]} and {given}; give one of them another label"
            raise BadValue(sentence, kind="other-results", field="others")


def merged_study(studies: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The definition of merged results: the first's name and question, the parts, and what they have in common."""
    parts = [part for study in studies for part in study.get("merged", [study])]
    seeds = list(dict.fromkeys(seed for part in parts for seed in listed(part["seed"])))
    policies: list[Any] = []
    for part in parts:
        policies += [one for one in part["policies"] if one not in policies]
    found = {"name": studies[0]["name"], "seed": seeds if len(seeds) > 1 else seeds[0], "policies": policies}
    objectives = {part.get("objective", "regret") for part in parts}
    return found | ({"objective": "best-arm"} if objectives == {"best-arm"} else {}) | {"merged": parts}


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def in_new_order(parts: "Sequence[Results]", sources: list[tuple[int, int, int]]) -> Iterator[tuple[int, Any]]:
    """The runs of every new cell, in order; each part is read once, from its first cell to its last."""
    by_part: dict[int, dict[int, int]] = {}
    for number, cell, new in sources:
        by_part.setdefault(number, {})[cell] = new
    waiting: dict[int, Any] = {}
    due = 0
    for number in sorted(by_part):
        for batch in stored_batches(parts[number].folder):
            found = by_part[number].get(batch.column("cell")[0].as_py())
            if found is not None:
                waiting[found] = renumbered(batch, found, batch.num_rows)
            while due in waiting:
                yield due, waiting.pop(due)
                due += 1
    while due in waiting:
        yield due, waiting.pop(due)
        due += 1
