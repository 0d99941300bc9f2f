"""Bodies of calls: read when they are asked for, at most as large as the limit, all there within the time limit."""

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


class Body:
    """A `receive` that hands out the whole body at once, then whatever follows; who never asks leaves it unread."""

    __slots__ = ("json", "limit", "patience", "receive", "sent", "unread")

    def __init__(self, receive: Receive, sent: dict[bytes, bytes], limit: int, patience: float, json: bool) -> None:
        self.receive = receive
        self.sent = sent  # headers
        self.limit = limit
        self.patience = patience
        self.json = json  # whether it may be nothing else
        self.unread = True

    async def __call__(self) -> Message:
        if not self.unread:
            return await self.receive()
        self.unread = False
        length = self.sent.get(b"content-length", b"")
        if length.isdigit() and int(length[:18]) > self.limit:  # it need not be read
            raise too_large(self.limit)
        try:
            async with asyncio.timeout(self.patience):
                body = await self.read()
        except TimeoutError as error:
            raise Problem("too-slow", "the body did not arrive in time") from error
        if body and self.json:
            refuse_other_media(self.sent.get(b"content-type", b""))
        return {"type": "http.request", "body": body, "more_body": False}

    async def read(self) -> bytes:
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Problem("malformed", "the body ended early")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more = message.get("more_body", False)
            if size > self.limit:
                raise too_large(self.limit)
        return parts[0] if len(parts) == 1 else b"".join(parts)
