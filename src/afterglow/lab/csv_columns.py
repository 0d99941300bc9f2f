"""Which column of a table is what: by its name, else by what is in it, else by its place."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from afterglow.errors import BadFormat, UnknownName
from afterglow.lab.csv_numbers import apart, decimal_sign, is_missing, is_whole, value
from afterglow.lab.csv_text import DIGITS, Grid, Source, grid
from afterglow.lab.csv_times import day_comes_first, moment, placed

NAMES = {
    "time": "time timestamp datetime date day hour week month when period datum zeit uhrzeit zeitpunkt tag stunde "
    "monat date_time created_at ts fecha heure jour",
    "step": "step steps t n no nr number index idx i id row slot period hour day time timestamp datetime date week "
    "schritt #",
    "arm": "arm arms variant variante variation treatment group action choice option policy condition version bucket "
    "creative price setting",
    "total": "total totals value values amount sum reward rewards revenue sales turnover income margin profit orders "
    "conversions clicks count y x umsatz summe betrag wert gesamt gross net",
}
FOOTERS = {"total", "totals", "sum", "summe", "gesamt", "grand total", "average", "mean"}


@dataclass
class Table:
    """A grid whose columns have their roles."""

    grid: Grid
    header: list[str]  # names of all columns, those of a table without a header are 1, 2, …
    places: dict[str, int]

    @property
    def notes(self) -> list[str]:
        return self.grid.notes

    def cells(self, role: str) -> list[str]:
        return [row[self.places[role]] for row in self.grid.rows]

    def refuse(self, row: int, role: str, why: str) -> BadFormat:
        """The error for a cell that can't be used."""
        place = self.places[role]
        return self.grid.refuse(row, self.header[place], self.grid.rows[row][place], why)

    def is_time(self, role: str) -> bool:
        """Whether most cells of a column are times."""
        return mostly_times(self.cells(role))


def table(source: Source, roles: Sequence[str], named: Mapping[str, str | None], totals_alone: bool = False) -> Table:
    """The table with a place for each role that it has; the total must be there."""
    found = grid(source)
    if totals_alone:
        mend(found)
    header = header_of(found)
    drop_footer(found)
    places = by_name(header, roles) if header else {}
    for role, name in named.items():
        if name is not None:
            places[role] = column_named(found, header, name)
    width = len(found.rows[0]) if found.rows else 0
    names = header or [str(place + 1) for place in range(width)]
    made = Table(found, names, places)
    if not found.rows:
        raise BadFormat(f"{found.name} has a header and no rows; export it again with its totals")
    if totals_alone:
        guess_totals(made)
    else:
        guess_steps(made, roles)
    return made


def mend(found: Grid) -> None:
    """Two columns of digits of which the first is neither time nor count: one column with decimal commas."""
    body = found.rows if not is_header(found.rows[0]) else found.rows[1:]
    if found.separator != "," or len(found.rows[0]) != 2 or len(body) < len(found.rows):
        return
    heads, tails = [row[0] for row in body], [row[1] for row in body]
    if not all(map(is_whole, heads)) or not all(not tail or (tail[0].isdigit() and is_whole(tail)) for tail in tails):
        return
    decimals = any(tail.startswith("0") and len(tail) > 1 for tail in tails)
    if decimals or not (all(map(moment, heads)) or counts_up(heads)):
        found.rows = [[f"{row[0]},{row[1]}" if row[1] else row[0]] for row in found.rows]
        found.notes.append(f"commas are read as decimal commas, as in {found.rows[0][0]!r}")


def counts_up(texts: Sequence[str]) -> bool:
    """Whether whole numbers rise, mostly by the same."""
    numbers = [int(text) if DIGITS.fullmatch(text) else 0 for text in texts]
    rises = [later - sooner for sooner, later in pairwise(numbers)]
    return bool(rises) and min(rises) > 0 and rises.count(min(rises)) * 2 > len(rises)


def is_header(row: Sequence[str]) -> bool:
    """Whether no cell of a row is a number or a time, and one says something."""
    return not any(apart(cell) or moment(cell) for cell in row) and not all(is_missing(cell) for cell in row)


def header_of(found: Grid) -> list[str]:
    """Take the header off, if there is one; it has no number in it where the rows below have one."""
    first = found.rows[0]
    if not is_header(first):
        return []
    del found.rows[0], found.numbers[0]
    return [name or str(place + 1) for place, name in enumerate(first)]


def drop_footer(found: Grid) -> None:
    """Leave out a last row that sums up the others."""
    if len(found.rows) > 2 and found.rows[-1][0].lower().rstrip(":") in FOOTERS:
        found.notes.append(f"row {found.numbers[-1]:,} sums up the others and is left out")
        del found.rows[-1], found.numbers[-1]


def words(name: str) -> list[str]:
    """A column's name as words: the whole, then its parts."""
    plain = re.sub(r"[\s_\-]*[\[(].*[\])]", "", name.strip().lower())
    return [plain, *re.split(r"[\s_\-./]+", plain)]


def by_name(header: Sequence[str], roles: Sequence[str]) -> dict[str, int]:
    """The columns that are called like a role; the role's own name before its synonyms."""
    places: dict[str, int] = {}
    for exact in (True, False):
        for role in roles:
            known = NAMES[role].split()
            ranked = [
                (known.index(word), place)
                for place, name in enumerate(header)
                for word in (words(name)[:1] if exact else words(name))
                if word in known and place not in places.values()
            ]
            if ranked and role not in places:
                places[role] = min(ranked)[1]
    return places


def column_named(found: Grid, header: Sequence[str], name: str) -> int:
    """The column that the caller names, by its name or by its number from 1 on."""
    plain = [one.lower() for one in header]
    if name.lower() in plain:
        return plain.index(name.lower())
    width = len(found.rows[0])
    if name.isdigit() and 1 <= int(name) <= width:
        return int(name) - 1
    raise UnknownName("column", name, header, f"{found.name} has {', '.join(header) or f'1 to {width}'}")


def guess_totals(found: Table) -> None:
    """Times and totals by what is in the columns."""
    width, places = len(found.header), found.places
    if "time" in places and not found.is_time("time"):
        if any(moment(cell) for cell in found.cells("time")) or not all_whole(found.cells("time")):
            row = next(n for n, cell in enumerate(found.cells("time")) if moment(cell) is None)
            raise found.refuse(row, "time", "is no time")
        places["step"] = places.pop("time")
    if "step" in places and not all_whole(found.cells("step")):
        del places["step"]
    if "time" not in places:
        timed = [n for n in range(width) if n not in places.values() and mostly_times(column(found, n))]
        places |= {"time": timed[0]} if timed else {}
    if "time" in places:
        places.pop("step", None)
    if "total" not in places:
        free = [n for n in range(width) if n not in places.values() and mostly_numbers(column(found, n))]
        if len(free) == 2 and not places and all_whole(column(found, free[0])) and counts_up(column(found, free[0])):
            places["step"] = free.pop(0)
        if len(free) != 1:
            raise unclear(found, "total", free, True)
        places["total"] = free[0]


def guess_steps(found: Table, roles: Sequence[str]) -> None:
    """Step, arm and total by place, where no names tell."""
    width, places = len(found.header), found.places
    if not places and width in (2, 3):
        places |= dict(zip(roles[-width:], range(width), strict=True))
    free = [n for n in range(width) if n not in places.values()]
    if len(places) == len(roles) - 1 and len(free) == 1:
        places[next(role for role in roles if role not in places)] = free[0]
    for role in ("arm", "total"):
        if role not in places:
            raise unclear(found, role, free, False)


def unclear(found: Table, role: str, free: Sequence[int], may_name: bool) -> BadFormat:
    """The error when a column can't be told; in a table of totals alone it may be named."""
    listed = ", ".join(repr(name) for name in found.header)
    if role == "total" and len(free) > 1:
        could = ", ".join(found.header[n] for n in free)
        one = found.header[free[0]]
        way_out = f"say which, such as column={one!r} (--column {one})" if may_name else "call one of them 'total'"
        return BadFormat(f"{found.grid.name} has several columns that could be the total ({could}); {way_out}")
    return BadFormat(f"{found.grid.name} has no column for the {role}; it has {listed}; call one of them {role!r}")


def column(found: Table, place: int) -> list[str]:
    return [row[place] for row in found.grid.rows]


def all_whole(texts: Sequence[str]) -> bool:
    return all(DIGITS.fullmatch(text) for text in texts)


def mostly_times(texts: Sequence[str]) -> bool:
    """Whether more than half of the cells are times."""
    times = sum(moment(text) is not None or moment(text, day_first=False) is not None for text in texts)
    return 2 * times > len(texts)


def mostly_numbers(texts: Sequence[str]) -> bool:
    numbers = sum(apart(text) is not None for text in texts)
    return 2 * numbers > sum(not is_missing(text) for text in texts) and numbers > 0


def number_column(found: Table, role: str, decimal: str | None) -> list[float]:
    """A column's numbers; not a number where nothing is written."""
    texts = found.cells(role)
    sign, note = (decimal, None) if decimal else decimal_sign(texts, found.grid.separator)
    if note:
        found.notes.append(f"column {found.header[found.places[role]]!r}: {note}")
    numbers = []
    percent = {part.percent for text in texts if (part := apart(text))}
    for row, text in enumerate(texts):
        number = value(text, sign)
        if number is None or math.isinf(number):
            other = value(text, "," if sign == "." else ".")
            way = f"; the column's decimal sign is {sign!r}" if other is not None else ""
            raise found.refuse(row, role, f"is no number{way}")
        if len(percent) == 2 and "%" in text:
            raise found.refuse(row, role, "is in percent where other rows are not")
        numbers.append(number)
    return numbers


def time_column(found: Table, role: str, zone: str | None) -> list[datetime]:
    """A column's times."""
    texts = found.cells(role)
    day_first, note = day_comes_first(texts)
    if note:
        found.notes.append(f"column {found.header[found.places[role]]!r}: {note}")
    times = []
    for row, text in enumerate(texts):
        time = moment(text, day_first)
        if time is None:
            raise found.refuse(row, role, "is no time")
        times.append(time)
    return placed(times, zone) if zone else times
