"""Sums of floats that are the same in every release of Python.

From Python 3.12 on the built-in `sum` compensates rounding errors of floats. What was decided and stored with 3.11 must
be replayed to the bit, and a compiled policy adds in order, so what is decided or stored is added in order here too.
Whole numbers may be added by `sum`.
"""

from collections.abc import Iterable


def added(values: Iterable[float]) -> float:
    """The sum of numbers, added one after the other.

    >>> added([0.1] * 10)
    0.9999999999999999
    """
    total = 0.0
    for value in values:
        total += value
    return total
