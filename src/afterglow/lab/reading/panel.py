"""Read totals of several units from CSV files: one row for each step and unit, or one column for each unit.

    time,region,total          time,north,south
    2026-03-01,north,1200      2026-03-01,1200,790
    2026-03-01,south,790       2026-03-02,1185,801

Times, numbers and separators are read as `read_totals` does. In a file of rows, a column of arms says what each unit
played. A unit without a row in a step, or with an empty cell, is NaN in it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from afterglow.errors import BadFormat, argument
from afterglow.lab.reading.columns import Table, column, column_named, number_column, table, time_column, words
from afterglow.lab.reading.guess import all_whole, mostly_numbers, times_of
from afterglow.lab.reading.steps import RowOrder, by_number, by_time
from afterglow.lab.reading.tables import checked_decimal, whole_numbers
from afterglow.lab.reading.text import Source
from afterglow.lab.reading.void import without_void

UNIT_NAMES = [
    "unit", "region", "area", "market", "store", "shop", "branch", "site", "city", "country", "zone", "segment",
    "machine", "server", "campaign", "station", "depot", "filiale", "gebiet", "markt", "standort",
]  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """Totals by step and unit, in the order of time; not a number where none is known."""

    units: list[str]
    values: list[list[float]]  # of each step, one for each unit
    arms: list[list[str]] | None  # of each step, one for each unit, "" where it is not known
    step: timedelta | str | None
    notes: list[str]

    def of_unit(self, place: int) -> list[float]:
        return [row[place] for row in self.values]


def read_panel(
    source: Source,
    *,
    unit: str | None = None,
    arm_column: str | None = None,
    column: str | None = None,
    step: str | None = None,
    zone: str | None = None,
    decimal: str | None = None,
    arms: bool = False,
) -> Panel:
    r"""Totals of several units; with `arms` also what each played. `unit` names the column of the units.

    >>> read_panel("day,region,total\n1,north,12\n1,south,8\n2,north,11\n2,south,9\n").values
    [[12.0, 8.0], [11.0, 9.0]]
    >>> read_panel("day,north,south\n1,12,8\n2,11,9\n").units
    ['north', 'south']
    """
    roles = ("time", "step", *(["arm"] if arms else []), "total")
    named: dict[str, str | None] = {"total": column, "time": step}
    if arms:
        named["arm"] = arm_column
    found = table(source, roles, named)
    place = unit_column(found, unit)
    order, used = order_of(found, zone, place)
    if place is None:
        if arms:
            raise BadFormat(
                f"{found.grid.name} has no column of units; name it, such as {argument('unit', 'region')}",
                kind="unclear-column",
                field="unit",
            )
        return from_columns(found, order, used, checked_decimal(decimal))
    return from_rows(found, order, place, checked_decimal(decimal), arms)


def unit_column(found: Table, unit: str | None) -> int | None:
    """The column of the units; None if each unit has a column of its own."""
    if unit is not None:
        return column_named(found.grid, found.header, unit, "unit")
    taken = {place for role, place in found.places.items() if role in found.named}
    for place, name in enumerate(found.header):
        if place not in taken and any(word in UNIT_NAMES for word in words(name)):
            return place
    return None


def order_of(found: Table, zone: str | None, unit: int | None) -> tuple[RowOrder, set[int]]:
    """The order of the rows by step, and the columns that told it."""
    places = found.places
    if unit is not None:
        places |= {"unit": unit}
    for role in ("time", "step"):
        if role in places and role not in found.named and places[role] == unit:
            del places[role]
    if "time" in places and not found.is_time("time"):
        if not all_whole(found.cells("time")):
            raise found.refuse(0, "time", "is no time")
        places["step"] = places.pop("time")
    if "time" not in places and "step" not in places:
        timed = times_of(found)
        if not timed:
            raise BadFormat(
                f"{found.grid.name} has no column of times or steps; name it, such as {argument('step', 'day')}",
                kind="unclear-column",
                field="step",
            )
        places["time"] = timed[0]
    if "time" in places:
        return by_time(found.grid, time_column(found, "time", zone)), {places["time"]}
    return by_number(found.grid, whole_numbers(found)), {places["step"]}


def from_columns(found: Table, order: RowOrder, used: set[int], decimal: str | None) -> Panel:
    """One column for each unit: all that have numbers."""
    chosen = [
        place
        for place in range(len(found.header))
        if place not in used and place not in found.spent and mostly_numbers(column(found, place))
    ]
    if len(chosen) < 2:
        names = ", ".join(found.header)
        raise BadFormat(
            f"{found.grid.name} must have a column of units, or a column for each of two units at least, it has "
            f"{names}; name the column of units, such as {argument('unit', 'region')}",
            kind="unclear-column",
            field="unit",
        )
    columns = []
    for place in chosen:
        found.places["total"] = place
        columns.append(number_column(found, "total", decimal))
    values = [[summed([numbers[row] for row in rows]) for numbers in columns] for rows in order.rows]
    return Panel([found.header[place] for place in chosen], values, None, order.length, [*found.notes, *order.notes])


def from_rows(found: Table, order: RowOrder, unit: int, decimal: str | None, arms: bool) -> Panel:
    """One row for each step and unit."""
    if "total" not in found.places or found.places["total"] == unit:
        free = [place for place in found.free if place != unit and mostly_numbers(column(found, place))]
        if len(free) != 1:
            could = ", ".join(found.header[place] for place in free) or "none"
            raise BadFormat(
                f"{found.grid.name} must have one column of totals beside the units, these could be it: {could}; "
                f"name it with {argument('column')}",
                kind="unclear-column",
                field="column",
            )
        found.places["total"] = free[0]
    if arms and "arm" not in found.places:
        raise BadFormat(
            f"{found.grid.name} has no column of arms; name it with {argument('arm_column')}",
            kind="unclear-column",
            field="arm_column",
        )
    totals, missed = without_void(found, number_column(found, "total", decimal))
    names = [cell.strip() for cell in found.cells("unit")]
    units = list(dict.fromkeys(name for name in names if name))
    if len(units) < 2:
        raise BadFormat(f"{found.grid.name} must have at least 2 units, column {found.header[unit]!r} has {units}")
    played = found.cells("arm") if arms else [""] * len(names)
    values: list[list[float]] = []
    arms_of: list[list[str]] = []
    for rows in order.rows:
        mine = {name: [row for row in rows if names[row] == name] for name in units}
        for name, own_rows in mine.items():
            if len({played[row] for row in own_rows}) > 1:
                raise found.refuse(own_rows[1], "arm", f"can't be: {name} has another arm in the same step")
        values.append([summed([totals[row] for row in mine[name]]) for name in units])
        arms_of.append(["" if not mine[name] or mine[name][0] in missed else played[mine[name][0]] for name in units])
    return Panel(units, values, arms_of if arms else None, order.length, [*found.notes, *order.notes])


def summed(parts: Sequence[float]) -> float:
    """The sum of what is known."""
    known = [part for part in parts if not math.isnan(part)]
    return math.fsum(known) if known else math.nan
