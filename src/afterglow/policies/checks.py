"""Checks of single values: the name, the rule, the value, the way out."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import TypeGuard

from afterglow.errors import BadValue, UnknownName


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite number, NumPy's too, and no yes or no."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 10**300
    return isinstance(value, Real) and math.isfinite(value)


def whole(name: str, value: object, least: int, note: str = "") -> int:
    """`value` as an int of at least `least`; `1e6` is accepted."""
    rule = f"{name} must be a whole number of at least {least:,}{' (' + note + ')' if note else ''}, got {value!r}"
    if not is_number(value) or value != int(value) or value < least:
        raise BadValue(rule)
    return int(value)


def any_seed(value: object) -> int:
    """`value` as a seed: a whole number that 64 bits hold."""
    seed = whole("seed", value, 0)
    if seed >= 1 << 64:
        raise BadValue(f"seed must be below 2**64, got {seed:.4g}" if seed < 1e300 else "seed must be below 2**64")
    return seed


def number(name: str, value: object, above: float = -math.inf, below: float = math.inf, note: str = "") -> float:
    """`value` as a float strictly between `above` and `below`."""
    span = [f"above {above:g}"] * (above > -math.inf) + [f"below {below:g}"] * (below < math.inf)
    rule = f"{name} must be a number {' and '.join(span)}{' (' + note + ')' if note else ''}, got {value!r}"
    if not is_number(value) or not above < value < below:
        raise BadValue(rule)
    return float(value)


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    """`value` if it is one of `choices`."""
    if value not in choices:
        raise UnknownName(name, str(value), choices, f"it is one of {', '.join(choices)}")
    return str(value)


def between(name: str, value: object, least: float, most: float = math.inf, note: str = "") -> float:
    """`value` as a finite float of at least `least` and at most `most`."""
    span = f"of at least {least:g}" + (f" and at most {most:g}" if most < math.inf else "")
    if not is_number(value) or not least <= value <= most:
        raise BadValue(f"{name} must be a number {span}{' (' + note + ')' if note else ''}, got {value!r}")
    return float(value)
