"""Whom nobody knows: they cost little, however many they are."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow.live.store.access import TokenRow
from afterglow.service.api.health import Ready
from afterglow.service.auth.client_address import Proxies
from afterglow.service.auth.scopes import MOST, STRANGERS, Authenticator, Buckets
from afterglow.service.auth.tokens import TokenCache
from afterglow.service.problems import Problem
from testbed.quick_disk import quick_folder
from testbed.service import START, Serving, slug

MANY = 2000


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with quick_folder() as folder, Serving(Path(folder) / "e.db") as made:
        yield made


def test_visits_without_a_session_are_braked_and_others_go_on(serving: Serving) -> None:
    with serving.client("none") as stranger, serving.client() as known:
        answers = (stranger.get("/") for _ in range(MANY))
        refused = next(answer for answer in answers if answer.status_code != 303)
        assert (slug(refused), refused.headers["retry-after"]) == ("too-many-requests", "1")
        assert refused.json()["detail"] == "more than 50 visits without a session per second from one address"
        assert known.get("/v1/experiments").status_code == 200
        assert stranger.get("/healthz").status_code == 200


def test_addresses_that_are_nowhere_are_braked_and_short_in_answers(serving: Serving) -> None:
    with serving.client("none") as stranger, serving.client() as known:
        first = stranger.get("/nowhere/" + "x" * 50_000)
        assert slug(first) == "not-found"
        assert len(first.text) < 1000
        with socket.create_connection(("127.0.0.1", serving.port), START) as flood:
            flood.sendall(b"GET /nowhere HTTP/1.1\r\nHost: here\r\n\r\n" * 400)
            got = b""
            while b"calls to unknown addresses per second from one address" not in got:
                got += (more := flood.recv(1 << 16))
                assert more
        assert known.get("/v1/experiments").status_code == 200


def scope_from(peer: str, forwarded: str = "") -> dict[str, Any]:
    return {"client": (peer, 1), "sent": {b"x-forwarded-for": forwarded.encode()}}


def test_three_addresses_that_flood_lock_nobody_else_out() -> None:
    door = Authenticator(TokenCache(list), True, 0.0, lambda: 0.0, asyncio.Event().wait)  # type: ignore[arg-type]
    told = list[str]()
    for number in range(3 * MANY):
        try:
            door.brake("visits", scope_from(f"198.51.100.{number % 3}"))
        except Problem as problem:
            told.append(problem.detail)
    assert len(told) > 2 * MANY
    assert set(told) == {"more than 50 visits per second from one address"}
    door.brake("visits", scope_from("203.0.113.7"))  # an operator elsewhere


def test_what_is_counted_of_addresses_has_an_end() -> None:
    buckets = Buckets(50.0)
    for number in range(3 * MOST):
        assert buckets.take(str(number))
    assert len(buckets.levels) <= MOST


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "found"),
    [
        ("", "198.51.100.1", "203.0.113.7", "198.51.100.1"),  # anybody can send the header
        ("10.0.0.0/8", "10.0.0.5", "203.0.113.7", "203.0.113.7"),
        ("10.0.0.0/8", "10.0.0.5", "1.1.1.1, 203.0.113.7, 10.0.0.9", "203.0.113.7"),  # the first was made up
        ("10.0.0.5", "10.0.0.5", "nonsense", "10.0.0.5"),
        ("10.0.0.5", "10.0.0.5", "", "10.0.0.5"),
        ("10.0.0.5, ::1", "::ffff:10.0.0.5", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("", "", "203.0.113.7", "unknown"),
    ],
)
def test_an_address_behind_a_proxy_counts_if_the_proxy_is_trusted(
    trusted: str, peer: str, forwarded: str, found: str
) -> None:
    assert Proxies(trusted).caller(scope_from(peer, forwarded)) == found


def test_wrong_tokens_are_looked_up_once_for_all_that_wait() -> None:
    """Also those that are typed into the dashboard, which asks the same door."""
    read, found = asyncio.run(ask_for_wrong_tokens(round(2 * STRANGERS)))
    assert set(found) == {None}
    assert read <= 2


def test_more_wrong_tokens_are_refused_without_a_look() -> None:
    read, found = asyncio.run(ask_for_wrong_tokens(MANY))
    refused = [one.kind.slug for one in found if isinstance(one, Problem)]
    assert set(refused) == {"too-many-requests"}
    assert len(refused) == MANY - 2 * STRANGERS
    assert read <= 2


def rows(reads: list[int]) -> list[TokenRow]:
    reads.append(1)
    return []


async def ask_for_wrong_tokens(count: int) -> tuple[int, list[object]]:
    """How often the rows were read, and what each of many that came at the same time was told."""
    reads = list[int]()
    book = TokenCache(lambda: rows(reads))

    async def renew() -> None:
        book.renew()

    door = Authenticator(book, True, 0.0, lambda: 0.0, renew)
    door.strangers = Buckets(STRANGERS, clock=lambda: 0.0)  # all come in the same moment, however busy the machine is
    asked = (door.look_for(f"ag_{number}_wrong") for number in range(count))
    found: list[object] = [*await asyncio.gather(*asked, return_exceptions=True)]
    return len(reads), found


def test_whether_it_is_ready_is_asked_once_for_all_and_says_nothing_of_the_cause() -> None:
    asked = list[int]()

    async def ask() -> None:
        asked.append(1)
        raise Problem("unusable", "experiments.db of somebody is damaged")

    async def look() -> list[object]:
        ready = Ready(ask)
        return list(await asyncio.gather(*(ready.look() for _ in range(100)), return_exceptions=True))

    told = asyncio.run(look())
    assert len(asked) == 1
    assert {(one.kind.slug, "somebody" in one.detail) for one in told if isinstance(one, Problem)} == {
        ("database-unavailable", False)
    }


def test_a_wrong_token_is_unauthorized(serving: Serving) -> None:
    answer = httpx.get(f"{serving.address}/v1/experiments", headers={"Authorization": "Bearer ag_0_wrong"})
    assert slug(answer) == "unauthorized"
