"""Wakes threads when this process has appended a record, and knows when current steps end."""

from collections.abc import Callable
from threading import Condition


class ChangeSignal:
    """Wakes threads that wait for this process to append a record."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = Condition()
        self.ends = dict[str, float]()  # when current steps end on their schedule, by experiment
        self.held = dict[str, None]()  # experiments whose step is held, because the clock has jumped
        self.rewound: list[Callable[[str], None]] = []  # called when a log has lost records, with its experiment

    def notify(self) -> None:
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def wait(self, seen: int, timeout: float) -> bool:
        """Wait until the count is no longer what was seen; False if the time is over first."""
        with self.changed:
            return self.changed.wait_for(lambda: self.count != seen, timeout)
