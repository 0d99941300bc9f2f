"""Whom nobody knows: they cost little, however many they are."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from afterglow.live.store.access import TokenRow
from afterglow.service.api.health import Ready
from afterglow.service.auth.scopes import STRANGERS, Authenticator
from afterglow.service.auth.tokens import TokenCache
from afterglow.service.problems import Problem
from testbed.quick_disk import quick_folder
from testbed.service import Serving, slug

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
        assert refused.json()["detail"] == "more than 50 visits without a session per second"
        assert known.get("/v1/experiments").status_code == 200
        assert stranger.get("/healthz").status_code == 200


def test_wrong_tokens_are_looked_up_once_for_all_that_wait() -> None:
    """Also those that are typed into the dashboard, which asks the same door."""
    read, found = asyncio.run(ask_for_wrong_tokens(round(2 * STRANGERS)))
    assert set(found) == {None}
    assert read <= 2


def test_more_wrong_tokens_are_refused_without_a_look() -> None:
    read, found = asyncio.run(ask_for_wrong_tokens(MANY))
    refused = [one.kind.slug for one in found if isinstance(one, Problem)]
    assert set(refused) == {"too-many-requests"}
    assert len(refused) >= MANY / 2
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
