"""The recent part of each experiment's log, kept at hand: everything but the usual ends of steps."""

from collections import deque
from collections.abc import Callable
from threading import Lock

from afterglow.live import Experiment
from afterglow.live.follower import LogEntry

KEPT = 200  # records at hand
LOOK_BACK = 2000  # records that are read the first time
BATCH = 5000


class RecentLog:
    """What has happened lately in one experiment; every call reads on from the last."""

    def __init__(self) -> None:
        self.seq: int | None = None
        self.kept = deque[LogEntry](maxlen=KEPT)
        self.turn = Lock()

    def read(self, experiment: Experiment, last: Callable[[], int]) -> list[LogEntry]:
        """`last` tells the number of the last record."""
        with self.turn:
            if self.seq is None:
                self.kept.extend(experiment.events(count=2))  # creation and start
                self.seq = max(self.kept[-1].seq, last() - LOOK_BACK)
            while new := experiment.events(self.seq, BATCH):
                self.kept.extend(one for one in new if telling(experiment, one))
                self.seq = new[-1].seq
            return list(self.kept)


def telling(experiment: Experiment, one: LogEntry) -> bool:
    """Whether a record says more than that a step ended."""
    return one.kind != "close" or one.body["void"] or one.body["step"] + 1 == experiment.spec.horizon
