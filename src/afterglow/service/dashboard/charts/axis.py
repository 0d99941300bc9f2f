"""Chart axes with round tick values."""

import math
from typing import NamedTuple


class Axis(NamedTuple):
    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Position of a value, percent of the way from the low end to the high one."""
        return round(100 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low), 3)


def axis(low: float, high: float, about: int = 5) -> Axis:
    """An axis over all values, with round ticks inside.

    >>> axis(12.0, 941.2).ticks
    (200.0, 400.0, 600.0, 800.0)
    >>> axis(3.0, 3.0).place(3.0)
    50.0
    """
    if high <= low:
        half = abs(low) / 2 or 1.0
        low, high = low - half, high + half
    size = round_size((high - low) / about)
    first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
    return Axis(low, high, tuple(round(place * size, 12) + 0.0 for place in range(first, last + 1)))


def round_size(size: float) -> float:
    """The next of 1, 2, 5, 10, 20, …"""
    power = 10.0 ** math.floor(math.log10(size))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= size * (1 - 1e-9))
