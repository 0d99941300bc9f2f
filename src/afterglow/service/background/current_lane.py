"""The current variant of an experiment when memory may be out of date: threads of its own, and memory after a moment.

The other calls, dashboards and streams share worker threads and a queue; these calls don't. All that ask for one
experiment at a time wait for the same look at the database. If it takes longer than a moment, or the database can't be
reached, they get what is known, however busy, frozen or far away the database is. What is known may be `most` seconds
old where other processes could have been given commands, and of any age where they could not.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import NamedTuple

from afterglow.errors import AfterglowError, Unavailable
from afterglow.live import Decision, Experiment
from afterglow.live.domain.arguments import known_unit
from afterglow.service.problems import Problem, problem_of

THREADS = 4
MOMENT = 0.05  # seconds to wait for the database if the variant is known
READ_ANEW = 1.0  # the same where other processes end the steps, so that what they have ended is usually seen


class Look(NamedTuple):
    """A look at the database that is under way."""

    began: float
    future: "asyncio.Future[Mapping[str | None, Decision]]"  # by unit


def refuse_other(experiment: Experiment, unit: str | None) -> None:
    """Refuse a unit where there are none, and a missing or unknown one where there are."""
    units = experiment.spec.units
    if unit is not None or units:
        try:
            known_unit("unit", unit, units)
        except AfterglowError as error:
            raise problem_of(error) from error


class CurrentLane:
    """Used in the event loop; `close` in a thread."""

    def __init__(self, most: float, time_limit: float) -> None:
        self.most = most
        self.time_limit = time_limit
        self.pool = ThreadPoolExecutor(THREADS, "afterglow-current")
        self.looks = dict[Experiment, Look]()

    async def decision(self, experiment: Experiment, unit: str | None = None) -> Decision:
        """The decision, of a unit if there are units, which may be as old as `Experiment.age` says."""
        refuse_other(experiment, unit)
        patience = self.patience(experiment, unit)
        look = self.look(experiment, max(patience, READ_ANEW))
        left = look.began + patience - monotonic()
        if left > 0 and not look.future.done():
            await asyncio.wait([look.future], timeout=left)
        if look.future.done():
            try:
                return look.future.result()[unit]
            except Unavailable as error:
                if patience == self.time_limit:
                    raise problem_of(error) from error
            except AfterglowError as error:
                raise problem_of(error) from error
        if patience == self.time_limit:
            raise Problem("too-slow")
        known = experiment.remembered(unit)
        if known is None:  # forgotten while it waited
            raise Problem("database-unavailable")
        return known

    def patience(self, experiment: Experiment, unit: str | None) -> float:
        """Seconds to wait: as for any call if nothing is known that is recent enough."""
        known = experiment.remembered(unit)
        if known is None or experiment.age() > self.most:
            return self.time_limit
        return READ_ANEW if known.valid_until is None and experiment.age() > 0 else MOMENT

    def look(self, experiment: Experiment, patience: float) -> Look:
        """The look at the database that is under way, or a new one, which waits so long for locks that others have."""
        known = self.looks.get(experiment)
        if known is not None:
            return known
        loop = asyncio.get_running_loop()
        made = Look(monotonic(), loop.run_in_executor(self.pool, experiment.decisions, patience))
        self.looks[experiment] = made
        made.future.add_done_callback(lambda future: self.done(experiment, future))
        return made

    def done(self, experiment: Experiment, future: "asyncio.Future[Mapping[str | None, Decision]]") -> None:
        self.looks.pop(experiment, None)
        if not future.cancelled():
            future.exception()  # marks it as retrieved

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)
