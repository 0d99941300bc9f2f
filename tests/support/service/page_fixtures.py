"""A service by the test's clock and a visitor of its dashboard, for tests of pages: `client` and `visitor`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.browser.visitor import Visitor
from support.service.live_fixtures import Clock
from testbed.service import in_thread

FRIDAY = 1_800_000_000.0  # 08:00 in UTC


@pytest.fixture
def client(tmp_path: Path, clock: Clock) -> Iterator[httpx.Client]:
    with in_thread(tmp_path / "experiments.db", clock) as made:
        yield made


@pytest.fixture
def visitor(client: httpx.Client) -> Iterator[Visitor]:
    made = Visitor(str(client.base_url))
    yield made
    made.close()


def create(client: httpx.Client, **more: Any) -> None:
    body = {"name": "shipping", "variants": ["49", "59", "69"], "window": 3, "reward_max": 100.0, "horizon": 500}
    assert client.post("/v1/experiments", json=body | {"step_seconds": 3600} | more).status_code == 201


def act(visitor: Visitor, name: str, **fields: str) -> str:
    visitor.read(f"/experiments/shipping/actions/{name}")
    return visitor.send(f"/experiments/shipping/actions/{name}", **fields).text
