"""Rows of an export whose total doesn't count: void, missed and incomplete steps.

A column `void` marks them with true, a column `role` with `missed` (not even the arm is known) or `last` (the step was
incomplete). Whatever total such a row has is ignored.
"""

import math

from afterglow.lab.reading.columns import Table, column

SAID = dict.fromkeys(("true", "1", "yes", "y", "x", "ja", "wahr"), True)
SAID |= dict.fromkeys(("false", "0", "no", "n", "", "nein", "falsch"), False)
ROLES = {"plan", "washout", "outside", "shadow", "missed", "last"}


def without_void(found: Table, values: list[float]) -> tuple[list[float], set[int]]:
    """(totals, NaN where a row doesn't count; the rows without an arm); adds a note with their number."""
    roles = roles_of(found)
    missed = {row for row, role in enumerate(roles) if role == "missed"}
    last = {row for row, role in enumerate(roles) if role == "last"}
    void = voided(found) - missed - last
    parts = [
        f"{len(rows):,} {word}"
        for rows, word in ((void, "void"), (missed, "missed"), (last, "incomplete at the end"))
        if rows
    ]
    if parts:
        found.notes.append(f"steps whose total doesn't count: {', '.join(parts)}; read as unknown")
    gone = void | missed | last
    return [math.nan if row in gone else value for row, value in enumerate(values)], missed


def roles_of(found: Table) -> list[str]:
    """The role of each step, if there is a column of roles."""
    cells = [cell.lower() for cell in called(found, "role")]
    return cells if set(cells) <= ROLES else []


def voided(found: Table) -> set[int]:
    """The rows that are void."""
    rows = set()
    for row, cell in enumerate(called(found, "void")):
        if cell.lower() not in SAID:
            raise found.grid.refuse(row, "void", cell, "is neither true nor false")
        if SAID[cell.lower()]:
            rows.add(row)
    return rows


def called(found: Table, name: str) -> list[str]:
    """The cells of the column of that name, if it is there and nothing else was taken from it."""
    for place in found.free:
        if found.header[place].lower() == name:
            return column(found, place)
    return []
