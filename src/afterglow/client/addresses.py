"""Several addresses of one service: replicas behind one database. A call goes to the one that answered last.

If it can't be reached, or answers that it can't serve now, the next one is asked, but only with calls that may be made
twice: reads, and rewards, which count once by their keys. Any call goes on to the next address if no connection could
be made.
"""

from collections.abc import Iterator

import httpx

from afterglow.client.calls import Answer, Call

AWAY = (502, 503, 504)
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)


class Addresses:
    """Used by several threads: the worst that a race does is to ask an address that was just found to be away."""

    def __init__(self, known: tuple[str, ...]) -> None:
        self.known = known
        self.at = 0

    def current(self) -> str:
        return self.known[self.at]

    def tries(self) -> Iterator[str]:
        """Every address once, beginning with the one that answered last."""
        first = self.at
        for number in range(len(self.known)):
            self.at = (first + number) % len(self.known)
            yield self.known[self.at]

    def leave(self) -> None:
        """The next call goes to another address."""
        self.at = (self.at + 1) % len(self.known)


def repeatable(call: Call) -> bool:
    """Whether a call that may have been received can be made again elsewhere."""
    return call.method == "GET" or call.path.endswith("/rewards")


def elsewhere(call: Call, failure: Exception | Answer) -> bool:
    """Whether the next address is asked after a failure."""
    if isinstance(failure, Answer):
        return failure.status in AWAY and repeatable(call)
    return isinstance(failure, NOT_SENT) or repeatable(call)
