"""All experiments of a database."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import merge
from itertools import islice
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from afterglow.errors import BadDatabase, UnknownName
from afterglow.live.cached_state import REREAD
from afterglow.live.change_signal import ChangeSignal
from afterglow.live.clock_watch import ClockWatch
from afterglow.live.domain import commands
from afterglow.live.domain.actor import Actor
from afterglow.live.domain.log import BEGINNING, NOTHING, Place, Record, chained
from afterglow.live.domain.spec import created, spec_of
from afterglow.live.experiment import Experiment
from afterglow.live.follower import Follower
from afterglow.live.log_entries import LogEntry, log_entries
from afterglow.live.schedule import TickSchedule
from afterglow.live.store.backup import back_up
from afterglow.live.store.contract import Store
from afterglow.live.store.steady_time import ClockReading
from afterglow.live.verify import Verification, faults_of_all, verify
from afterglow.release import __version__

POLL = 1.0  # seconds between checks for records of other processes
FEW = 100  # experiments that are read one by one; for more, all are looked at first


class Located(NamedTuple):
    """Where a reader of a log goes on."""

    seq: int
    lost: bool  # whether the record that it has seen last is not in the log
    hash: bytes = b""  # of the record behind which it goes on, if it is lost


def readings(
    store: Store, clock: Callable[[], float] | None, steady: Callable[[], float] | None
) -> Callable[[], ClockReading] | None:
    """How the clock is compared with a monotonic one; None if it is not: one that is given alone is believed."""
    if clock is None:
        return store.read_clock
    return None if steady is None else lambda: ClockReading(clock(), steady(), steady())


class Experiments:
    """Creates and opens experiments; `with` closes the database at the end."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float] | None = None,
        monotonic: Callable[[], float] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock or store.now
        self._watch = ClockWatch(readings(store, clock, monotonic), self._clock)
        self._watch.times()  # followed from now on
        self._turn = Lock()
        self._opening = dict[str, Lock]()  # experiments that are being opened
        self._open = dict[str, Experiment]()
        self._signal = ChangeSignal()
        self._schedule = TickSchedule(store.heads, store.names, store.alone, self._open, self._signal)

    def create(
        self,
        name: str,
        variants: Iterable[str],
        window: int,
        horizon: int | None = None,
        *,
        start: bool = True,
        starts: float | None = None,
        options: Mapping[str, Any] | None = None,
        by: Actor | None = None,
        **settings: Any,
    ) -> Experiment:
        """A new experiment. `settings` are those of `settings_table`; `options` are the policy's, by name.

        Options of the policy may also be given as keywords. With `step_seconds` steps end on a schedule; without, the
        caller closes each. Scheduled steps are counted from `starts` (seconds since 1970; None: now): a full hour in
        the past makes steps of an hour begin on the hour, a time in the future schedules the experiment, and the
        control is served until then. `by` is stored in the log.
        """
        now = self._watch.times().now / 1000
        given = {"name": name, "variants": variants, "window": window, "horizon": horizon, "start": start}
        begins = now if starts is None else starts
        spec = spec_of({**settings, **given, "starts": begins, "options": options or {}}, __version__)
        with self._store.creating(spec.name) as log:
            body, at = created(spec, by), round(1000 * now)
            log.append([Record(0, at, "create", body, chained(NOTHING, 0, at, "create", body))])
            copy = Follower(spec.name)
            copy.follow(log)
            if start:
                copy.happen(log, at, [one.given_by(by) for one in commands.start(spec, copy.state, at)])
        self._signal.notify()
        return self.get(spec.name)

    def opened(self, name: str) -> Experiment | None:
        """The experiment of that name if it was used before: needs no database and doesn't wait."""
        return self._open.get(name)

    def get(self, name: str) -> Experiment:
        """The experiment of that name."""
        known = self.opened(name)
        if known is not None:
            return known
        with self._turn:
            turn = self._opening.setdefault(name, Lock())
        try:
            with turn:  # others open other experiments meanwhile
                known = self.opened(name) or Experiment(self._store, name, self._watch, self._signal)
                return self._open.setdefault(name, known)
        finally:
            self._opening.pop(name, None)

    __getitem__ = get

    def names(self) -> list[str]:
        return self._store.names()

    def __iter__(self) -> Iterator[Experiment]:
        return map(self.get, self.names())

    def __len__(self) -> int:
        return len(self.names())

    # Time and changes

    def now(self) -> float:
        """Seconds since 1970, by the clock of the experiments."""
        return self._clock()

    def delay(self) -> float:
        """Seconds for which a decision in memory may be older than a command that another process was given."""
        return 0.0 if self._store.alone else REREAD

    def heads(self) -> dict[str, int]:
        """The seq of every experiment's last record, from which `changes` continues."""
        return {name: place.seq for name, place in self._store.heads().items()}

    def places(self, age: float = 0.0) -> dict[str, Place]:
        """The place of every experiment's last record, as it was at most `age` seconds ago."""
        return self._schedule.heads(age).heads

    def on_rewind(self, tell: Callable[[str], None]) -> None:
        """Call this with the name of an experiment whose log has lost records that this process has seen."""
        self._signal.rewound.append(tell)

    def locate(self, places: Mapping[str, Place]) -> dict[str, Located]:
        """Where readers that have seen the records up to these places go on; experiments that are gone are left out.

        A place that the log doesn't have, since a standby was promoted or a backup restored, is lost. The reader goes
        on behind the last record that is older than the one it has seen: what was appended since then is newer.
        """
        found = dict[str, Located]()
        for name, place in places.items():
            with suppress(UnknownName), self._store.reading(name) as log:
                record = next(log.records(place.seq - 1, 1), None)
                if place.seq < 0 or (record is not None and place.is_of(record)):
                    found[name] = Located(place.seq, False)
                else:
                    seq = log.last_before(place.at)
                    known = next(log.records(seq - 1, 1), None) if seq >= 0 else None
                    found[name] = Located(seq, True, b"" if known is None else known.hash)
        return found

    def place_before(self, name: str, at: int) -> Place:
        """The place of the last record that is older than a time in milliseconds; the beginning if there is none."""
        with self._store.reading(name) as log:
            record = next(log.records(log.last_before(at) - 1, 1), None)
            return BEGINNING if record is None or record.at >= at else Place(record.seq, record.at, record.hash)

    def tick(self, budget: float = inf) -> dict[str, Exception]:
        """Close the steps that have ended on their schedule in all experiments; errors, by name of the experiment.

        With a `budget` of seconds, experiments that are new here are opened only as long as it lasts. One that fails is
        tried again after pauses that grow to a minute.
        """
        times = self._watch.times()
        return dict(self._schedule.tick(self.get, max(times.clock, times.now) / 1000, budget))

    def next_boundary(self) -> float | None:
        """When the next step of an opened experiment ends on its schedule, in seconds since 1970."""
        return self._schedule.boundary()

    def changes(
        self, after: Mapping[str, int], count: int | None = None, only: Collection[str] | None = None
    ) -> list[tuple[str, LogEntry]]:
        """Records appended after the given ones (-1 if none is given), oldest first, those of each experiment in order.

        An experiment whose records can't be read is left out: `tick` has its error.
        """
        found = list[list[tuple[str, LogEntry]]]()
        for name in self._changed(after) if only is None or len(only) > FEW else only:
            if only is None or name in only:
                with suppress(ValueError, TypeError, LookupError), self._store.reading(name) as log:
                    found.append([(name, one) for one in log_entries(log, after.get(name, -1), count)])
        return list(islice(merge(*found, key=lambda one: one[1].at), count))

    def _changed(self, after: Mapping[str, int]) -> list[str]:
        """Experiments with records after the given ones; one query, which takes as long as there are experiments."""
        return [name for name, last in self._store.heads().items() if last.seq > after.get(name, -1)]

    def count(self, name: str, after: int, kinds: Collection[str], most: int) -> int:
        """How many records of these kinds an experiment has after record `after`, up to `most` of each."""
        with self._store.reading(name) as log:
            return sum(1 for kind in kinds for _ in log.records(after, most, kind))

    def pulse(self) -> int:
        """How often this process has appended something, for `wait`."""
        return self._signal.count

    def wake(self) -> None:
        """End all calls of `wait`."""
        self._signal.notify()

    def wait(self, timeout: float, since: int | None = None) -> bool:
        """Wait until something is appended, or was since a `pulse`; False if nothing was.

        Where other processes write too, it checks once a second.
        """
        seen, end = self.pulse() if since is None else since, monotonic() + timeout
        if self._store.alone:
            return self._signal.wait(seen, timeout)
        heads = self.places(POLL)
        while (left := end - monotonic()) > 0:
            if self._signal.wait(seen, min(left, POLL)) or self.places() != heads:
                return True
        return False

    def verify(self, only: Collection[str] | None = None) -> list[Verification]:
        """Verify all experiments, also those that can't go on."""
        verdicts = list[Verification]()
        for name in self.names() if only is None else only:
            try:
                with self._store.aside(name) as log:
                    verdicts.append(verify(name, log))
            except BadDatabase as error:
                verdicts.append(Verification(name, 0, 0, 0, (str(error),)))
        return verdicts

    def damage(self) -> list[str]:
        """Damaged pages of a SQLite file, by table; none if there are none."""
        return self._store.damage()

    def backup(self, address: str | Path, damaged: bool = False) -> None:
        """Copy the database, while it is in use, to a new file or an empty PostgreSQL database.

        The copy is verified; if it doesn't agree with its log nothing is left of it, unless what is `damaged` is to be
        copied too.
        """
        back_up(self._store, address, None if damaged else faults_of_all)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> "Experiments":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
