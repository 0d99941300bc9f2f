"""Bodies end: in size, in time, and all together."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from quick_disk import quick_folder
from serving import in_thread, slug

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}
JSON = {"Content-Type": "application/json"}
LIMIT = 1 << 16


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with quick_folder() as folder, in_thread(Path(folder) / "e.db", body_limit=LIMIT, time_limit=0.5) as made:
        made.post("/v1/experiments", json={"name": "rewards", **ASKED}).raise_for_status()
        yield made


@pytest.mark.parametrize(
    "path",
    [
        "/ofrep/v1/evaluate/flags/rewards",
        "/ofrep/v1/evaluate/flags",
        "/v1/experiments/rewards/rewards",
        "/v1/experiments/rewards/steps/0",
        "/v1/experiments/rewards/steps/rewards",
        "/v1/experiments/rewards/pause",
    ],
)
def test_no_address_takes_a_body_beyond_the_limit(client: httpx.Client, path: str) -> None:
    parts = iter([b" " * LIMIT] * 2)
    assert slug(client.post(path, content=parts, headers=JSON)) == "too-large"
