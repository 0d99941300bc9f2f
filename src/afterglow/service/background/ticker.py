"""Two threads that keep watch: one lets steps end by the clock, one looks for what happened and wakes the streams."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic

from afterglow.errors import AfterglowError, Unavailable
from afterglow.live import Experiments
from afterglow.live.follower import LogEntry
from afterglow.service.auth.tokens import TokenCache
from afterglow.service.metrics import Metrics

LOG = logging.getLogger("afterglow.service")
LOOK = 1.0  # seconds between looks at the clock, the tokens and what others did
PAGE = 500
LEAST = 0.005


class Ticker:
    """`news` is set when something happens next; `ending` says that streams should end."""

    def __init__(self, experiments: Experiments, tokens: TokenCache, metrics: Metrics) -> None:
        self.experiments = experiments
        self.tokens = tokens
        self.metrics = metrics
        self.closing = Event()
        self.news = asyncio.Event()
        self.ending = False
        self.streams = 0  # that are open
        self.away = False
        self.seen: dict[str, int] | None = None
        self.said = dict[str, type[Exception]]()  # what is wrong with experiments, as far as it was said
        self.placed = False  # whether it was said where experiments stand
        self.threads = [
            Thread(target=self.tick, name="afterglow-ticker", daemon=True),
            Thread(target=self.look, name="afterglow-news", daemon=True),
        ]

    def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        with suppress(Unavailable):
            self.seen = self.experiments.heads()  # so that what the ticker is about to close is counted
        for thread in self.threads:
            thread.start()

    def wake(self) -> None:
        """Whoever waits for news gets them; what comes later has an event of its own."""
        news, self.news = self.news, asyncio.Event()
        news.set()

    def end(self) -> None:
        self.ending = True
        self.wake()

    def close(self, patience: float) -> None:
        """Call it from a worker thread."""
        self.closing.set()
        self.experiments.wake()
        end = monotonic() + patience
        for thread in self.threads:
            thread.join(max(0.0, end - monotonic()))

    def tick(self) -> None:
        """Read the tokens once a second, whatever else fails; let steps end when nobody calls."""
        read = monotonic()
        while not self.closing.is_set():
            if monotonic() - read >= LOOK:
                read = monotonic()
                self.renew()
            pause = LOOK
            try:
                self.complain(self.experiments.tick())
                boundary = self.experiments.next_boundary()
                if boundary is not None:
                    pause = min(LOOK, max(LEAST, boundary - self.experiments.now()))
                self.back()
            except AfterglowError as error:
                self.lost(error)
            except Exception:
                LOG.exception("the ticker goes on after an error")
            self.closing.wait(pause)

    def renew(self) -> None:
        try:
            self.tokens.renew()
        except AfterglowError as error:
            self.lost(error)
        except Exception:
            LOG.exception("the tokens are read again after an error")

    def look(self) -> None:
        """Wake the streams when there is something new."""
        while not self.closing.is_set():
            try:
                pulse = self.experiments.pulse()
                if self.seen is None:
                    self.seen = self.experiments.heads()
                if not self.placed:
                    self.place()
                if self.take_in():
                    self.loop.call_soon_threadsafe(self.wake)
                self.experiments.wait(LOOK, pulse)
            except AfterglowError as error:
                self.lost(error)
                self.closing.wait(LOOK)
            except Exception:
                LOG.exception("the news go on after an error")
                self.closing.wait(LOOK)

    def place(self) -> None:
        """Say where every experiment stands, before the next step ends."""
        for name in self.seen or ():
            with unless_it_cant_go_on():
                self.metrics.step.labels(name).set(self.experiments.get(name).decision().step)
        self.placed = True

    def take_in(self) -> bool:
        """Count what is new."""
        seen, any_ = self.seen or {}, False
        while found := self.experiments.changes(seen, PAGE):
            any_ = True
            for name, one in found:
                seen[name] = one.seq
                with unless_it_cant_go_on():
                    self.count(name, one)
        return any_

    def count(self, name: str, one: LogEntry) -> None:
        metrics, body = self.metrics, one.body
        metrics.events.labels(name, one.kind).inc()
        if one.kind == "start":
            metrics.step.labels(name).set(0)
        elif one.kind == "close":
            metrics.decisions.labels(name, self.experiments.get(name).variants[body["served"]]).inc()
            metrics.step.labels(name).set(body["step"] + 1)
        elif one.kind == "missed":
            metrics.step.labels(name).set(body["first"] + body["count"])

    def complain(self, wrong: Mapping[str, Exception]) -> None:
        """Say once what is wrong with experiments that can't go on."""
        for name, error in wrong.items():
            if self.said.get(name) is not type(error):
                if isinstance(error, AfterglowError):
                    LOG.error("an experiment can't go on: %s", error)
                else:
                    LOG.error("experiment %r can't go on", name, exc_info=error)
        self.said = {name: type(error) for name, error in wrong.items()}

    def lost(self, error: AfterglowError) -> None:
        if not isinstance(error, Unavailable):
            LOG.error("the watch goes on after an error: %s", error)
        elif not self.away:
            self.away = True
            self.metrics.away.set(1)
            self.metrics.losses.inc()
            LOG.error("the database is away: %s", error)

    def back(self) -> None:
        if self.away:
            self.away = False
            self.metrics.away.set(0)
            LOG.warning("the database is back")


@contextmanager
def unless_it_cant_go_on() -> Iterator[None]:
    """Pass over an experiment that can't go on, and let the others: the ticker says what is wrong with it."""
    try:
        yield
    except Unavailable:
        raise
    except Exception as error:
        LOG.debug("an experiment is passed over: %s", error)
