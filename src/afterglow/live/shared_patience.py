"""How long to wait for locks that others have, where many experiments are looked at one after another."""

from time import monotonic

EACH = 0.05  # seconds
ALL = 0.25


class SharedPatience:
    """A moment for each experiment, as long as there is time for all of them together."""

    def __init__(self) -> None:
        self.end = monotonic() + ALL

    def left(self) -> float:
        """Seconds to wait for the next lock."""
        return max(0.0, min(EACH, self.end - monotonic()))
