"""Whether what is stored is what a replay leads to, up to rounding.

The C library of another system may round `erfc`, `exp` or `log` otherwise in the last digit, and policies use them. Two
states that differ no more than that decide alike; whole numbers, totals and what was served are compared exactly.
"""

import math
from typing import Any

RELATIVE, ABSOLUTE = 1e-9, 1e-12


def alike(stored: Any, found: Any) -> bool:
    """Whether two values as JSON has them are the same, but for the last digits of numbers with a fraction.

    >>> alike({"shares": [0.1, 1]}, {"shares": [0.10000000000000002, 1]}), alike([1], [2]), alike([0.1], [0.1000001])
    (True, False, False)
    """
    if isinstance(stored, float) and isinstance(found, float):
        return math.isclose(stored, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(stored, dict) and isinstance(found, dict):
        return stored.keys() == found.keys() and all(alike(value, found[name]) for name, value in stored.items())
    if isinstance(stored, list) and isinstance(found, list):
        return len(stored) == len(found) and all(map(alike, stored, found))
    return bool(stored == found)
