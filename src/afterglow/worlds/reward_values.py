"""Checks and formatting of the numbers of reward laws."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from afterglow.errors import BadValue, argument


def keep(record: Any, **fields: Any) -> None:
    """Put checked values into a frozen record."""
    for name, value in fields.items():
        object.__setattr__(record, name, value)


def real(name: str, value: object, rule: str, low: float, high: float) -> float:
    """`value` as a float from low to high, both included."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise BadValue(f"{name} must be {rule}, got {value!r}")
    return float(value)


def inside(name: str, value: object) -> float:
    """A number from 0 to 1."""
    return real(name, value, "between 0 and 1", 0.0, 1.0)


def span(kind: str, low: object, high: object) -> tuple[float, float]:
    """Two numbers, 0 <= low < high <= 1."""
    first, last = inside(f"{argument('low')} of {kind}", low), inside(f"{argument('high')} of {kind}", high)
    if not first < last:
        raise BadValue(f"{argument('low')} of {kind} must be below {argument('high')}, got {first:g} and {last:g}")
    return first, last


def listed(name: str, values: object) -> tuple[float, ...]:
    """At least one number, all from 0 to 1."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise BadValue(f"{name} must come in a list, got {values!r}")
    found = tuple(inside(name, value) for value in values)
    if not found:
        raise BadValue(f"{name} must be given at least once, got none")
    return found


def finite(name: str, value: object) -> float:
    """A number that is neither infinite nor NaN."""
    return real(name, value, "a finite number", -1.7e308, 1.7e308)


def short(value: float) -> str:
    """The shortest text that reads back as the same float."""
    return f"{value:.0f}" if value == math.floor(value) and abs(value) < 1e15 else repr(value)


def numbers(text: str, values: Sequence[str]) -> list[float]:
    """Floats out of the pieces of `text`."""
    try:
        return [float(value) for value in values]
    except ValueError as problem:
        raise BadValue(f"{argument('reward')} {text!r} has a part that is not a number ({problem})") from None
