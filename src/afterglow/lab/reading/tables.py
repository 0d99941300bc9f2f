"""Read totals, or steps with arms and totals, from CSV files of any common form.

`read_totals` reads a time and a total per row, or totals alone; `read_steps` reads step, arm and total. Columns
are found by name, else by content, else by position. Choices that matter are in `notes`; what can't be read is an error
that names row, column and text.

A step without a row, or with an empty cell, is NaN, because the file doesn't show whether the total was 0 or is
unknown; so is a void or missed step of an export (`void`). `missing="zero"` reads it as 0. Identical rows for the same
step are counted once, others are summed.
"""

import math
from calendar import monthrange
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from afterglow.checks import choice
from afterglow.errors import BadFormat, BadValue, Sentence, argument
from afterglow.lab.reading.columns import Table, column, number_column, table, time_column
from afterglow.lab.reading.guess import guess_steps, guess_totals, mostly_numbers
from afterglow.lab.reading.steps import RowOrder, by_number, by_time
from afterglow.lab.reading.text import Source
from afterglow.lab.reading.void import called, without_void

__all__ = ["Source", "Steps", "Totals", "read_steps", "read_totals"]


@dataclass(frozen=True)
class Totals:
    """Pooled totals, one for each step in order; not a number where none is known."""

    values: list[float]
    times: list[datetime] | None  # of the steps that have a row, else that of the row before plus a step; None without
    step: timedelta | str | None  # from one total to the next; "month" for months
    notes: list[str]  # what was chosen, repaired or left out
    column: str = ""  # that the totals come from
    others: tuple[str, ...] = ()  # columns that might have been it
    added: int = 0  # steps whose rows were added up
    expected: list[float] | None = None  # what was expected of each step beforehand, from the column that is named

    @property
    def gaps(self) -> list[int]:
        """The steps of which no total is known."""
        return [place for place, value in enumerate(self.values) if math.isnan(value)]


@dataclass(frozen=True)
class Steps:
    """Arms and totals by step; rows in order, steps without a row left out."""

    step: list[int]
    arm: list[str]
    total: list[float]  # not a number where the cell is empty
    notes: list[str]
    expected: list[float] | None = None  # what was expected of each step beforehand, from the column that is named


def read_totals(
    source: Source,
    *,
    column: str | None = None,
    step: str | None = None,
    zone: str | None = None,
    decimal: str | None = None,
    missing: str = "nan",
    expected: str | None = None,
) -> Totals:
    r"""Totals from a path, or from the text itself (a string with a line break, or bytes).

    `column` and `step` name the columns of totals and of times or step numbers where they can't be guessed; `zone` is
    that of times without an offset, such as Europe/Berlin; `decimal` is "." or ","; `expected` names a column with what
    was expected of each step beforehand.

    >>> read_totals("day;sales\n31.12.2026;1.234,50\n01.01.2027;987,00\n").values
    [1234.5, 987.0]
    """
    choice("missing", missing, ("nan", "zero"))
    found = table(
        source,
        ("time", "step", "total"),
        {"total": column, "time": step, "expected": expected},
        totals_alone=expected is None,
    )
    guess_totals(found)
    values, _ = without_void(found, number_column(found, "total", checked_decimal(decimal)))
    if "time" in found.places:
        times = time_column(found, "time", zone)
        order = by_time(found.grid, times)
        return totals(found, order, added_up(found, order, values), filled(order, times), missing, decimal)
    if "step" in found.places:
        order = by_number(found.grid, whole_numbers(found))
        return totals(found, order, added_up(found, order, values), None, missing, decimal)
    return totals(found, None, values, None, missing, decimal)


def read_steps(
    source: Source,
    *,
    step: str | None = None,
    arm_column: str | None = None,
    column: str | None = None,
    zone: str | None = None,
    decimal: str | None = None,
    expected: str | None = None,
) -> Steps:
    r"""Step, arm and total from a path or text. Steps are numbers or times, 0, 1, … if there is no such column.

    `step`, `arm_column` and `column` name the columns where they can't be guessed, `column` that of the totals,
    `expected` one with what was expected of each step beforehand.

    >>> read_steps("Hour,Variant,Sales\n1,A,10\n2,A,12\n4,B,9\n").step
    [1, 2, 4]
    """
    roles = ("step", "arm", "total")
    found = table(source, roles, {"step": step, "arm": arm_column, "total": column, "expected": expected})
    guess_steps(found, roles)
    values, missed = without_void(found, number_column(found, "total", checked_decimal(decimal)))
    names = arms_of(found, missed)
    note_expected(found)
    if "step" not in found.places:
        found.notes.append("no column for the step; steps are the rows in their order")
        played = [row for row in range(len(values)) if row not in missed]
        told = expected_of(found, None, decimal)
        kept = None if told is None else [told[row] for row in played]
        return Steps(played, [names[row] for row in played], [values[row] for row in played], found.notes, kept)
    timed = time_column(found, "step", zone) if found.is_time("step") else None
    order = by_time(found.grid, timed) if timed else by_number(found.grid, whole_numbers(found))
    one_arm_a_step(found, order, names)
    values = added_up(found, order, values)
    note_gaps(found, order.gaps, "left out")
    used = [place for place, rows in enumerate(order.rows) if rows and rows[0] not in missed]
    numbers = [order.first + place for place in used]
    told = expected_of(found, order, decimal)
    return Steps(
        numbers, [names[order.rows[place][0]] for place in used], [values[place] for place in used], found.notes,
        None if told is None else [told[place] for place in used],
    )  # fmt: skip


def expected_of(found: Table, order: RowOrder | None, decimal: str | None) -> list[float] | None:
    """What was expected, one value for each step; None if no column is named."""
    if "expected" not in found.places:
        return None
    values = number_column(found, "expected", checked_decimal(decimal))
    if order is None:
        return values
    known = [[values[row] for row in rows if not math.isnan(values[row])] for rows in order.rows]
    return [math.fsum(each) if each else math.nan for each in known]


def note_expected(found: Table) -> None:
    """Note a column of expected totals, as an export has, that isn't used."""
    if any(called(found, "expected")):
        use = argument("expected", "expected")
        found.notes.append(Sentence(f"column 'expected' has expected totals and is not used; {use} takes them out"))


def one_arm_a_step(found: Table, order: RowOrder, names: Sequence[str]) -> None:
    """Refuse a step in which two arms were played."""
    for first, *others in (rows for rows in order.rows if rows):
        for row in others:
            if names[row] != names[first]:
                other = f"row {found.grid.numbers[first]:,} has {names[first]!r}"
                units = f"if units play at once, name their column with {argument('unit')}"
                raise found.refuse(row, "arm", f"can't be: {other} for the same step, which has one arm; {units}")


def checked_decimal(decimal: str | None) -> str | None:
    if decimal not in (None, ".", ","):
        raise BadValue(f"{argument('decimal')} must be '.' or ',', got {decimal!r}")
    return decimal


def whole_numbers(found: Table) -> list[int]:
    """The column of step numbers."""
    numbers = number_column(found, "step", None)
    for row, number in enumerate(numbers):
        if not number.is_integer():
            raise found.refuse(row, "step", "is no whole number")
    return [int(number) for number in numbers]


def arms_of(found: Table, missed: Collection[int]) -> list[str]:
    """The column of arms, each named as it was first written, whatever its capitals later; missed rows need none."""
    seen: dict[str, str] = {}
    for row, name in enumerate(found.cells("arm")):
        if not name and row not in missed:
            raise found.refuse(row, "arm", "names no arm; write the arm that was played in this step")
        seen.setdefault(name.casefold(), name)
    return [seen[name.casefold()] for name in found.cells("arm")]


def added_up(found: Table, order: RowOrder, values: Sequence[float]) -> list[float]:
    """One value for each step."""
    found.notes.extend(order.notes)
    sums, same, added, first = [], 0, 0, ""
    for rows in order.rows:
        known = [values[row] for row in rows if not math.isnan(values[row])]
        if len(rows) > 1 and len({tuple(found.grid.rows[row]) for row in rows}) == 1:
            same += len(rows) - 1
            known = known[:1]
        elif len(rows) > 1:
            first = first if added else found.cells("time" if "time" in found.places else "step")[rows[0]]
            added += 1
        sums.append(math.fsum(known) if known else math.nan)
    if same:
        found.notes.append(f"{many(same, 'row repeats', 'rows repeat')} another; counted once")
    if added:
        found.notes.append(f"{many(added, 'step has', 'steps have')} several rows, the first is {first}; summed")
    return sums


def totals(
    found: Table, order: RowOrder | None, values: list[float], times: list[datetime] | None, missing: str,
    decimal: str | None,
) -> Totals:  # fmt: skip
    """What was read, gaps as asked for."""
    gaps = [place for place, value in enumerate(values) if math.isnan(value)]
    if len(gaps) == len(values):
        raise BadFormat(f"{found.grid.name} has no total in its {len(values):,} steps")
    note_gaps(found, gaps, "read as 0" if missing == "zero" else "unknown", times)
    if missing == "zero":
        values = [0.0 if math.isnan(value) else value for value in values]
    rows, length = found.grid.rows, order.length if order else None
    added = sum(len({tuple(rows[row]) for row in each}) > 1 for each in order.rows) if order else 0
    if times and all(time.tzinfo is None for time in times):
        found.notes.append("times have no zone; read as they are written")
        if (added or gaps) and isinstance(length, timedelta) and length < timedelta(days=1):
            zone = argument("zone", "Europe/Berlin")
            found.notes.append(Sentence(f"if clocks were changed in between, name their zone, such as {zone}"))
    others = tuple(found.header[place] for place in found.free if mostly_numbers(column(found, place)))
    chosen = found.header[found.places["total"]]
    return Totals(values, times, length, found.notes, chosen, others, added, expected_of(found, order, decimal))


def note_gaps(found: Table, gaps: Sequence[int], fate: str, times: Sequence[datetime] | None = None) -> None:
    """Note how many steps have no total, and which is the first."""
    if gaps:
        where = f"that of {times[gaps[0]]}" if times else f"number {gaps[0]:,}, counted from 0"
        runs = 1 + sum(later > sooner + 1 for sooner, later in pairwise(gaps))
        found.notes.append(
            f"{many(len(gaps), 'step has', 'steps have')} no total, in {many(runs, 'gap', 'gaps')}, the first is "
            f"{where}; {fate}"
        )


def many(number: int, one: str, more: str) -> str:
    """1 gap, 2 gaps."""
    return f"{number:,} {one if number == 1 else more}"


def filled(order: RowOrder, times: Sequence[datetime]) -> list[datetime]:
    """A time for each step, in order."""
    found: list[datetime] = []
    for rows in order.rows:
        if rows:
            found.append(times[rows[0]])
        elif isinstance(order.length, timedelta):
            found.append(later(found[-1], order.length))
        else:
            found.append(next_month(found[-1], int(str(order.length).split()[0]) if " " in str(order.length) else 1))
    return found


def later(time: datetime, length: timedelta) -> datetime:
    """A step later: in local time for days, in absolute time for less."""
    if time.tzinfo is None or length >= timedelta(days=1):
        return time + length
    return (time.astimezone(UTC) + length).astimezone(time.tzinfo)


def next_month(time: datetime, months: int) -> datetime:
    """The same day some months later, or the last of that month."""
    month = time.month - 1 + months
    year, month = time.year + month // 12, month % 12 + 1
    ends = (time + timedelta(days=1)).day == 1
    return time.replace(year=year, month=month, day=monthrange(year, month)[1] if ends else time.day)
