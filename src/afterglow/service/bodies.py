"""Bodies of calls: JSON, at most as large as the limit, all there within the time limit."""

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


def refuse_large(length: bytes, limit: int) -> None:
    """What says that it is too large need not be read."""
    if length.isdigit() and int(length[:18]) > limit:
        raise too_large(limit)


def too_large(limit: int) -> Problem:
    return Problem("too-large", f"a body may have {limit:,} bytes")


async def read_body(receive: Receive, limit: int, patience: float) -> bytes:
    """The whole body."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if message.get("more_body"):
        try:
            async with asyncio.timeout(patience):
                body = await read_on(receive, limit, body)
        except TimeoutError as error:
            raise Problem("too-slow", "the body did not arrive in time") from error
    if len(body) > limit:
        raise too_large(limit)
    return body


async def read_on(receive: Receive, limit: int, body: bytes) -> bytes:
    parts, size, more = [body], len(body), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem("malformed", "the body ended early")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        more = message.get("more_body", False)
        if size > limit:
            raise too_large(limit)
    return b"".join(parts)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that hands out a body that was read, then whatever follows."""
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again
