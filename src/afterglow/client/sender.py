"""Delivers rewards in a thread, which starts with the first reward."""

from collections.abc import Callable
from decimal import Decimal
from threading import Condition, Thread, current_thread

from afterglow.client import calls
from afterglow.client.calls import Answer, Call
from afterglow.client.config import ClientConfig
from afterglow.client.delivery import Delivery, delivery_of, raise_undelivered, report_refused, unanswered
from afterglow.errors import Unavailable

LAST = 0.1  # seconds for a request that is under way when time is up


class RewardSender:
    def __init__(self, config: ClientConfig, send: Callable[[Call], Answer], end: Callable[[], None]) -> None:
        self._on_refused = config.on_refused
        self._send = send
        self._end = end  # called when nothing more will be sent
        self._outbox = config.outbox()
        self._changed = Condition()
        self._thread: Thread | None = None
        self._stopping = False

    def put(
        self, experiment: str, amount: float | Decimal, key: str | None, metric: str | None = None,
        unit: str | None = None,
    ) -> str:  # fmt: skip
        with self._changed:
            key = self._outbox.put(experiment, amount, key, metric, unit)
            if self._thread is None:
                self._thread = Thread(target=self._deliver, name="afterglow-client", daemon=True)
                self._thread.start()
            if self._outbox.stirs():
                self._changed.notify_all()
            return key

    def delivery(self) -> Delivery:
        with self._changed:
            return delivery_of(self._outbox)

    def flush(self, timeout: float | None) -> None:
        with self._changed:
            mark = self._outbox.hurry()
            self._wait(mark, timeout)
            raise_undelivered(self._outbox, mark, timeout, lost=False)

    def close(self, timeout: float | None) -> None:
        with self._changed:
            if self._stopping:
                return
            mark = self._outbox.close()
            self._wait(mark, timeout)
            self._stopping = True
            self._changed.notify_all()
            in_time = self._outbox.settled(mark)
        if self._thread is None:
            self._end()
        elif self._thread is not current_thread():
            self._thread.join(None if in_time else LAST)
        with self._changed:
            raise_undelivered(self._outbox, mark, timeout, lost=True)

    def _wait(self, mark: int, timeout: float | None) -> None:
        self._changed.notify_all()
        self._changed.wait_for(lambda: self._outbox.settled(mark), timeout)

    def _deliver(self) -> None:
        while not self._stopping:
            with self._changed:
                batch = self._outbox.take()
                if batch is None and not self._outbox.unreported and not self._stopping:
                    self._changed.wait(self._outbox.pause())
            if batch is not None:
                answer: Answer | Unavailable
                try:
                    if self._outbox.step_wanted(batch):
                        self._outbox.learn_step(batch, self._send(calls.rewards(batch.experiment, [])))
                    self._outbox.sending(batch)
                    answer = self._send(calls.rewards(batch.experiment, batch.given()))
                except Exception as error:
                    answer = unanswered(error)
                with self._changed:
                    self._outbox.answered(batch, answer)
            self._report()
        self._end()

    def _report(self) -> None:
        with self._changed:
            refused, self._outbox.unreported = self._outbox.unreported, []
            self._changed.notify_all()
        report_refused(refused, self._on_refused)
