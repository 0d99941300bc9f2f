"""Server-sent events, line by line."""

import json
from typing import Any


class Stream:
    """Give it the lines of a stream; it returns an event whenever one is complete."""

    def __init__(self, cursor: str | None = None) -> None:
        self.cursor = cursor  # of the last event, to go on from
        self._data = list[str]()
        self._id = cursor

    def line(self, text: str) -> dict[str, Any] | None:
        if not text:
            return self._event()
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None  # of no use: comments, which keep the line open, and the kind, which is in the data too

    def _event(self) -> dict[str, Any] | None:
        data, self._data = self._data, []
        self.cursor = self._id
        if not data:
            return None
        event: dict[str, Any] = json.loads("\n".join(data))
        return event
