"""Source text of users' policies, spreads and reward laws, stored with the results.

The whole file of every function that is reached is stored, as it is when the study is run, or the text of the function
where it has no file, as in a notebook. Afterglow's own code and installed packages are left out.
"""

import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any

from afterglow.engine.compiling import read
from afterglow.lab.study.code.digest import LIBRARIES
from afterglow.lab.study.grid import Cell
from afterglow.policies.registry import is_ours

OURS = str(Path(__file__).parents[3])
LONGEST = 1_000_000  # characters of one file


def sources_of(cells: Iterable[Cell]) -> dict[str, str]:
    """The text of each file or function that users wrote, by its name."""
    found: dict[str, str] = {}
    parts = dict.fromkeys(part for cell in cells for part in own_parts(cell))
    for function in reached(parts):
        name, text = source(function)
        if text and found.get(name, text) != text:  # another file of that name
            name = f"{Path(file_of(function)).parent.name}/{name}"
        if text:
            found[name] = text[:LONGEST]
    return dict(sorted(found.items()))


def own_parts(cell: Cell) -> Iterator[Any]:
    """Functions and classes that a cell takes from a user."""
    if not is_ours(cell.policy):
        values = (getattr(cell.policy, one.name) for one in fields(cell.policy))
        yield from (value for value in values if isinstance(value, FunctionType | type) or hasattr(value, "py_func"))
    if cell.world.spread.function is not None:
        yield cell.world.spread.function
    yield from (type(law) for law in cell.world.rewards)


def reached(parts: Iterable[Any]) -> Iterator[Any]:
    """Users' functions and classes among these, and all that they call by name."""
    waiting, met = list(parts), set()
    while waiting:
        part = waiting.pop(0)
        part = getattr(part, "py_func", part)
        if not isinstance(part, FunctionType | type) or part in met:
            continue
        met.add(part)
        if file_of(part).startswith((OURS, *LIBRARIES)):
            continue
        yield part
        waiting += read(part).values() if isinstance(part, FunctionType) else vars(part).values()


def file_of(part: Any) -> str:
    """The file that defines a function or class; empty if there is none."""
    if isinstance(part, FunctionType):
        return part.__code__.co_filename
    if part.__module__ == "builtins":
        return "<frozen"
    return getattr(sys.modules.get(part.__module__), "__file__", None) or ""


def source(part: Any) -> tuple[str, str]:
    """The name and the text of a file, or of a function without a file; the text is empty if it is not known."""
    path = Path(file_of(part))
    try:
        if path.suffix == ".py" and path.is_file():
            return path.name, path.read_text(encoding="utf-8")
        return f"{part.__qualname__}.py", inspect.getsource(part)
    except (OSError, TypeError, UnicodeDecodeError):
        return part.__qualname__, ""
