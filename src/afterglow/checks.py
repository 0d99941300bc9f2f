"""Argument checks: each returns the value in its type, or raises `BadValue` with argument, rule and value."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any, TypeGuard

from afterglow.errors import BEGIN, BadValue, UnknownName, argument

Name = str | int | float  # of an arm
ARMS = 10_000  # at most
WINDOW, HORIZON = 1_000_000, 10**12  # steps, at most
ROUNDING = 1e-9  # relative amount by which a sum may exceed the largest total


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite number, including NumPy's, and not a bool."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 10**300
    return isinstance(value, Real) and math.isfinite(value)


def number_of(text: str) -> int | float | str:
    """A text as a number, whole ones without rounding; the text itself if it is not a number."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@contextmanager
def about(field: str) -> Iterator[None]:
    """Errors raised inside concern this argument."""
    try:
        yield
    except BadValue as error:
        error.field = field
        raise


def subject(name: str) -> str:
    """What a sentence is about: an argument, or a phrase that marks one."""
    return name if BEGIN in name else argument(name)


def whole(name: str, value: object, least: int, note: str = "") -> int:
    """`value` as an int of at least `least`; `1e6` is accepted."""
    least_of = f"at least {least:,}{' (' + note + ')' if note else ''}"
    rule = f"{subject(name)} must be a whole number of {least_of}, got {value!r}"
    if not is_number(value) or value != int(value) or value < least:
        raise BadValue(rule)
    return int(value)


def at_most(name: str, value: int, most: int, why: str = "") -> int:
    """`value` if it isn't above a limit, which the sentence names."""
    if value > most:
        raise BadValue(f"{subject(name)} must be at most {most:,}{' (' + why + ')' if why else ''}, got {value:.4g}")
    return value


def any_seed(value: object) -> int:
    """`value` as a seed: a whole number that 64 bits hold."""
    seed = whole("seed", value, 0)
    if seed >= 1 << 64:
        raise BadValue(f"{argument('seed')} must be below 2**64" + (f", got {seed:.4g}" if seed < 1e300 else ""))
    return seed


def number(name: str, value: object, above: float = -math.inf, below: float = math.inf, note: str = "") -> float:
    """`value` as a float strictly between `above` and `below`."""
    span = [f"above {above:g}"] * (above > -math.inf) + [f"below {below:g}"] * (below < math.inf)
    rule = f"{subject(name)} must be a number {' and '.join(span)}{' (' + note + ')' if note else ''}, got {value!r}"
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
        raise BadValue(f"{subject(name)} must be a number {span}{' (' + note + ')' if note else ''}, got {value!r}")
    return float(value)


def arm_names(arms: object, field: str = "arms") -> tuple[Name, ...]:
    """At least two names, all different; 0, 1, … if only their number is given."""
    if isinstance(arms, Real):
        return tuple(range(at_most(field, whole(field, arms, 2), ARMS)))
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise BadValue(f"{argument(field)} must be a list of names or a whole number of at least 2, got {arms!r}")
    names = tuple(islice(arms, ARMS + 1))
    at_most(field, len(names), ARMS)
    times = Counter(name for name in names if isinstance(name, Hashable))
    for name in names:
        if isinstance(name, bool) or not (
            isinstance(name, str | int) or (isinstance(name, float) and math.isfinite(name))
        ):
            raise BadValue(f"{argument(field)} must have strings or numbers as names, got {name!r}")
        if times[name] > 1:
            raise BadValue(f"{argument(field)} must have different names, got {name!r} {times[name]} times")
    if len(names) < 2:
        raise BadValue(
            f"{argument(field)} must be at least 2, got {list(names)!r}; with fewer there is nothing to choose"
        )
    return names


def possible_total(total: object, window: int, reward_max: float) -> float:
    """A step's total as a float, if a window of pulls can have paid it."""
    given = float(total) if isinstance(total, Decimal) and not total.is_nan() else total
    if isinstance(given, bool) or not isinstance(given, Real) or given != given:
        raise BadValue(
            f"{argument('total')} must be a number, got {total!r}; a step in which nothing arrived has total 0"
        )
    amount: Any = given
    most = window * reward_max
    if amount < 0:
        raise BadValue(
            f"{argument('total')} must not be negative, got {total!r}; report what is left after refunds and costs, or "
            "shift all totals so that the least is 0"
        )
    if amount > most * (1 + ROUNDING):
        limit = f"{argument('window')} x {argument('reward_max')} = {window:,} x {reward_max:,g} = {most:,g}"
        raise BadValue(
            f"{argument('total')} must be at most {limit}, got {total!r}; if it is right, {argument('reward_max')} or "
            "the window is too small"
        )
    return float(amount)
