"""Compares the clock with the monotonic clock of this process, and says what it would expect the clock to show."""

from collections.abc import Callable
from threading import Lock

from afterglow.live.domain.clock import TOLERANCE, Times
from afterglow.live.store.steady_time import ClockReading

DRIFT = 0.001  # of the time between two readings: two machines may go at different speeds


class ClockWatch:
    """One for all experiments of a process."""

    def __init__(self, read: Callable[[], ClockReading] | None, clock: Callable[[], float]) -> None:
        self.read = read  # None: the clock is not checked
        self.clock = clock
        self.turn = Lock()
        self.known: ClockReading | None = None  # the last one that is believed
        self.since = 0.0  # the clock when it began to be followed

    def times(self) -> Times:
        """What is known of the time now."""
        if self.read is None:
            return Times(round(1000 * self.clock()))
        with self.turn:
            found = self.read()
            expected = self.follow(found)
            clock = self.clock()
            if expected is not None:  # as much later as the clock has gone on since it was read
                expected += clock - found.time
        return Times(
            round(1000 * clock), None if expected is None else round(1000 * expected), round(1000 * self.since)
        )

    def follow(self, found: ClockReading) -> float | None:
        """The time that was expected, if the clock is not there."""
        known = self.known
        if known is None:
            self.known, self.since = found, found.time
            return None
        if found == known:
            return None
        least = known.time + found.after - known.before
        most = known.time + found.before - known.after
        allowed = TOLERANCE / 1000 + DRIFT * max(0.0, found.before - known.after)
        if least - allowed <= found.time <= most + allowed:
            self.known = found
            return None
        return most if found.time > most else least

    def believe(self) -> None:
        """Follow the clock from now on, wherever it is."""
        with self.turn:
            self.known = None
