"""Request bodies: read on demand, with limits of size, time and total memory."""

import asyncio
import json
from contextlib import suppress

from starlette.types import Message, Receive

from afterglow.service.problems import Problem

DISCARDED = 8 << 20  # maximum bytes of a refused body that are read, so that the sender gets to see the answer


def refuse_other_media(content_type: bytes) -> None:
    media = content_type.partition(b";")[0].strip().lower()
    if media != b"application/json":
        raise Problem("unsupported-media-type", f"the body must be application/json, got {media.decode('latin-1')!r}")


def refuse_duplicates(body: bytes) -> None:
    """Refuse JSON with a name twice in one object, since readers differ in which they take."""
    try:
        json.loads(body, object_pairs_hook=distinct)
    except (ValueError, RecursionError):
        return


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise Problem("malformed", f"an object has the name {name!r:.100} twice; give it once")
    return found


def too_large(limit: int) -> Problem:
    return Problem("too-large", f"a body may have at most {limit:,} bytes")


class BodyBudget:
    """Maximum bytes of one body and of all bodies together."""

    def __init__(self, limit: int, room: int, patience: float) -> None:
        self.limit = limit
        self.room = max(limit, room)
        self.patience = patience  # seconds for a body to arrive
        self.held = 0

    def take(self, size: int) -> None:
        if self.held + size > self.room:
            raise Problem("overloaded", f"request bodies have reached the total limit of {self.room:,} bytes")
        self.held += size


class Body:
    """An ASGI `receive` that returns the whole body as one message; it is read only when called."""

    __slots__ = ("json", "receive", "room", "scope", "size", "unread")

    def __init__(self, receive: Receive, scope: Message, room: BodyBudget, json: bool) -> None:
        self.receive = receive
        self.scope = scope
        self.room = room
        self.json = json  # whether the media type must be JSON
        self.size = 0  # bytes received
        self.unread = True

    async def __call__(self) -> Message:
        if not self.unread:
            return await self.receive()
        self.unread = False
        sent = self.scope["sent"]
        length = sent.get(b"content-length", b"")
        if length.isdigit() and (announced := int(length[:18])) > self.room.limit:
            if announced <= DISCARDED and b"expect" not in sent:
                await self.discard()
            raise too_large(self.room.limit)
        body = await (self.read() if self.scope.get("whole") else self.wait())
        if body and self.json:
            refuse_other_media(sent.get(b"content-type", b""))
        return {"type": "http.request", "body": body, "more_body": False}

    async def wait(self) -> bytes:
        """Read an incomplete body with a time limit; a complete one needs no timer, which costs the most."""
        try:
            async with asyncio.timeout(self.room.patience):
                return await self.read()
        except TimeoutError as error:
            raise Problem("too-slow", "the body didn't arrive in time") from error

    async def read(self) -> bytes:
        parts: list[bytes] = []
        more = True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Problem("malformed", "the body ended early")
            part: bytes = message.get("body", b"")
            if self.size + len(part) > self.room.limit:
                if message.get("more_body", False):
                    await self.discard()
                raise too_large(self.room.limit)
            self.room.take(len(part))
            self.size += len(part)
            parts.append(part)
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def discard(self) -> None:
        """Read what is left of a body that will be refused.

        A sender, or a proxy on its way, that is still writing when the connection closes loses the answer.
        """
        left, more = DISCARDED, True
        with suppress(TimeoutError):
            async with asyncio.timeout(self.room.patience):
                while more and left > 0:
                    message = await self.receive()
                    left -= len(message.get("body", b""))
                    more = message.get("more_body", False)

    def leave(self) -> None:
        """Release the budget at the end of the call."""
        self.room.held -= self.size
        self.size = 0
