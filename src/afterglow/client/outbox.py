"""Queue of rewards: kept in order, sent in batches, sent again with their keys until the service has answered.

    put → take → delivered | refused | failed        failed goes back to the front and pauses
                                                      refused batches are halved until the reward that is wrong is alone

Nothing is dropped silently. A full outbox refuses; what the service refuses, or what was tried for too long, is
reported with the reason. Not thread-safe: callers use a lock.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from numbers import Real
from typing import Any, NamedTuple
from uuid import uuid4

from afterglow.client.backoff import Backoff
from afterglow.client.calls import Answer, SentReward, parsed, passes, pause_wanted, refusal
from afterglow.errors import AfterglowError, BadValue, OutOfTurn, Unavailable, argument

MOST = 1000  # rewards that the service takes at once
STEP_KNOWN = 60.0  # seconds for which an answer tells the current step
HALVED = {413, 422}  # a single reward may be what is wrong


@dataclass(slots=True)
class QueuedReward:
    experiment: str
    key: str
    amount: float
    serial: int
    tried: float | None = None  # when it was first sent
    step: int | None = None  # the current step then, if it is known
    sent: bool = False
    again: bool = False  # whether it was sent before
    metric: str | None = None
    unit: str | None = None  # of an experiment with units


class Batch(NamedTuple):
    experiment: str
    rewards: list[QueuedReward]

    def given(self) -> list[SentReward]:
        """Keys, amounts, the step of the first try of what is sent again, metrics, and units where there are any."""
        return [
            (one.key, one.amount, one.step if one.again else None, one.metric)
            if one.unit is None
            else (one.key, one.amount, one.step if one.again else None, one.metric, one.unit)
            for one in self.rewards
        ]


class Refused(NamedTuple):
    """A reward that is given up, and why."""

    experiment: str
    key: str
    amount: float
    error: AfterglowError


class Outbox:
    def __init__(
        self,
        pauses: Backoff,
        clock: Callable[[], float],
        room: int = 10_000,
        linger: float = 0.1,
        retry_for: float | None = None,
    ) -> None:
        self._pauses = pauses
        self._clock = clock
        self._room = room
        self._linger = linger
        self._retry_for = math.inf if retry_for is None else retry_for
        self._queues = dict[str, deque[QueuedReward]]()  # the experiment whose turn it is comes first
        self._parts = deque[Batch]()  # of batches that were refused
        self._sent: Batch | None = None
        self._steps = dict[str, tuple[int, float]]()  # the last step that is known, and since when
        self._serial = count()
        self._due = math.inf  # when to send next
        self._resting = False  # after a failure
        self._closed = False
        self._urgent = 0  # rewards before this one don't linger
        self.waiting = self.delivered = self.given_up = 0
        self.unreported = list[Refused]()  # refused, and not reported yet
        self.refused = deque[Refused](maxlen=room)  # since the last flush
        self.error: AfterglowError | None = None  # why rewards wait, if something is wrong

    def put(
        self, experiment: str, amount: float | Decimal, key: str | None = None, metric: str | None = None,
        unit: str | None = None,
    ) -> str:  # fmt: skip
        """Accept a reward; its key. In an experiment with units it may be negative."""
        amount = checked(amount, unit is not None)
        if self._closed:
            raise OutOfTurn("the client is closed and takes no more rewards; make a new one")
        if self.waiting >= self._room:
            raise Unavailable(
                f"{self.waiting:,} rewards wait for the service and there is no room for more"
                f"{f' ({self.error})' if self.error else ''}; this one was not taken"
            )
        reward = QueuedReward(
            experiment, key or uuid4().hex, amount, next(self._serial), metric=metric, unit=unit
        )  # fmt: skip
        queue = self._queues.setdefault(experiment, deque())
        queue.append(reward)
        self.waiting += 1
        if not self._resting:
            soon = self._clock() + (0.0 if len(queue) >= MOST else self._linger)
            self._due = soon if self.waiting == 1 else min(self._due, soon)
        return reward.key

    def pause(self) -> float | None:
        """Seconds until something should be sent; None while nothing waits."""
        if self._sent is not None or not self.waiting:
            return None
        return max(0.0, self._due - self._clock())

    def stirs(self) -> bool:
        """Whether the sender should be woken after a `put`: for the first reward, and when it is time to send."""
        return self.waiting == 1 or self.pause() == 0.0

    def hurry(self) -> int:
        """Send what is here as soon as possible: no lingering, and no waiting for the end of a pause. `settled` takes
        the number that is returned."""
        self._urgent = next(self._serial)
        self._due = -math.inf
        return self._urgent

    def close(self) -> int:
        """Take nothing more, and hurry."""
        self._closed = True
        return self.hurry()

    def take(self) -> Batch | None:
        """What to send now."""
        self._give_up()
        if self.pause() != 0.0:
            return None
        batch = self._parts.popleft() if self._parts else self._next_batch()
        now = self._clock()
        for reward in batch.rewards:
            if reward.tried is None:
                reward.tried = now
        self._sent = batch
        return batch

    def _next_batch(self) -> Batch:
        name, queue = next((name, queue) for name, queue in self._queues.items() if queue)
        self._queues[name] = self._queues.pop(name)  # the others come first next time
        return Batch(name, [queue.popleft() for _ in range(min(MOST, len(queue)))])

    def _give_up(self) -> None:
        """Hand over what was first tried too long ago."""
        late = self._clock() - self._retry_for
        if late == -math.inf:
            return
        error = Unavailable(f"not taken within {self._retry_for:g} s{f': {self.error}' if self.error else ''}")
        for name, queue in self._queues.items():
            while queue and (tried := queue[0].tried) is not None and tried < late:
                self._refuse(Batch(name, [queue.popleft()]), error)
        for part in list(self._parts):
            if part.rewards[0].tried is not None and part.rewards[0].tried < late:
                self._parts.remove(part)
                self._refuse(part, error)

    def step_wanted(self, batch: Batch) -> bool:
        """Whether the current step should be asked for before a batch is sent: it is unknown, or known for long."""
        then = self._steps.get(batch.experiment, (0, -math.inf))[1]
        return self._clock() - then > STEP_KNOWN and not all(reward.sent for reward in batch.rewards)

    def learn_step(self, batch: Batch, answer: Answer) -> None:
        """Take the current step from an answer: rewards that are sent for the first time go to it, or to a later."""
        step = (parsed(answer) or {}).get("step") if answer.status < 300 else None
        if isinstance(step, int):
            self._steps[batch.experiment] = (step, self._clock())

    def sending(self, batch: Batch) -> None:
        """A batch is about to be sent: note the step to which its new rewards go at the earliest."""
        step, _ = self._steps.get(batch.experiment, (None, 0.0))
        for reward in batch.rewards:
            reward.again = reward.sent
            if not reward.sent:
                reward.sent, reward.step = True, step

    def answered(self, batch: Batch, answer: Answer | AfterglowError) -> None:
        """The answer to a batch; an error if there was none."""
        if isinstance(answer, AfterglowError):
            self._failed(batch, answer)
        elif answer.status < 300:
            self.learn_step(batch, answer)
            self._settle()
            self.delivered += len(batch.rewards)
            self.waiting -= len(batch.rewards)
        elif len(batch.rewards) > 1 and (answer.status in HALVED or refusal(answer).kind == "sealed"):
            self._settle()
            middle = len(batch.rewards) // 2
            self._parts.appendleft(batch._replace(rewards=batch.rewards[middle:]))
            self._parts.appendleft(batch._replace(rewards=batch.rewards[:middle]))
            self._due = -math.inf
        elif passes(answer):
            self._failed(batch, refusal(answer), pause_wanted(answer.headers))
        else:
            self._settle()
            self._refuse(batch, refusal(answer))

    def _settle(self) -> None:
        """The service has answered."""
        self._sent, self.error, self._resting = None, None, False
        self._pauses.over()
        at_once = (
            not self.settled(self._urgent)
            or bool(self._parts)
            or any(len(queue) >= MOST for queue in self._queues.values())
        )
        self._due = self._clock() + (0.0 if at_once else self._linger)

    def _refuse(self, batch: Batch, error: AfterglowError) -> None:
        refused = [Refused(one.experiment, one.key, one.amount, error) for one in batch.rewards]
        self.waiting -= len(refused)
        self.given_up += len(refused)
        self.unreported += refused
        self.refused.extend(refused)

    def _failed(self, batch: Batch, error: AfterglowError, at_least: float = 0.0) -> None:
        """No answer, or one that says later: what was sent goes back to the front."""
        self._sent, self.error, self._resting = None, error, True
        self._queues.setdefault(batch.experiment, deque()).extendleft(reversed(batch.rewards))
        self._due = self._clock() + self._pauses.next(at_least)

    def settled(self, mark: int) -> bool:
        """Whether everything that was here at a `hurry` is delivered or refused."""
        firsts = [queue[0].serial for queue in self._queues.values() if queue]
        firsts += [part.rewards[0].serial for part in [*self._parts, *([self._sent] if self._sent else [])]]
        return min(firsts, default=mark) >= mark

    def left(self) -> list[QueuedReward]:
        """Everything that is neither delivered nor refused, oldest first."""
        batches = [*self._parts, *([self._sent] if self._sent else [])]
        waiting = [one for queue in self._queues.values() for one in queue]
        return sorted([*waiting, *(one for batch in batches for one in batch.rewards)], key=lambda one: one.serial)


def checked(amount: Any, signed: bool = False) -> float:
    """An amount that can be written as JSON."""
    numeric = isinstance(amount, Real | Decimal) and not isinstance(amount, bool)
    try:
        value = float(amount) if numeric else math.nan
    except (ValueError, OverflowError):  # what has no value, and what no float holds
        value = math.nan
    if not (-math.inf if signed else 0) <= value < math.inf or value == -math.inf:
        rule = "a finite number" if signed else "a number of at least 0"
        raise BadValue(f"{argument('amount')} must be {rule}, got {amount!r}")
    return value
