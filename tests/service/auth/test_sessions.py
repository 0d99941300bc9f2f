"""Sessions as rows among the tokens: how long they last, and who knows them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from afterglow import live
from afterglow.live.store import access
from afterglow.live.store.access import Access
from afterglow.service.auth.sessions import DURATION, Sessions, form_mark, own_form
from afterglow.service.auth.tokens import Token, TokenCache, new_token

NOW = 1_800_000_000.0


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Access]:
    address = tmp_path / "experiments.db"
    live.open(address).close()
    made = access(address)
    yield made
    made.close()


def sessions(rows: Access) -> Sessions:
    """Those of one replica."""
    made = Sessions(TokenCache(rows.tokens), rows)
    made.tokens.renew()
    return made


def signed(rows: Access, **given: float) -> Token:
    text, row = new_token(["read"], ["shipping"], "for a test", NOW, **given)
    rows.put_token(row)
    found = sessions(rows).tokens.find(text, NOW)
    assert found is not None
    return found


def test_a_session_lasts_for_a_working_day(rows: Access) -> None:
    token, here = signed(rows), sessions(rows)
    cookie = here.begin(token, NOW)
    assert here.find(cookie, NOW + DURATION - 1) == replace(token, session=cookie.partition(".")[0])
    assert here.find(cookie, NOW + DURATION + 1) is None


def test_a_session_ends_when_its_token_does(rows: Access) -> None:
    token, here = signed(rows, expires=60.0), sessions(rows)
    cookie = here.begin(token, NOW)
    assert here.find(cookie, NOW + 59) is not None
    assert here.find(cookie, NOW + 61) is None


def test_another_replica_knows_a_session_at_once(rows: Access) -> None:
    token, here, there = signed(rows), sessions(rows), sessions(rows)
    cookie = here.begin(token, NOW)
    assert there.find(cookie, NOW) == replace(token, session=cookie.partition(".")[0])
    here.end(cookie, token, NOW)
    there.tokens.renew()  # as it does once a second
    assert there.find(cookie, NOW) is None


def test_a_session_of_a_revoked_token_is_refused(rows: Access) -> None:
    token, here = signed(rows), sessions(rows)
    cookie = here.begin(token, NOW)
    rows.revoke_token(token.id, 1)
    here.tokens.renew()
    assert here.find(cookie, NOW) is None


def test_a_session_has_its_own_secret(rows: Access) -> None:
    token, here = signed(rows), sessions(rows)
    first, second = here.begin(token, NOW), here.begin(token, NOW)
    id_, _, secret = first.partition(".")
    other = second.partition(".")[0]
    for cookie in (
        f"{id_}.",
        f"{other}.{secret}",
        f"{token.id}.{secret}",
        f"{token.id}-.{secret}",
        "",
        ".",
        "-.",
        "é.é",
    ):
        assert here.find(cookie, NOW) is None
    assert here.tokens.find(f"ag_{id_}_{secret}", NOW) is None
    assert all(secret.encode() not in row.digest for row in rows.tokens())


def test_sessions_that_are_over_are_forgotten_with_the_next_one(rows: Access) -> None:
    token, here = signed(rows), sessions(rows)
    here.begin(token, NOW)
    here.begin(token, NOW + DURATION + 1)
    assert len(rows.tokens()) == 2


def test_a_form_s_mark_belongs_to_one_cookie() -> None:
    assert own_form("a cookie", form_mark("a cookie"))
    assert not own_form("a cookie", form_mark("another"))
    assert not own_form("", form_mark(""))
    assert not own_form("a cookie", "é")
