"""A client with several addresses goes on with another one when one is away."""

import asyncio
from pathlib import Path

import pytest

from afterglow.client import AsyncClient, Client
from afterglow.errors import BadValue, Unavailable
from testbed.ports import Port
from testbed.service import START, in_thread

CREATED = {"name": "shipping", "variants": ["49", "59"], "window": 1, "reward_max": 10.0}


def test_calls_and_rewards_go_to_the_address_that_answers(tmp_path: Path) -> None:
    away = Port()  # nobody listens there
    with in_thread(tmp_path / "experiments.db") as made:
        made.post("/v1/experiments", json=CREATED).raise_for_status()
        addresses = [f"http://127.0.0.1:{away.number}", str(made.base_url)]
        with Client(addresses, "any", current_timeout=START) as client:
            shipping = client.experiment("shipping")
            assert shipping.decision().fallback is None
            shipping.reward(2.5)
            client.flush(START)
            assert shipping.pin("59", "a command")["pinned"] == "59"
            assert client._addresses.current() == addresses[1]

        async def same() -> str:
            async with AsyncClient(addresses, "any", current_timeout=START) as client:
                return await client.experiment("shipping").current()

        assert asyncio.run(same()) == "49"
    with Client(addresses, "any", timeout=1.0) as client, pytest.raises(Unavailable, match=f"{addresses[0]} or http"):
        client.experiment("shipping").status()
    away.close()


def test_no_address_and_a_wrong_one_are_refused() -> None:
    for wrong in ([], ["https://experiments.example", "experiments"]):
        with pytest.raises(BadValue, match="address"):
            Client(wrong, "any")
