"""Data frames of pandas, Polars and Arrow, and columns as lists, read like CSV files.

A frame is written as CSV text, so that names of columns, times, gaps and units are recognised in the same way, whatever
the table comes from. An index of a pandas frame that has a name or times is a column too.
"""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, Protocol, runtime_checkable

from afterglow.errors import BadValue, MissingExtra


@runtime_checkable
class Frame(Protocol):
    """A data frame: pandas, Polars, Arrow, or anything else that narwhals reads."""

    @property
    def columns(self) -> Any: ...


Columns = Mapping[str, Sequence[Any]]


def is_table(source: object) -> bool:
    """Whether it is a frame or columns, not a path, text or totals alone."""
    return isinstance(source, Mapping | Frame)


def text_of(source: "Frame | Columns") -> str:
    """The table as CSV text."""
    if isinstance(source, Mapping):
        return text_of_columns(source)
    try:
        import narwhals  # noqa: PLC0415  only frames need it
    except ImportError:
        raise MissingExtra("a data frame", "fit") from None
    try:
        frame = narwhals.from_native(with_index(source))
    except TypeError:
        raise BadValue(
            f"a table must be a path, CSV text, a data frame or a dict of columns, got {type(source).__name__}",
            field="source",
        ) from None
    eager = frame.collect() if isinstance(frame, narwhals.LazyFrame) else frame
    if not len(eager):
        raise BadValue("the data frame has no rows", field="source")
    return eager.write_csv()


def with_index(frame: Any) -> Any:
    """A pandas frame with an index that says something as its first column."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    plain = index.name is None and str(getattr(index, "dtype", "")).startswith("int")
    if plain:
        return frame
    named = frame.rename_axis(index=index.name or "time") if getattr(index, "nlevels", 1) == 1 else frame
    return named.reset_index()


def text_of_columns(columns: Columns) -> str:
    """Columns as lists, which must be equally long."""
    lengths = {name: len(values) for name, values in columns.items()}
    if not lengths or 0 in lengths.values() or len(set(lengths.values())) > 1:
        raise BadValue(f"columns must be equally long and not empty, got {lengths}", field="source")
    into = StringIO()
    writer = csv.writer(into, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return into.getvalue()


def cell(value: Any) -> str:
    """A value as text; None and NaN are unknown."""
    return "" if value is None or value != value else str(value)
