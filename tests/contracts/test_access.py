"""What every store promises about tokens and webhooks."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

import afterglow
from afterglow.errors import BadValue, OutOfTurn
from afterglow.live.domain.log import Place
from afterglow.live.store import access, open_store
from afterglow.live.store.access import Access, HookRow, TokenRow
from support.service.live_fixtures import ASKED

ADMIN = TokenRow("a1", "first", b"\x00digest", "admin", None, 1000)
SHOP = TokenRow("b2", "shop", b"\xffdigest", "decide report", "shipping banner", 2000, expires=9000)
HOOK = HookRow("h1", "https://example.org/hook", "secret", None, "shipping", 1000)


@pytest.fixture
def desk(address: str) -> Iterator[Access]:
    made = access(address)
    yield made
    made.close()


def test_tokens_come_back_as_they_were_oldest_first(desk: Access) -> None:
    assert desk.tokens() == []
    for token in (SHOP, ADMIN):
        desk.put_token(token)
    assert desk.tokens() == [ADMIN, SHOP]


def test_a_token_is_revoked_once_and_stays_listed(desk: Access) -> None:
    desk.put_token(SHOP)
    assert desk.revoke_token("b2", 5000)
    assert not desk.revoke_token("b2", 6000)
    assert not desk.revoke_token("none", 6000)
    assert desk.tokens() == [SHOP._replace(revoked=5000)]


def test_a_dropped_token_has_never_been(desk: Access) -> None:
    for token in (SHOP, ADMIN):
        desk.put_token(token)
    assert desk.drop_token("b2")
    assert not desk.drop_token("b2")
    assert desk.tokens() == [ADMIN]


def test_a_new_session_replaces_those_that_are_over_and_the_oldest_of_its_token(desk: Access) -> None:
    desk.put_token(ADMIN)
    over, *others = (ADMIN._replace(id=f"a1-{n}", created=2000 + n, expires=3000 + n) for n in range(4))
    for one in (over, *others):
        desk.put_session(one, 2000, 2)
    assert desk.tokens() == [ADMIN, *others[1:]]
    desk.put_session(last := over._replace(id="a1-9", created=3500, expires=9000), 3003, 2)
    assert desk.tokens() == [ADMIN, last], "what has expired stays"


def test_an_id_is_taken_once(desk: Access) -> None:
    desk.put_token(ADMIN)
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        desk.put_token(SHOP._replace(id="a1"))
    assert desk.tokens() == [ADMIN]


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "two\nlines"])
def test_text_that_not_every_database_keeps_is_refused_or_unknown(desk: Access, text: str) -> None:
    with pytest.raises(BadValue, match="label of a token must be text without control characters"):
        desk.put_token(ADMIN._replace(label=text))
    with pytest.raises(BadValue, match="address of a webhook must be"):
        desk.put_hook(HOOK._replace(address=text))
    assert not desk.revoke_token(text, 1)
    assert not desk.drop_token(text)
    assert not desk.drop_hook(text)
    assert (desk.tokens(), desk.hooks()) == ([], [])


def test_a_webhook_knows_how_far_it_was_delivered_until_it_is_dropped(desk: Access) -> None:
    desk.put_hook(HOOK)
    assert desk.hooks() == [HOOK]
    assert desk.hook_places() == {}
    for seq in (3, 9):
        desk.put_hook_places({("h1", "shipping"): Place(seq, 10 * seq, b"mark"), ("h1", "banner"): Place(1, 2, b"m")})
    assert desk.hook_places() == {("h1", "shipping"): (9, 90, b"mark"), ("h1", "banner"): (1, 2, b"m")}
    assert desk.drop_hook("h1")
    assert not desk.drop_hook("h1")
    desk.put_hook_places({("h1", "shipping"): Place(10, 0, b"")})  # a delivery that was on its way
    assert (desk.hooks(), desk.hook_places()) == ([], {})


def test_another_process_manages_tokens_while_the_experiments_are_written(address: str) -> None:
    code = (
        "import sys\nfrom afterglow.live.store import access\nfrom afterglow.live.store.access import TokenRow\n"
        "desk = access(sys.argv[1])\ndesk.put_token(TokenRow('t', 'made elsewhere', b'digest', 'read', None, 1))\n"
        "print(desk.revoke_token('a1', 77))\ndesk.close()"
    )
    with afterglow.live.open(address) as experiments:
        experiment = experiments.create("shipping", **ASKED)
        experiments._store.put_token(ADMIN)
        done = subprocess.run(
            [sys.executable, "-c", code, address], capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        assert done.stdout == "True\n"
        assert experiment.reward(1.0).accepted == 1
        assert [(one.label, one.revoked) for one in experiments._store.tokens()] == [
            ("made elsewhere", None), ("first", 77),
        ]  # fmt: skip


def test_what_is_opened_to_read_changes_nothing(address: str) -> None:
    open_store(address).close()
    reader = open_store(address, read_only=True)
    with pytest.raises(OutOfTurn, match="opened to read only"):
        reader.put_token(ADMIN)
    with reader.lead("webhooks", 60) as leads:
        assert not leads
    assert reader.tokens() == []
    reader.close()


def test_somebody_leads(desk: Access) -> None:
    for _ in range(2):
        with desk.lead("webhooks", 60) as leads:
            assert leads
