"""The recent part of each experiment's log, kept at hand: everything but the usual ends of steps."""

from collections import deque
from collections.abc import Callable
from threading import Lock

from afterglow.live import Experiment
from afterglow.live.history import Happening

KEPT = 200  # records at hand
LOOK_BACK = 2000  # records that are read the first time
BATCH = 5000


class RecentLog:
    """What has happened lately in one experiment; every call reads on from the last."""

    def __init__(self) -> None:
        self.seq: int | None = None
        self.kept = deque[Happening](maxlen=KEPT)
        self.turn = Lock()

    def read(self, experiment: Experiment) -> list[Happening]:
        with self.turn:
            if self.seq is None:
                self.kept.extend(experiment.events(count=2))  # creation and start
                begun = self.kept[-1].seq if self.kept else -1
                self.seq = max(begun, last_seq(lambda seq: bool(experiment.events(seq - 1, 1))) - LOOK_BACK)
            while new := experiment.events(self.seq, BATCH):
                self.kept.extend(one for one in new if telling(experiment, one))
                self.seq = new[-1].seq
            return list(self.kept)


def telling(experiment: Experiment, one: Happening) -> bool:
    """Whether a record says more than that a step ended."""
    return one.kind != "close" or one.body["void"] or one.body["step"] + 1 == experiment.spec.horizon


def last_seq(there: Callable[[int], bool]) -> int:
    """The number of the last record, found in few looks.

    >>> last_seq(lambda seq: seq <= 12_345)
    12345
    """
    size = 1
    while there(size):
        size *= 2
    low, high = size // 2, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if there(middle) else (low, middle)
    return low
