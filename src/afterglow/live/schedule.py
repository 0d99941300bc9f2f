"""Which experiments need attention: a step has ended, another process has appended something, or it is new.

All others cost nothing, finished ones included: where other processes write too, one query reads the last records of
all experiments, and those in memory that agree with them are confirmed. An experiment that fails is tried again after
pauses that grow to a minute. One that others have locked is tried again a little later; the rest don't wait for it.
"""

from collections.abc import Callable, Mapping
from math import inf
from time import monotonic
from typing import NamedTuple

from afterglow.errors import Unavailable, UnknownName
from afterglow.live.change_signal import ChangeSignal
from afterglow.live.domain.log import Place
from afterglow.live.experiment import Experiment
from afterglow.live.shared_patience import SharedPatience
from afterglow.live.store.contract import Busy

EVERY = 0.5  # seconds between looks at what other processes have appended
LATER = 0.2  # seconds before an experiment that others have locked is tried again
FIRST, LONGEST = 1.0, 60.0  # seconds before an experiment that fails is tried again


class Failing(NamedTuple):
    error: Exception
    pause: float
    until: float  # by the monotonic clock


class Seen(NamedTuple):
    at: float  # when the query began, by the monotonic clock
    appended: int  # by this process
    heads: dict[str, Place]


class TickSchedule:
    """`tick` brings all experiments of a database up to date."""

    def __init__(
        self,
        heads: Callable[[], dict[str, Place]],
        names: Callable[[], list[str]],
        alone: bool,
        opened: dict[str, Experiment],
        signal: ChangeSignal,
    ) -> None:
        self.read_heads = heads
        self.read_names = names
        self.alone = alone
        self.opened = opened
        self.signal = signal
        self.seen: Seen | None = None
        self.looked = -inf
        self.waiting = dict[str, None]()  # to be opened or read again, in order
        self.failing = dict[str, Failing]()
        self.locked = dict[str, float]()  # by others; when to try again, by the monotonic clock
        self.patience = SharedPatience()

    def heads(self, age: float) -> Seen:
        """The last records of all experiments, at most so old; nothing is read while this process alone can write."""
        known = self.seen
        if known is not None and known.appended == self.signal.count and (self.alone or monotonic() - known.at < age):
            return known
        at, count = monotonic(), self.signal.count
        self.seen = Seen(at, count, self.read_heads())
        return self.seen

    def tick(self, get: Callable[[str], Experiment], now: float, budget: float) -> Mapping[str, Exception]:
        """Attend to what is due, then to others as long as the budget of seconds lasts; errors by experiment."""
        end = monotonic() + budget
        self.patience = SharedPatience()
        self.look()
        for name in self.due(now):
            self.attend(get, name)
        for name in [name for name in self.waiting if self.locked.get(name, -inf) <= monotonic()]:
            if monotonic() >= end:
                break
            del self.waiting[name]
            self.attend(get, name)
        for name in [name for name, one in self.failing.items() if one.until <= monotonic()]:
            self.attend(get, name)
        return {name: one.error for name, one in self.failing.items()}

    def look(self) -> None:
        """Find experiments that are not opened, or that others have changed."""
        if monotonic() - self.looked < (inf if self.alone else EVERY):
            return
        names = dict.fromkeys(self.read_names()) if self.alone else self.heads(EVERY).heads
        since = self.seen.at if self.seen is not None else 0.0
        for name in names:
            one = self.opened.get(name)
            head = None if self.alone else names[name]
            if one is None or (isinstance(head, Place) and not one.confirm(head, since)):
                self.waiting[name] = None
        self.looked = monotonic()

    def due(self, now: float) -> list[str]:
        """Experiments whose step has ended, and those that were held and can go on."""
        held = [name for name in list(self.signal.held) if name in self.opened and self.opened[name].released()]
        ended = [name for name, end in list(self.signal.ends.items()) if end <= now]
        return [name for name in ended + held if self.locked.get(name, -inf) <= monotonic()]

    def boundary(self) -> float | None:
        """When the next step ends, of those that neither fail nor are locked."""
        ends = list(self.signal.ends.items())
        return min((end for name, end in ends if name not in self.failing and name not in self.locked), default=None)

    def attend(self, get: Callable[[str], Experiment], name: str) -> None:
        before = self.failing.get(name)
        if before is not None and monotonic() < before.until:
            return
        try:
            get(name).renew(0.0 if name in self.locked else self.patience.left())
            self.locked.pop(name, None)
            self.waiting.pop(name, None)
        except Busy:
            self.waiting[name] = None
            self.locked[name] = monotonic() + LATER
        except Unavailable:
            self.waiting[name] = None
            raise
        except UnknownName:  # a backup from before its creation was restored
            self.opened.pop(name, None)
            self.failing.pop(name, None)
            self.locked.pop(name, None)
            self.signal.ends.pop(name, None)
        except Exception as error:  # one experiment must not stop the others
            self.locked.pop(name, None)
            pause = FIRST if before is None else min(2 * before.pause, LONGEST)
            self.failing[name] = Failing(error, pause, monotonic() + pause)
        else:
            self.failing.pop(name, None)
