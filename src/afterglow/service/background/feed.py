"""New records of all experiments, read once and kept in memory for all streams of events.

A stream has a position in the feed and reads what has come since. The feed keeps the latest items only; a stream that
has fallen behind them reads the log itself until it has caught up.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from afterglow.live.domain.log import Place
from afterglow.live.domain.spec import Spec
from afterglow.live.log_entries import LogEntry
from afterglow.service.event_views import event_view

ROOM = 5000  # items kept


class Item(NamedTuple):
    """An event of an experiment, written once for all streams."""

    experiment: str
    entry: LogEntry
    text: bytes
    id: bytes | None = None  # for streams of all experiments that have read all before it


def item_of(experiment: str, spec: Spec | None, entry: LogEntry, verdict: dict[str, Any] | None = None) -> Item:
    """`verdict` is that after the event, if it is the newest one."""
    data = {"experiment": experiment} | event_view(spec, entry) | {"verdict": verdict}
    del data["hash"]
    return Item(experiment, entry, b"event: %s\ndata: %s\n\n" % (entry.kind.encode(), msgspec.json.encode(data)))


class Feed:
    """Used in the event loop only."""

    def __init__(self, room: int = ROOM) -> None:
        self.items = deque[Item](maxlen=room)
        self.end = 0  # items so far
        self.news = asyncio.Event()
        self.places: Mapping[str, Place] = {}  # the last records in it
        self.with_ids = 0  # the last items, which still have their ids

    def add(self, items: Sequence[Item], places: Mapping[str, Place] | None = None) -> None:
        for at in range(1, min(self.with_ids, len(self.items)) + 1):
            self.items[-at] = self.items[-at]._replace(id=None)  # ids name all experiments: only the newest are kept
        self.items.extend(items)
        self.with_ids = len(items)
        self.places = self.places if places is None else places
        self.end += len(items)
        self.wake()

    def wake(self) -> None:
        """Wake all streams; later items set a new event."""
        news, self.news = self.news, asyncio.Event()
        news.set()

    def since(self, position: int) -> list[Item] | None:
        """The items after a position; None if they are not kept any more."""
        missing = self.end - position
        if missing > len(self.items):
            return None
        return list(islice(self.items, len(self.items) - missing, None))
