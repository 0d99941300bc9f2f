"""Three threads: one closes scheduled steps on time, one reads new log records for the feed, one reads the tokens."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic

from afterglow.errors import AfterglowError, Unavailable
from afterglow.live import Experiments
from afterglow.live.domain.log import BEGINNING
from afterglow.live.log_entries import LogEntry, rewound
from afterglow.service.auth.tokens import TokenCache
from afterglow.service.background.event_ids import Places, cursor
from afterglow.service.background.feed import Feed, Item, item_of
from afterglow.service.event_verdicts import EventVerdicts
from afterglow.service.metrics import Metrics

LOG = logging.getLogger("afterglow.service")
LOOK = 1.0  # seconds between polls of schedules, tokens and new records
PAGE = 500
TOGETHER = 100  # experiments whose records are read together
LEAST = 0.005
FRESH = 0.2  # seconds for which the last records of all experiments are not read again
SOON = 0.1  # seconds between polls while experiments are being opened
BUDGET = 0.05  # seconds to open experiments before steps that have ended are looked for again


class Ticker:
    """New records go to the `feed`; `ending` tells streams to end."""

    def __init__(self, experiments: Experiments, tokens: TokenCache, metrics: Metrics) -> None:
        self.experiments = experiments
        self.tokens = tokens
        self.metrics = metrics
        self.closing = Event()
        self.feed = Feed()
        self.verdicts = EventVerdicts(experiments)
        self.ending = False
        self.streams = 0  # open streams
        self.streams_of = Counter[str]()  # the same, by token
        self.away = False
        self.seen: Places | None = None  # last records that are in the feed
        self.said = dict[str, type[Exception]]()  # logged errors of experiments
        self.unplaced = set[str]()  # experiments whose step gauge is not set
        self.threads = [
            Thread(target=self.tick, name="afterglow-ticker", daemon=True),
            Thread(target=self.look, name="afterglow-news", daemon=True),
            Thread(target=self.keep_tokens, name="afterglow-tokens", daemon=True),
        ]

    def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        with suppress(Unavailable):
            self.seen = Places(self.experiments.places())  # before the ticker closes steps, so that those are counted
            self.unplaced = set(self.seen)
            self.feed.places = dict(self.seen)
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        self.ending = True
        self.feed.wake()

    def close(self, patience: float) -> None:
        """Call it from a worker thread."""
        self.closing.set()
        self.experiments.wake()
        end = monotonic() + patience
        for thread in self.threads:
            thread.join(max(0.0, end - monotonic()))

    def tick(self) -> None:
        """Close steps that have ended."""
        while not self.closing.is_set():
            pause = LOOK
            try:
                self.complain(self.experiments.tick(BUDGET))
                boundary = self.experiments.next_boundary()
                if boundary is not None:
                    pause = min(LOOK, max(LEAST, boundary - self.experiments.now()))
                self.back()
            except AfterglowError as error:
                self.lost(error)
            except Exception:
                LOG.exception("the ticker continues after an error")
            self.closing.wait(pause)

    def keep_tokens(self) -> None:
        """Read the tokens once a second, whatever else takes long."""
        while not self.closing.wait(LOOK):
            self.renew()

    def renew(self) -> None:
        try:
            self.tokens.renew()
        except AfterglowError as error:
            self.lost(error)
        except Exception:
            LOG.exception("reading the tokens failed and will be retried")

    def look(self) -> None:
        """Add new records to the feed."""
        while not self.closing.is_set():
            try:
                pulse = self.experiments.pulse()
                if self.seen is None:
                    self.seen = Places(self.experiments.places())
                    self.unplaced = set(self.seen)
                if self.unplaced:
                    self.place()
                self.take_in(self.seen)
                self.experiments.wait(SOON if self.unplaced else LOOK, pulse)
            except AfterglowError as error:
                self.lost(error)
                self.closing.wait(LOOK)
            except Exception:
                LOG.exception("polling for new records continues after an error")
                self.closing.wait(LOOK)

    def place(self) -> None:
        """Set the gauges of experiments that are opened by now."""
        for name in list(self.unplaced):
            experiment = self.experiments.opened(name)
            if experiment is not None:
                self.unplaced.discard(name)
                with unless_it_cant_go_on():
                    self.metrics.step.labels(name).set(experiment.reached())
                    self.metrics.alarm.labels(name).set(experiment.alarmed())
                    self.metrics.guarded.labels(name).set(experiment.stopped_by_guards())

    def take_in(self, seen: Places) -> None:
        """Add new records to the feed and count them in the metrics."""
        heads = self.experiments.places(FRESH)
        self.unplaced |= heads.keys() - seen.keys()
        changed = {name: seen.get(name, BEGINNING) for name, head in heads.items() if seen.get(name) != head}
        for name, (seq, lost, mark) in self.experiments.locate(changed).items():
            if lost:
                entry = rewound(changed[name].seq, seq, mark, self.experiments.now())
                self.loop.call_soon_threadsafe(self.feed.add, [item_of(name, None, entry)])
                changed[name] = changed[name]._replace(seq=seq)
        names = list(changed)
        for first in range(0, len(names), TOGETHER):  # a page of all would look at all of them for each page
            seqs = {name: changed[name].seq for name in names[first : first + TOGETHER]}
            self.take_in_of(seqs, seen)
            for name, seq in seqs.items():
                if seq <= heads[name].seq:  # also what can't be read
                    seen.move(name, heads[name])

    def take_in_of(self, seqs: dict[str, int], seen: Places) -> None:
        """The same for the records of some experiments after these numbers, which are moved on."""
        while found := self.experiments.changes(seqs, PAGE, seqs):
            made = list[Item]()
            for name, one in found:
                seqs[name] = one.seq
                seen.move(name, one.place())
                with unless_it_cant_go_on():
                    self.count(name, one)
                made.append(self.item(name, one, seen))
            self.loop.call_soon_threadsafe(self.feed.add, made, dict(seen))

    def item(self, name: str, one: LogEntry, seen: Places) -> Item:
        """Everything that streams need of an event, made once for all of them."""
        spec = self.verdicts.spec(name)
        if not self.streams:
            return item_of(name, spec, one)
        return item_of(name, spec, one, self.verdicts.verdict(name, one))._replace(id=cursor(seen))

    def count(self, name: str, one: LogEntry) -> None:
        metrics, body = self.metrics, one.body
        metrics.events.labels(name, one.kind).inc()
        if one.kind == "start":
            metrics.step.labels(name).set(0)
        elif one.kind == "close":
            served = body["served"] if isinstance(body["served"], list) else [body["served"]]  # one for each unit
            for arm in served:
                metrics.decisions.labels(name, self.experiments.get(name).variants[arm]).inc()
            metrics.step.labels(name).set(body["step"] + 1)
        elif one.kind in ("alarm_raised", "alarm_cleared", "archive", "unarchive"):
            metrics.alarm.labels(name).set(self.experiments.get(name).alarmed())
        elif one.kind in ("guarded", "enable"):
            metrics.guarded.labels(name).set(self.experiments.get(name).stopped_by_guards())
        elif one.kind == "missed":
            metrics.step.labels(name).set(body["first"] + body["count"])

    def complain(self, wrong: Mapping[str, Exception]) -> None:
        """Log the error of each experiment that can't continue, once."""
        for name, error in wrong.items():
            if self.said.get(name) is not type(error):
                if isinstance(error, AfterglowError):
                    LOG.error("an experiment can't continue: %s", error)
                else:
                    LOG.error("experiment %r can't continue", name, exc_info=error)
        self.said = {name: type(error) for name, error in wrong.items()}

    def lost(self, error: AfterglowError) -> None:
        if not isinstance(error, Unavailable):
            LOG.error("the ticker continues after an error: %s", error)
        elif not self.away:
            self.away = True
            self.metrics.away.set(1)
            self.metrics.losses.inc()
            LOG.error("the database is unavailable: %s", error)

    def back(self) -> None:
        if self.away:
            self.away = False
            self.metrics.away.set(0)
            LOG.warning("the database is available again")


@contextmanager
def unless_it_cant_go_on() -> Iterator[None]:
    """Skip an experiment that can't continue; the ticker logs its error."""
    try:
        yield
    except Unavailable:
        raise
    except Exception as error:
        LOG.debug("an experiment is skipped: %s", error)
