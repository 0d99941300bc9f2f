"""Bodies of calls: read when they are asked for, at most as large as the limit, all there within the time limit, and
together no more than there is room for."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from afterglow.service.problems import Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


def refuse_other_media(content_type: bytes) -> None:
    media = content_type.partition(b";")[0].strip().lower()
    if media != b"application/json":
        raise Problem("unsupported-media-type", f"the body must be application/json, got {media.decode('latin-1')!r}")


def too_large(limit: int) -> Problem:
    return Problem("too-large", f"a body may have {limit:,} bytes")


class BodyBudget:
    """What bodies may take: each of them, and all together."""

    def __init__(self, limit: int, room: int, patience: float) -> None:
        self.limit = limit
        self.room = max(limit, room)
        self.patience = patience  # seconds that a body may take to arrive
        self.held = 0

    def take(self, size: int) -> None:
        if self.held + size > self.room:
            raise Problem("overloaded", f"the bodies of all calls have {self.room:,} bytes already")
        self.held += size


class Body:
    """A `receive` that hands out the whole body at once, then whatever follows; who never asks leaves it unread."""

    __slots__ = ("json", "receive", "room", "scope", "size", "unread")

    def __init__(self, receive: Receive, scope: Message, room: BodyBudget, json: bool) -> None:
        self.receive = receive
        self.scope = scope
        self.room = room
        self.json = json  # whether it may be nothing else
        self.size = 0  # bytes that are here
        self.unread = True

    async def __call__(self) -> Message:
        if not self.unread:
            return await self.receive()
        self.unread = False
        sent = self.scope["sent"]
        length = sent.get(b"content-length", b"")
        if length.isdigit() and int(length[:18]) > self.room.limit:  # it need not be read
            raise too_large(self.room.limit)
        body = await (self.read() if self.scope.get("whole") else self.wait())
        if body and self.json:
            refuse_other_media(sent.get(b"content-type", b""))
        return {"type": "http.request", "body": body, "more_body": False}

    async def wait(self) -> bytes:
        """Read what is not all here yet; a timer costs more than all else here."""
        try:
            async with asyncio.timeout(self.room.patience):
                return await self.read()
        except TimeoutError as error:
            raise Problem("too-slow", "the body did not arrive in time") from error

    async def read(self) -> bytes:
        parts: list[bytes] = []
        more = True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Problem("malformed", "the body ended early")
            part: bytes = message.get("body", b"")
            if self.size + len(part) > self.room.limit:
                raise too_large(self.room.limit)
            self.room.take(len(part))
            self.size += len(part)
            parts.append(part)
            more = message.get("more_body", False)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def leave(self) -> None:
        """Make room: the call is over."""
        self.room.held -= self.size
        self.size = 0
