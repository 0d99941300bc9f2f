"""A token that was just made is good at once, and unknown ones don't make the service read all tokens over and over."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from afterglow.live.store import access
from afterglow.service.tokens import PAUSE, new_token
from serving import Serving


def test_a_token_that_was_just_made_is_good_at_once(tmp_path: Path) -> None:
    with Serving(tmp_path / "experiments.db") as serving:
        keys = access(serving.db)
        for _ in range(8):
            token, row = new_token(["read"], None, "", time.time())
            keys.put_token(row)
            with serving.client(token) as client:
                assert client.get("/v1/experiments").status_code == 200
        keys.close()


def test_unknown_tokens_wait_for_one_reading_together(tmp_path: Path) -> None:
    with Serving(tmp_path / "experiments.db") as serving, ThreadPoolExecutor(16) as pool:

        def knock(number: int) -> int:
            with serving.client(f"ag_{number:012x}_guess") as client:
                return client.get("/v1/experiments").status_code

        began = time.monotonic()
        assert set(pool.map(knock, range(64))) == {401}
        assert time.monotonic() - began < 64 * PAUSE  # not one after the other
