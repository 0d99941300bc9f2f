"""Join dates from several columns: year, month and day; or numbered days and hours.

The parts must be whole numbers with plain names. They are written into the column of the day: as a date, or as the
number of the hour since day 0.
"""

from collections.abc import Collection, Sequence
from datetime import date
from itertools import pairwise

from afterglow.errors import BadFormat
from afterglow.lab.reading.text import DIGITS, CellGrid

NAMES = {
    "year": ("year", "jahr", "yyyy"),
    "month": ("month", "monat", "mm"),
    "day": ("day", "tag", "dd"),
    "hour": ("hour", "stunde", "hr"),
}
JUMP = 20  # days from one row to the next that are the start of another month, or its end if the newest come first


def join_date(found: CellGrid, header: Sequence[str], taken: Collection[int]) -> set[int]:
    """Make dates of year, month and day; the places of year and month, none if not all three are there."""
    parts = [whole_column(found, header, taken, part) for part in ("year", "month", "day")]
    if None in parts:
        return set()
    year, month, day = (part for part in parts if part is not None)
    for row, cells in enumerate(found.rows):
        try:
            cells[day] = date(int(cells[year]), int(cells[month]), int(cells[day])).isoformat()
        except ValueError:
            said = f"{cells[year]}-{cells[month]}-{cells[day]}"
            raise found.refuse(row, header[day], said, "is no date") from None
    found.notes.append(
        f"columns {header[year]!r}, {header[month]!r} and {header[day]!r} are read together, as the date"
    )
    return {year, month}


def join_hours(found: CellGrid, header: Sequence[str], taken: Collection[int]) -> tuple[int, int] | None:
    """Number the hours of numbered days; (place of the day, place of the hour), None if there are no such columns."""
    day, hour = (whole_column(found, header, taken, part) for part in ("day", "hour"))
    if day is None or hour is None:
        return None
    days = [int(row[day]) for row in found.rows]
    if len(set(days)) == len(days) or max(int(row[hour]) for row in found.rows) > 24:
        return None
    if max(days) <= 31 and any(abs(later - sooner) > JUMP for sooner, later in pairwise(days)):
        raise BadFormat(
            f"{found.name} has days without their month: {header[day]!r} begins anew; write dates such as 2026-02-23"
        )
    for row, number in zip(found.rows, days, strict=True):
        row[day] = str(24 * number + int(row[hour]))
    found.notes.append(f"columns {header[day]!r} and {header[hour]!r} are read together, as numbered hours")
    return day, hour


def whole_column(found: CellGrid, header: Sequence[str], taken: Collection[int], part: str) -> int | None:
    """The column that is called so and has nothing but whole numbers."""
    for place, name in enumerate(header):
        if place not in taken and name.lower() in NAMES[part]:
            return place if all(DIGITS.fullmatch(row[place]) for row in found.rows) else None
    return None
