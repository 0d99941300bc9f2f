"""Amounts as whole micro-units, so that a sum does not depend on the order of its parts."""

from decimal import Decimal
from numbers import Real
from typing import Any

from afterglow.checks import is_number
from afterglow.errors import BadValue, argument

Amount = float | Decimal
MICRO = 1_000_000
LEAST = 0.001  # of reward_max, so that rounding to micro-units doesn't matter
MOST = 10**12  # of window x reward_max, so that it fits 64 bits in micro-units
FULL = 2**63 - 1  # micro-units in the total of a step: a sum beyond is kept as this, and learned as window x reward_max


def micros(name: str, amount: object, most: int) -> int:
    """An amount in micro-units, if it lies between 0 and `most` micro-units."""
    value: Any = amount
    if type(amount) is not float and type(amount) is not int:  # other types need more checks
        value = float(amount) if isinstance(amount, Decimal) and not amount.is_nan() else amount
        if isinstance(value, bool) or not isinstance(value, Real):
            raise BadValue(f"{argument(name)} must be a number, got {amount!r}")
    if value != value:
        raise BadValue(f"{argument(name)} must be a number, got {amount!r}")
    if value < 0:
        raise BadValue(
            f"{argument(name)} must not be negative, got {amount!r}; report what is left after refunds and costs, or "
            "shift totals so that the least is 0"
        )
    if value * MICRO > most + 0.5:
        raise BadValue(
            f"{argument(name)} must be at most window x reward_max = {units(most):,.12g}, got {amount!r}; "
            "if it is right, reward_max or the window is too small"
        )
    return min(most, value * MICRO if isinstance(value, int) else round(float(value) * MICRO))


def signed_micros(name: str, amount: object) -> int:
    """An amount in micro-units, which may be negative: units need no `reward_max`."""
    if type(amount) is int and abs(amount) <= MOST:
        return amount * MICRO
    given = float(amount) if isinstance(amount, Decimal) and not amount.is_nan() else amount
    if not is_number(given) or abs(given) > MOST:
        raise BadValue(f"{argument(name)} must be a number between -{MOST:,} and {MOST:,}, got {amount!r}")
    return round(float(given) * MICRO)


def units(amount: int) -> float:
    """Micro-units in the unit of the experiment."""
    return amount / MICRO
