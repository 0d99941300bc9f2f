"""A second copy of an experiment's state, for those who must not wait for whoever has the first one.

It is made when it is needed, from the stored log, and follows that. It never writes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from afterglow.live.follower import Diverged, Follower
from afterglow.live.store.contract import Store


class Bystander:
    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self.turn = Lock()
        self.copy: Follower | None = None

    @contextmanager
    def following(self) -> Iterator[Follower]:
        """The copy, with all that is stored."""
        with self.turn:
            copy = self.copy or Follower(self.name)
            self.copy = None  # unless it can be read
            with self.store.aside(self.name) as log:
                try:
                    copy.follow(log)
                except Diverged:
                    copy = Follower(self.name)
                    copy.follow(log)
            self.copy = copy
            yield copy

    def forget(self) -> None:
        """Give its memory back; it is no longer needed."""
        if self.copy is not None:
            with self.turn:
                self.copy = None
