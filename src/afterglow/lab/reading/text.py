"""Split a CSV text into rows and cells: encoding, separator, split decimal commas.

Encodings: UTF-8 with or without a byte order mark, UTF-16 as Excel saves "Unicode text", else Windows-1252 with a note.
Separators: tab, semicolon, pipe or comma, detected; a first line `sep=;` is used. Blank lines are skipped, rows keep
their number in the file. A row may end early. It may have an extra cell only where a decimal comma was split by a
separating comma; any other such row is refused.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from pathlib import Path

from afterglow.errors import BadFormat
from afterglow.files import read_whole
from afterglow.lab.reading.frames import Columns, Frame, Rows, is_table, text_of
from afterglow.lab.reading.numbers import is_whole

SEPARATORS = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma"}  # a comma is the least sure sign
MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
LOOKED_AT = 20_000  # rows, to find the separator
DIGITS = re.compile(r"[-+]?\d+")
Source = str | Path | bytes | Frame | Columns | Rows


@dataclass
class CellGrid:
    """Rows of cells, all of the same width, each with its row number in the file."""

    name: str  # of the file, for messages
    rows: list[list[str]]
    numbers: list[int]
    separator: str
    notes: list[str] = field(default_factory=list)

    def refuse(self, row: int, column: str, cell: str, why: str) -> BadFormat:
        """The error for a cell that can't be read; `row` counts from 0."""
        return BadFormat(f"{self.name}, row {self.numbers[row]:,}, column {column!r}: {cell!r} {why}")


def grid(source: Source) -> CellGrid:
    """The cells of a file (a path), of a data frame, or of the text itself (a string with a line break, or bytes)."""
    name, text, notes = read(source)
    frame = is_table(source)  # written with commas, and a row without any value is a step
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")  # old Mac line ends too
    first = text.lstrip()[:10].partition("\n")[0].strip()
    hinted = re.fullmatch(r'"?sep=(.)"?', first, re.IGNORECASE)
    separator = "," if frame else hinted[1] if hinted else separator_of(text)
    rows, numbers = cut(text, separator, name, blank=frame)
    if hinted and not frame:
        rows, numbers = rows[1:], numbers[1:]
    if not rows:
        raise BadFormat(f"{name} has no rows; export it again with its totals")
    found = CellGrid(name, rows, numbers, separator, notes)
    normalise(found)
    return found


def read(source: Source) -> tuple[str, str, list[str]]:
    """(name for messages, text, notes)."""
    if isinstance(source, bytes):
        return "the table", *decode(source, "the table")
    if isinstance(source, str) and "\n" in source:
        return "the table", source.removeprefix("\ufeff"), []
    if not isinstance(source, str | Path):
        return "the table", text_of(source), []
    return Path(source).name, *decode(read_whole(source, "source"), str(source))


def decode(data: bytes, name: str) -> tuple[str, list[str]]:
    """The text of a file, and notes on its encoding."""
    encoding = next((MARKS[mark] for mark in MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and data[1:2] == b"\0":
        encoding = "utf-16-le"
    if encoding == "utf-8" and data[:1] == b"\0":
        encoding = "utf-16-be"
    notes = []
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        notes.append(f"{name} is not {encoding.upper().removesuffix('-SIG')}; read as Windows-1252")
    if "\0" in text:
        raise BadFormat(f"{name} is not text; save the table as CSV")
    return text, notes


def separator_of(text: str) -> str:
    """The separator that splits most of the first rows into the same number of cells; a comma if none does."""
    best, most = ",", 0
    for separator in SEPARATORS:
        widths = Counter(len(row) for row in islice(rows_of(text, separator), LOOKED_AT) if len(row) > 1)
        alike = max(widths.values(), default=0)
        if alike > most:
            best, most = separator, alike
    return best


def rows_of(text: str, separator: str) -> Iterator[list[str]]:
    """The rows up to the first that can't be split; `cut` names that one."""
    with suppress(csv.Error):
        yield from csv.reader(StringIO(text), delimiter=separator)


def cut(text: str, separator: str, name: str, *, blank: bool = False) -> tuple[list[list[str]], list[int]]:
    """Rows that are not empty, or all with `blank`, and their numbers from 1 on."""
    rows, numbers, line = [], [], 1
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=separator != "\t")
    try:
        for row in reader:
            cells = [cell.strip().strip("\ufeff\u200e\u200f") for cell in row]
            if blank or any(cells):
                rows.append(cells or [""])
                numbers.append(line)
            line = reader.line_num + 1
    except csv.Error as problem:
        why = f"a cell has more than {csv.field_size_limit():,} characters; is a quote left open?"
        raise BadFormat(f"{name}, row {line:,}: {why if 'field larger' in str(problem) else problem}") from None
    return rows, numbers


def normalise(found: CellGrid) -> None:
    """Drop titles above the table and empty columns, join split decimal commas, fill short rows."""
    widths = Counter(len(row) for row in found.rows)
    usual = widths.most_common(1)[0][0]
    while len(found.rows) > 2 and len(found.rows[0]) == 1 < usual and len(found.rows[1]) in (1, usual):
        if found.separator == "," and all(has_split_decimal(row, 1) for row in found.rows[1:]):
            break  # a header of one column over decimal commas
        found.notes.append(f"row {found.numbers[0]:,} is above the table: {found.rows[0][0]!r}")
        del found.rows[0], found.numbers[0]
    width = len(found.rows[0])
    longer = any(len(row) > width for row in found.rows)
    if longer and found.separator == "," and all(has_split_decimal(row, width) for row in found.rows[1:]):
        found.rows = [[*row[: width - 1], ",".join(row[width - 1 :])] for row in found.rows]
        found.notes.append("commas are read as decimal commas where a row has a cell more than the first")
    else:
        width = max(width, usual)
    for place, row in enumerate(found.rows):
        if any(row[width:]):
            raise BadFormat(
                f"{found.name}, row {found.numbers[place]:,} has {len(row)} cells where the others have {width}: "
                f"{found.separator.join(row)!r}"
            )
        del row[width:]
        row.extend([""] * (width - len(row)))
    used = [column for column in range(width) if any(row[column] for row in found.rows)]
    found.rows = [[row[column] for column in used] for row in found.rows]


def has_split_decimal(row: list[str], width: int) -> bool:
    """Whether an extra cell looks like the decimals of the last one."""
    return len(row) <= width or (len(row) == width + 1 and is_whole(row[width - 1]) and row[width][:1].isdigit())
