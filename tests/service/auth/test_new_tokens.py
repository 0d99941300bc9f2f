"""A token that was just made is good at once, and unknown ones don't make the service read all tokens over and over."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest

from afterglow.live.store import access
from afterglow.live.store.access import TokenRow
from afterglow.service.auth.scopes import Authenticator
from afterglow.service.auth.tokens import PAUSE, TokenCache, new_token
from afterglow.service.problems import Problem
from testbed.service import Serving


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("tokens") / "experiments.db") as made:
        yield made


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_that_was_just_made_is_good_at_once(serving: Serving) -> None:
    keys = access(serving.db)
    with serving.client() as client:
        for _ in range(8):
            token, row = new_token(["read"], None, "", time.time())
            keys.put_token(row)
            assert client.get("/v1/experiments", headers=bearer(token)).status_code == 200
    keys.close()


def test_a_reading_that_is_under_way_is_waited_for() -> None:
    """The book is read every second anyway; a call that comes in the middle must not go by what was known before."""
    token, row = new_token(["read"], None, "", time.time())
    begun, go_on = Event(), Event()

    def rows() -> list[TokenRow]:
        begun.set()
        assert go_on.wait(30)
        return [row]

    async def call() -> bool:
        door = Authenticator(book, True, 0, time.time, lambda: asyncio.to_thread(book.renew))
        sought = asyncio.create_task(door.look_for(token))
        while not door.looking.locked() and not sought.done():
            await asyncio.sleep(0)
        every_second.start()
        await asyncio.to_thread(begun.wait, 30)
        await asyncio.sleep(2 * PAUSE)  # time enough to answer too early
        go_on.set()
        return await sought is not None

    book = TokenCache(rows)
    book.read = time.monotonic()  # so that the call waits a moment before it reads for itself
    every_second = Thread(target=book.renew)
    assert asyncio.run(call())
    every_second.join()


def test_a_token_is_not_called_unknown_by_a_reading_that_did_not_end() -> None:
    """The database may be slow just when it is asked; what was known before says nothing about a new token."""
    token, row = new_token(["read"], None, "", time.time())
    book = TokenCache(list)
    book.renew()

    async def too_slow() -> None: ...

    async def call() -> str:
        door = Authenticator(book, True, 0, time.time, too_slow)
        with pytest.raises(Problem) as told:
            await door.look_for(token)
        return told.value.kind.slug

    assert asyncio.run(call()) == "database-unavailable"
    book.rows = lambda: [row]
    book.renew()
    assert book.find(token, time.time()) is not None


def test_a_reading_that_failed_in_whatever_way_proves_nothing_about_a_token() -> None:
    def rows() -> list[TokenRow]:
        raise ValueError("a row that nobody can read")

    async def call() -> str:
        door = Authenticator(book, True, 0, time.time, renew)
        try:
            await door.look_for("ag_000000000000_new")
        except Problem as problem:
            return problem.kind.slug
        return "unauthorized"

    async def renew() -> None:
        with contextlib.suppress(ValueError):
            await asyncio.to_thread(book.renew)

    book = TokenCache(rows)
    book.sure = True  # an earlier reading worked
    assert asyncio.run(call()) == "database-unavailable"


def test_unknown_tokens_wait_for_one_reading_together(serving: Serving) -> None:
    with ThreadPoolExecutor(16) as pool, serving.client() as client:

        def knock(number: int) -> int:
            return client.get("/v1/experiments", headers=bearer(f"ag_{number:012x}_guess")).status_code

        began = time.monotonic()
        assert set(pool.map(knock, range(64))) == {401}
        assert time.monotonic() - began < 64 * PAUSE  # not one after the other
