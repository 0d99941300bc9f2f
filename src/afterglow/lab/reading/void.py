"""Rows that say themselves that their total doesn't count, as `afterglow export` writes them.

In a column `void` that is so where it is true, in a column `role` where it is `missed` (nobody was there, not even the
arm is known) or `last` (the step was cut short). What else may be written as total in such a row is no total.
"""

import math

from afterglow.lab.reading.columns import Table, column

SAID = dict.fromkeys(("true", "1", "yes", "y", "x", "ja", "wahr"), True)
SAID |= dict.fromkeys(("false", "0", "no", "n", "", "nein", "falsch"), False)
ROLES = {"plan", "washout", "outside", "shadow", "missed", "last"}


def without_void(found: Table, values: list[float]) -> tuple[list[float], set[int]]:
    """(totals, not a number where a row doesn't count; the rows without an arm), and a note how many they are."""
    roles = roles_of(found)
    missed = {row for row, role in enumerate(roles) if role == "missed"}
    last = {row for row, role in enumerate(roles) if role == "last"}
    void = voided(found) - missed - last
    parts = [
        f"{len(rows):,} {word}"
        for rows, word in ((void, "void"), (missed, "missed"), (last, "cut short by the end"))
        if rows
    ]
    if parts:
        found.notes.append(f"steps whose total doesn't count: {', '.join(parts)}; taken as not known")
    gone = void | missed | last
    return [math.nan if row in gone else value for row, value in enumerate(values)], missed


def roles_of(found: Table) -> list[str]:
    """What each step was for, if a column says so in the words of an export."""
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
