"""Verdicts in streams of events and webhooks: the newest event of an experiment carries the verdict after it.

Events that others have followed have none, because the verdict of that time is not stored. Verdicts of events that only
end a step are left out while computing them has taken more than `SHARE` of the time; the next event has one.
"""

from time import monotonic
from typing import Any

from afterglow.errors import Unavailable
from afterglow.live import Experiments
from afterglow.live.domain.spec import Spec
from afterglow.live.log_entries import LogEntry
from afterglow.service.event_views import event_view
from afterglow.service.views import verdict_view

SHARE = 0.05  # of a core
JUDGED = (  # may change it
    "close", "missed", "void", "revise", "disable", "emergency", "enable", "go_live", "stop", "clock_jump",
    "clock_agrees", "accept_clock",
)  # fmt: skip


class EventVerdicts:
    """Makes the JSON of events; one object for all streams, so that they share its budget."""

    def __init__(self, experiments: Experiments) -> None:
        self.experiments = experiments
        self.rested = 0.0  # when the next verdict of a step may be computed, by the monotonic clock

    def data(self, name: str, event: LogEntry) -> dict[str, Any]:
        """An event as streams and webhooks have it."""
        made = {"experiment": name} | event_view(self.spec(name), event)
        del made["hash"]
        return made | {"verdict": self.verdict(name, event)}

    def spec(self, name: str) -> Spec | None:
        """None for an experiment that can't be used: it still has events."""
        try:
            return self.experiments.get(name).spec
        except Unavailable:
            raise
        except Exception:
            return None

    def verdict(self, name: str, event: LogEntry) -> dict[str, Any] | None:
        """The verdict after an event, if it is the newest one."""
        if event.kind not in JUDGED:
            return None
        began = monotonic()
        only_known = event.kind == "close" and began < self.rested
        try:
            experiment = self.experiments.get(name)
            found = experiment.verdict_after(event.seq, only_known)
        except Exception:  # an experiment that can't be used still has events
            return None
        if not only_known:
            ended = monotonic()
            self.rested = ended + (ended - began) * (1 / SHARE - 1)
        return None if found is None else verdict_view(found, experiment.spec)
