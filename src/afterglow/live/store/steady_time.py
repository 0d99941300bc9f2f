"""The monotonic clock of this machine, and readings of another clock beside it."""

import time
from typing import NamedTuple

STEADY = getattr(time, "CLOCK_BOOTTIME", None)  # where there is one: it goes on while the machine is suspended


def steady() -> float:
    """Seconds that nobody sets."""
    return time.monotonic() if STEADY is None else time.clock_gettime(STEADY)


class ClockReading(NamedTuple):
    """Seconds since 1970, read at some moment between two of the monotonic clock."""

    time: float
    after: float
    before: float


def read_clock() -> ClockReading:
    """The clock of this machine."""
    after = steady()
    return ClockReading(time.time(), after, steady())
