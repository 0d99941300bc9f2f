"""Assign roles (time, step, arm, total) to the columns of a table by name, content or position."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from afterglow.errors import BadFormat, Sentence, UnknownName
from afterglow.lab.reading.calendar import join_date, join_hours
from afterglow.lab.reading.clock import join_clock
from afterglow.lab.reading.numbers import apart, decimal_sign, is_missing, is_whole, plain_values, value
from afterglow.lab.reading.text import DIGITS, CellGrid, Source, grid
from afterglow.lab.reading.times import day_comes_first, evenly, moment, placed

NAMES = {
    "time": "time timestamp datetime date day hour week month when period datum zeit uhrzeit zeitpunkt tag stunde "
    "monat date_time created_at ts fecha heure jour",
    "step": "step steps schritt t slot timestamp datetime date_time zeitpunkt when time zeit date datum hour stunde "
    "uhrzeit day tag period week woche month monat created_at ts fecha heure jour n no nr number index idx i id row #",
    "arm": "arm arms variant variante variation treatment group action choice option policy condition version bucket "
    "creative price setting",
    "total": "total totals value values amount sum reward rewards revenue sales turnover income margin profit orders "
    "conversions clicks count y x umsatz summe betrag wert gesamt gross net",
}
ARGUMENTS = {
    "total": "column",
    "time": "step",
    "step": "step",
    "arm": "arm_column",
    "expected": "expected",
}  # that name a role's column
TIMES = ("time", "step")  # roles that a date and its time of day may have together
MOST_TITLES = 10  # rows above a header
FOOTERS = {"total", "totals", "sum", "summe", "gesamt", "grand total", "average", "mean"}


@dataclass
class Table:
    """A grid whose columns have their roles."""

    grid: CellGrid
    header: list[str]  # names of all columns, those of a table without a header are 1, 2, …
    places: dict[str, int]
    named: frozenset[str] = frozenset()  # roles whose column the caller has named
    spent: frozenset[int] = frozenset()  # columns joined into another, such as a time of day into its date

    @property
    def notes(self) -> list[str]:
        return self.grid.notes

    @property
    def free(self) -> list[int]:
        """The columns that have no role yet."""
        return [place for place in range(len(self.header)) if place not in {*self.places.values(), *self.spent}]

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
    """The table with a place for each role that is named, or that a column is called like."""
    found = grid(source)
    drop_titles(found)
    if totals_alone:
        join_decimals(found)
    header = header_of(found)
    drop_footer(found)
    if not found.rows:
        raise BadFormat(f"{found.name} has a header and no rows; export it again with its totals")
    said = {
        role: column_named(found, header, name, ARGUMENTS[role]) for role, name in named.items() if name is not None
    }
    taken = {place for role, place in said.items() if role not in TIMES}
    spent = join_date(found, header, taken)
    joined = join_clock(found, header, taken | spent) or join_hours(found, header, taken | spent)
    if joined:
        date, clock = joined
        spent.add(clock)
        said = {role: date if place == clock else place for role, place in said.items()}
    names = header or [str(place + 1) for place in range(len(found.rows[0]))]
    places = by_name(header, [role for role in roles if role not in said], {*said.values(), *spent})
    return Table(found, names, places | said, frozenset(said), frozenset(spent))


def drop_titles(found: CellGrid) -> None:
    """Leave out rows above the header that say something in their first cell alone, as spreadsheets pad titles."""
    filled = [sum(map(bool, row)) for row in found.rows[: MOST_TITLES + 1]]
    count = next((place for place, cells in enumerate(filled) if cells > 1), 0)
    if all(row[0] and is_header(row) for row in found.rows[:count]) and is_header(found.rows[count]):
        for number, row in zip(found.numbers[:count], found.rows[:count], strict=True):
            found.notes.append(f"row {number:,} is above the table: {row[0]!r}")
        del found.rows[:count], found.numbers[:count]


def join_decimals(found: CellGrid) -> None:
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


def header_of(found: CellGrid) -> list[str]:
    """Take the header off, if there is one; it has no number in it where the rows below have one."""
    first = found.rows[0]
    if not is_header(first):
        return []
    del found.rows[0], found.numbers[0]
    return [name or str(place + 1) for place, name in enumerate(first)]


def drop_footer(found: CellGrid) -> None:
    """Leave out a last row with the sum of the others."""
    if len(found.rows) > 2 and found.rows[-1][0].lower().rstrip(":") in FOOTERS:
        found.notes.append(f"row {found.numbers[-1]:,} is the sum of the others and is left out")
        del found.rows[-1], found.numbers[-1]


def words(name: str) -> list[str]:
    """A column's name as words: the whole, then its parts."""
    plain = re.sub(r"[\s_\-]*[\[(].*[\])]", "", name.strip().lower())
    return [plain, *re.split(r"[\s_\-./]+", plain)]


def by_name(header: Sequence[str], roles: Sequence[str], taken: Collection[int]) -> dict[str, int]:
    """The columns not yet taken that are called like a role; the role's own name before its synonyms."""
    places: dict[str, int] = {}
    for exact in (True, False):
        for role in roles:
            known = NAMES[role].split()
            ranked = [
                (known.index(word), place)
                for place, name in enumerate(header)
                for word in (words(name)[:1] if exact else words(name))
                if word in known and place not in {*places.values(), *taken}
            ]
            if ranked and role not in places:
                places[role] = min(ranked)[1]
    return places


def column_named(found: CellGrid, header: Sequence[str], name: str, field: str) -> int:
    """The column that the caller names, by its name or by its number from 1 on."""
    plain = [one.lower() for one in header]
    if name.lower() in plain:
        return plain.index(name.lower())
    width = len(found.rows[0])
    if name.isdigit() and 1 <= int(name) <= width:
        return int(name) - 1
    way_out = f"{found.name} has {', '.join(header) or f'1 to {width}'}"
    raise UnknownName("column", name, header, way_out, field=field)


def column(found: Table, place: int) -> list[str]:
    return [row[place] for row in found.grid.rows]


def mostly_times(texts: Sequence[str]) -> bool:
    """Whether more than half of the cells are times, of a long column of cells evenly chosen."""
    texts = evenly(texts)
    times = sum(moment(text) is not None or moment(text, day_first=False) is not None for text in texts)
    return 2 * times > len(texts)


def number_column(found: Table, role: str, decimal: str | None) -> list[float]:
    """A column's numbers; not a number where nothing is written."""
    texts = found.cells(role)
    sign, note = (decimal, None) if decimal else decimal_sign(texts, found.grid.separator)
    if note:
        found.notes.append(Sentence(f"column {found.header[found.places[role]]!r}: {note}"))
    if sign == "." and (plain := plain_values(texts)) is not None and not any(map(math.isinf, plain)):
        return plain
    numbers = []
    some = any("%" in text for text in texts)
    percent = {part.percent for text in texts if (part := apart(text))} if some else set()
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
