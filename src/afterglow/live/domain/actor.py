"""Who gave a command: stored in the body of its event, and so covered by the hashes of the log."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Actor(NamedTuple):
    """A token of the service by its id and label, with the session of a signed-in operator; or any name of a caller."""

    token: str
    label: str = ""
    session: str = ""

    def values(self) -> dict[str, str]:
        """As an event has it."""
        return {name: value for name, value in self._asdict().items() if value}

    def __str__(self) -> str:
        return f"{self.label} ({self.token})" if self.label else self.token


def actor_in(body: Mapping[str, Any]) -> Actor | None:
    """The actor of an event; None for events of the schedule, and of releases that stored none."""
    found = body.get("by")
    return Actor(**found) if isinstance(found, dict) else None
