"""Data frames of pandas, Polars and Arrow, and columns or rows as lists, read like CSV files.

A frame is written as CSV text, so that names of columns, times, gaps and units are recognised in the same way, whatever
the table comes from. An index of a pandas frame that has a name or times is a column too, unless a column has its name.
A series is a frame of one column.
"""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, Protocol, TypeGuard, cast

from afterglow.errors import BadValue, MissingExtra


class Frame(Protocol):
    """A data frame: pandas, Polars, Arrow, or anything else that narwhals reads."""

    @property
    def columns(self) -> Any: ...


Columns = Mapping[str, Sequence[Any]]
Rows = Sequence[Mapping[str, Any]] | Sequence[Sequence[Any]]
NESTED = ("List", "Array", "Struct")
TOTAL = "total"  # the column of a series without a name
KINDS = "a path, CSV text, a data frame, a dict of columns or a list of rows"


def is_table(source: object) -> TypeGuard["Frame | Columns | Rows"]:
    """Whether it is a frame, columns or rows, not a path, text or totals alone."""
    return isinstance(source, Mapping) or is_frame(source) or is_rows(source) or is_series(source)


def is_frame(source: object) -> TypeGuard[Frame]:
    """Whether it has columns; its class is asked, because a lazy frame finds out what they are called."""
    return hasattr(type(source), "columns")


def is_series(source: object) -> bool:
    """Whether it is one column of a frame, of pandas or Polars, with the index of pandas."""
    return hasattr(source, "to_frame") and not is_frame(source)


def is_rows(source: object) -> TypeGuard[Rows]:
    """Whether it is a list whose items are rows: dicts, or tuples such as (time, total)."""
    if not isinstance(source, list | tuple) or not source:
        return False
    return isinstance(source[0], Mapping | list | tuple)


def text_of(source: "Frame | Columns | Rows") -> str:
    """The table as CSV text."""
    if isinstance(source, Mapping):
        return text_of_columns(source)
    if is_rows(source):
        return text_of_rows(source)
    try:
        import narwhals  # noqa: PLC0415  only frames need it
    except ImportError:
        raise MissingExtra("a data frame", "fit") from None
    try:
        frame = narwhals.from_native(with_index(as_frame(source)))
    except TypeError:
        raise no_table(source) from None
    eager = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
    if not len(eager):
        raise BadValue("the data frame has no rows", field="source")
    for name, kind in eager.schema.items():
        if str(kind).startswith(NESTED):
            raise BadValue(f"column {name!r} of the data frame has cells of type {kind}; leave it out", field="source")
    return eager.write_csv()


def as_frame(source: Any) -> Any:
    """The frame itself, with names that can tell its columns apart; a series as a frame."""
    if is_series(source):
        return source.to_frame(TOTAL if source.name in {None, ""} else source.name)
    if not is_frame(source):
        raise no_table(source)
    if hasattr(source, "collect"):
        return source  # the names of a lazy frame differ
    if getattr(source.columns, "nlevels", 1) > 1:
        few = "give each column one name, such as frame.columns = [...]"
        raise BadValue(f"the data frame has {source.columns.nlevels} rows of column names; {few}", field="source")
    counts = Counter(getattr(source, "column_names", source.columns))
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise BadValue(f"the data frame has two columns named {twice!r}; drop or rename one", field="source")
    return source


def no_table(source: object) -> BadValue:
    return BadValue(f"a table must be {KINDS}, got {type(source).__name__}", field="source")


def with_index(frame: Any) -> Any:
    """A pandas frame with an index that says something as its first column."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    plain = index.name is None and str(getattr(index, "dtype", "")).startswith("int")
    if plain:
        return frame
    named = frame.rename_axis(index=index.name or "time") if getattr(index, "nlevels", 1) == 1 else frame
    free = [place for place, name in enumerate(named.index.names) if name is None or name not in frame.columns]
    return named.reset_index(level=free) if free else frame


def text_of_columns(columns: Columns) -> str:
    """Columns as lists, which must be equally long."""
    lengths = {name: len(values) for name, values in columns.items()}
    if not lengths or 0 in lengths.values() or len(set(lengths.values())) > 1:
        raise BadValue(f"columns must be equally long and not empty, got {lengths}", field="source")
    return written([tuple(columns), *zip(*columns.values(), strict=True)])


def text_of_rows(rows: Rows) -> str:
    """Rows as dicts, where a missing key is unknown, or as tuples, equally long and in the order of their columns."""
    if all(isinstance(row, Mapping) for row in rows):
        named = cast("Sequence[Mapping[str, Any]]", rows)
        names = list(dict.fromkeys(name for row in named for name in row))
        return written([names, *([row.get(name) for name in names] for row in named)])
    width = len(rows[0])
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list | tuple) or len(row) != width:
            what = "rows must be all dicts, or all tuples of the same length"
            raise BadValue(f"{what}, got {row!r} as row {number:,}", field="source")
    return written(cast("Sequence[Sequence[Any]]", rows))


def written(rows: Sequence[Sequence[Any]]) -> str:
    into = StringIO()
    csv.writer(into, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return into.getvalue()


def cell(value: Any) -> str:
    """A value as text; None and NaN are unknown."""
    return "" if value is None or value != value else str(value)
