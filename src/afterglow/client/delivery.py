"""Results of deliveries: counts, log lines and errors."""

import logging
from typing import NamedTuple

from afterglow.client.config import OnRefused
from afterglow.client.outbox import Outbox, Refused
from afterglow.errors import AfterglowError, Unavailable, Undelivered

LOG = logging.getLogger("afterglow.client")


class Delivery(NamedTuple):
    """Rewards so far; `error` says why they wait, if something is wrong."""

    waiting: int
    delivered: int
    refused: int
    error: AfterglowError | None


def delivery_of(outbox: Outbox) -> Delivery:
    return Delivery(outbox.waiting, outbox.delivered, outbox.given_up, outbox.error)


def unanswered(error: Exception) -> Unavailable:
    """Why a batch has to be sent again; unexpected errors are logged, and the delivery goes on."""
    if isinstance(error, Unavailable):
        return error
    LOG.error("rewards could not be sent", exc_info=error)
    return Unavailable(f"rewards could not be sent: {error!r}")


def report_refused(refused: list[Refused], on_refused: OnRefused | None) -> None:
    """Log refused rewards and call `on_refused`."""
    for name, reason in dict.fromkeys((one.experiment, str(one.error)) for one in refused):
        LOG.error("rewards of %s were refused: %s", name, reason)
    if refused and on_refused is not None:
        try:
            on_refused(refused)
        except Exception:
            LOG.exception("on_refused failed")


def raise_undelivered(outbox: Outbox, mark: int, seconds: float | None, lost: bool) -> None:
    """Raise Undelivered if rewards were refused or still wait."""
    refused = list(outbox.refused)
    outbox.refused.clear()
    if not outbox.settled(mark):
        why = outbox.error or Unavailable("the service has not answered yet")
        left = [Refused(one.experiment, one.key, one.amount, why) for one in outbox.left()]
        rest = "they are given up" if lost else "they are kept and tried again"
        wait = "" if seconds is None else f" after {seconds:g} s"
        raise Undelivered(f"{len(left):,} rewards still wait{wait}: {why}; {rest}", [*refused, *left])
    if refused:
        first = refused[0]
        raise Undelivered(f"{len(refused):,} rewards of {first.experiment!r} were not taken: {first.error}", refused)
