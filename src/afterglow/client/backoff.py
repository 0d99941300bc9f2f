"""Exponential backoff with jitter: pauses between tries, doubled each time up to a limit."""

from collections.abc import Callable


class Backoff:
    def __init__(self, jitter: Callable[[], float], first: float = 0.2, most: float = 30.0) -> None:
        self.jitter = jitter  # from [0, 1)
        self.first = first
        self.most = most
        self.failures = 0

    def next(self, at_least: float = 0.0) -> float:
        """Seconds to wait after one more failure; half of the pause is random, and is added to `at_least`."""
        pause = min(self.most, self.first * 2.0 ** min(self.failures, 60))
        self.failures += 1
        return max(at_least, pause / 2) + self.jitter() * pause / 2

    def over(self) -> None:
        """It worked."""
        self.failures = 0
