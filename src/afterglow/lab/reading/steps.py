"""Order rows by step: sort them, group rows of the same step, find gaps.

A step is the most frequent distance between neighbouring rows, in seconds, in calendar days where it is a day or
more, in calendar months where all rows have the same day. A table whose rows don't lie on such a grid is refused:
it lists events, and totals per step are needed.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from afterglow.errors import BadFormat
from afterglow.lab.reading.text import CellGrid

DAY = 86_400_000_000  # microseconds
FIRST = datetime(1, 1, 1)
MOST_STEPS = 10_000_000


@dataclass(frozen=True)
class RowOrder:
    """For each step from the first to the last, the rows of it: none at a gap, several where it is repeated."""

    rows: list[list[int]]
    first: int  # number of the first step: as written for numbered steps, else 0
    length: timedelta | str | None  # of a step; "month" or "3 months"; None for numbered steps
    notes: list[str]

    @property
    def gaps(self) -> list[int]:
        """The steps without a row, counted from 0."""
        return [step for step, rows in enumerate(self.rows) if not rows]


def by_number(grid: CellGrid, numbers: Sequence[int]) -> RowOrder:
    """Rows by step numbers as written; what divides all their distances is one step."""
    start = min(numbers)
    length = math.gcd(*(number - start for number in numbers)) or 1
    return order(grid, list(numbers), length, [str(number) for number in numbers])


def by_time(grid: CellGrid, times: Sequence[datetime]) -> RowOrder:
    """Rows by their times."""
    marks = [str(time) for time in times]
    aware = {time.tzinfo is not None for time in times}
    if len(aware) > 1:
        odd = next(place for place, time in enumerate(times) if (time.tzinfo is None) != (times[0].tzinfo is None))
        raise BadFormat(
            f"{grid.name}, row {grid.numbers[odd]:,}: {marks[odd]!r} and {marks[0]!r} must both have an offset or "
            "neither; give a zone for those without"
        )
    wall = [microseconds(time.replace(tzinfo=None)) for time in times]
    spot = [microseconds(time.astimezone(UTC).replace(tzinfo=None)) for time in times] if True in aware else wall
    months = [12 * time.year + time.month for time in times]
    ends = all((time + timedelta(days=1)).day == 1 for time in times)
    alike = len({(0 if ends else time.day, time.hour, time.minute) for time in times}) == 1
    if alike and usual(wall) >= 28 * DAY:
        step = usual(months)
        found = order(grid, months, step, marks)
        return RowOrder(found.rows, 0, "month" if step == 1 else f"{step} months", found.notes)
    length = usual(spot)
    line = spot
    if length >= DAY - DAY // 24 and spot is not wall:
        line, length = wall, usual(wall)
    found = order(grid, line, length, marks)
    return RowOrder(found.rows, 0, timedelta(microseconds=length), found.notes)


def microseconds(time: datetime) -> int:
    """Since the year 1."""
    since = time - FIRST
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def usual(places: Sequence[int]) -> int:
    """The most usual distance of neighbours, the shortest of those as usual; 1 if there are none."""
    ordered = sorted(set(places))
    distances = Counter(later - sooner for sooner, later in pairwise(ordered))
    most = max(distances.values(), default=0)
    return min((length for length, times in distances.items() if times == most), default=1)


def order(grid: CellGrid, places: list[int], step: int, marks: list[str]) -> RowOrder:
    """Rows by their places on a line of integers."""
    start = min(places)
    off = [row for row, place in enumerate(places) if (place - start) % step]
    if off:
        raise BadFormat(
            f"{grid.name}, row {grid.numbers[off[0]]:,}: {marks[off[0]]} is not a whole number of steps after "
            f"{marks[places.index(start)]}; one row for each step is needed, the steps all of one length"
        )
    count = (max(places) - start) // step + 1
    if count > MOST_STEPS or (count > 3 * len(places) and len(places) > 1):
        raise BadFormat(
            f"{grid.name} has {len(places):,} rows for {count:,} steps of its usual length; one row for each step is "
            "needed, so sum events up first"
        )
    rows: list[list[int]] = [[] for _ in range(count)]
    for row, place in enumerate(places):
        rows[(place - start) // step].append(row)
    return RowOrder(rows, start, None, disorder(places))


def disorder(places: Sequence[int]) -> list[str]:
    """A note if rows are not in their order."""
    pairs = list(pairwise(places))
    back = sum(later < sooner for sooner, later in pairs)
    if not back:
        return []
    if all(later <= sooner for sooner, later in pairs):
        return ["rows are newest first; reversed"]
    return [f"rows are not in the order of time in {back:,} places; sorted"]
