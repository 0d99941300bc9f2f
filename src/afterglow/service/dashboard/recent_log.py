"""Cache of the recent log of each experiment, without the normal ends of steps."""

from collections import deque
from collections.abc import Callable
from threading import Lock

from afterglow.live import Experiment
from afterglow.live.log_entries import LogEntry

CACHED = 200  # records in the cache
LOOK_BACK = 2000  # records read the first time
BATCH = 5000


class RecentLog:
    """Recent records of one experiment; every call reads only what was appended since the last."""

    def __init__(self) -> None:
        self.seq: int | None = None
        self.cached = deque[LogEntry](maxlen=CACHED)
        self.lock = Lock()

    def read(self, experiment: Experiment, last: Callable[[], int]) -> list[LogEntry]:
        """`last` returns the number of the last record."""
        with self.lock:
            if self.seq is None:
                self.cached.extend(experiment.events(count=2))  # creation and start
                self.seq = max(self.cached[-1].seq, last() - LOOK_BACK)
            while new := experiment.events(self.seq, BATCH):
                self.cached.extend(one for one in new if notable(experiment, one))
                self.seq = new[-1].seq
            return list(self.cached)


def notable(experiment: Experiment, one: LogEntry) -> bool:
    """Whether a record is more than the normal end of a step."""
    return one.kind != "close" or one.body["void"] or one.body["step"] + 1 == experiment.spec.horizon
