"""A background thread that appends notices of alarms, leaders and verdicts after steps have ended.

It computes for a fifth of the time at most, so that a verdict on many variants, or on many experiments whose steps end
together, doesn't hold up calls. After a start all experiments are judged once, beside those that change: the process
before may have ended between a step and its notices.
"""

import logging
from collections import deque
from threading import Event, Thread
from time import monotonic

from afterglow.errors import Unavailable
from afterglow.live import Experiments
from afterglow.live.domain.log import Place
from afterglow.live.store.contract import Busy

LOG = logging.getLogger("afterglow.service")
LOOK = 1.0  # seconds between looks at the heads of the logs
LEAST = 0.1  # seconds between two passes
SHARE = 0.2  # of a core
PATIENCE = 0.05  # seconds to wait for the lock of an experiment that others have; it is judged later then
BUDGET = 0.05  # seconds for experiments that were there at the start, between two looks at the heads


class Announcer:
    def __init__(self, experiments: Experiments) -> None:
        self.experiments = experiments
        self.closing = Event()
        self.seen: dict[str, Place] | None = None  # places that were judged
        self.first = deque[str]()  # experiments that were there at the start and are not judged yet
        self.thread = Thread(target=self.run, name="afterglow-announcer", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def close(self, patience: float) -> None:
        self.closing.set()
        self.experiments.wake()
        self.thread.join(patience)

    def run(self) -> None:
        while not self.closing.is_set():
            pulse = self.experiments.pulse()
            try:
                self.look()
                self.experiments.wait(LEAST if self.first else LOOK, pulse)
            except Unavailable:
                self.closing.wait(LOOK)  # the ticker says so
            except Exception:
                LOG.exception("notices continue after an error")
                self.closing.wait(LOOK)
            self.closing.wait(LEAST)

    def look(self) -> None:
        """Judge every experiment whose log has grown, and some of those that were there at the start."""
        heads = self.experiments.places()
        if self.seen is None:
            self.seen = dict(heads)
            self.first.extend(heads)
        for name, head in heads.items():
            if self.seen.get(name) != head and not self.closing.is_set() and self.judge(name):
                self.seen[name] = head
        end = monotonic() + BUDGET
        for _ in range(len(self.first)):
            if monotonic() >= end or self.closing.is_set():
                break
            if not self.judge(self.first[0], first=True):
                self.first.append(self.first[0])
            self.first.popleft()

    def judge(self, name: str, first: bool = False) -> bool:
        """Whether that was possible; not, if others have the lock of the experiment."""
        began = monotonic()
        try:
            self.experiments.get(name).announce(first, PATIENCE)
        except Busy:
            return False
        except Unavailable:
            raise
        except Exception as error:  # the ticker says that an experiment can't go on
            LOG.debug("an experiment is not judged: %s", error)
        self.closing.wait((monotonic() - began) * (1 / SHARE - 1))
        return True
