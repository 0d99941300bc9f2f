"""A dataclass of numbers as one flat row of 8-byte cells, and back.

First the scalars, then two cells for each list (where it begins in the row, how long it is), then the
lists' numbers. A list may have any length, but keeps it.
"""

import typing
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from afterglow.errors import BadValue

Row = NDArray[np.float64]
SCALARS = {int: "int64", float: "float64"}
LISTS = {list[int]: "int64", list[float]: "float64"}


@dataclass(frozen=True)
class Layout:
    """Where the fields of a dataclass stand in its row: name to cell type, in order."""

    scalars: tuple[tuple[str, str], ...]
    lists: tuple[tuple[str, str], ...]


def layout(kind: type) -> Layout:
    """The layout of a dataclass of int, float, list[int] and list[float]; found once for each."""
    if kind not in known:
        known[kind] = layout_of(kind)
    return known[kind]


known: dict[type, Layout] = {}


def layout_of(kind: type) -> Layout:
    hints = typing.get_type_hints(kind)
    scalars, lists = [], []
    for field in fields(kind):
        hint = hints[field.name]
        if hint in SCALARS:
            scalars.append((field.name, SCALARS[hint]))
        elif hint in LISTS:
            lists.append((field.name, LISTS[hint]))
        else:
            raise BadValue(
                f"{kind.__qualname__}.{field.name} must be int, float, list[int] or list[float] to be compiled, "
                f"got {getattr(hint, '__name__', hint)}",
                kind="bad-record",
                field=field.name,
            )
    return Layout(tuple(scalars), tuple(lists))


def pack(record: Any) -> Row:
    """The record as one row; an int cell holds the int's bits."""
    shape = layout(type(record))
    parts = [whole_cells(record, name, cell, 1) for name, cell in shape.scalars]
    lists = [whole_cells(record, name, cell, len(getattr(record, name))) for name, cell in shape.lists]
    begin = len(shape.scalars) + 2 * len(shape.lists)
    for numbers in lists:
        parts.append(np.array([begin, numbers.size], np.int64).view(np.float64))
        begin += numbers.size
    return np.concatenate([np.empty(0), *parts, *lists])


def whole_cells(record: Any, name: str, cell: str, size: int) -> Row:
    """A field's numbers as cells; an int field that holds anything else is refused, not cut."""
    value = getattr(record, name)
    numbers = np.array(value if isinstance(value, list) else [value])
    if numbers.size and cell == "int64" and not np.issubdtype(numbers.dtype, np.integer):
        sentence = f"{type(record).__qualname__}.{name} is declared int, got {value!r}"
        raise BadValue(sentence, kind="bad-record", field=name)
    return numbers.astype(cell).reshape(size).view(np.float64)


def unpack(kind: type, row: Row) -> Any:
    """The record that a row holds."""
    shape = layout(kind)
    values: dict[str, Any] = {}
    for place, (name, cell) in enumerate(shape.scalars):
        values[name] = row[place : place + 1].view(cell)[0].item()
    heads = row[len(shape.scalars) : len(shape.scalars) + 2 * len(shape.lists)].view(np.int64).reshape(-1, 2)
    for (begin, size), (name, cell) in zip(heads.tolist(), shape.lists, strict=True):
        values[name] = row[begin : begin + size].view(cell).tolist()
    return kind(**values)
