"""A token that was just made is good at once, and unknown ones don't make the service read all tokens over and over."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from afterglow.live.store import access
from afterglow.service.tokens import PAUSE, new_token
from serving import Serving


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


def test_unknown_tokens_wait_for_one_reading_together(serving: Serving) -> None:
    with ThreadPoolExecutor(16) as pool, serving.client() as client:

        def knock(number: int) -> int:
            return client.get("/v1/experiments", headers=bearer(f"ag_{number:012x}_guess")).status_code

        began = time.monotonic()
        assert set(pool.map(knock, range(64))) == {401}
        assert time.monotonic() - began < 64 * PAUSE  # not one after the other
