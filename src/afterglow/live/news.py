"""Tells threads that wait that something was appended by this process."""

from threading import Condition


class News:
    def __init__(self) -> None:
        self.count = 0
        self.told = Condition()

    def tell(self) -> None:
        with self.told:
            self.count += 1
            self.told.notify_all()

    def wait(self, seen: int, timeout: float) -> bool:
        """Wait until the count is no longer what was seen; False if the time is over first."""
        with self.told:
            return self.told.wait_for(lambda: self.count != seen, timeout)
