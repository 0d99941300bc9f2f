"""The client for asyncio: the same promises, kept by the same parts."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from afterglow.client import AsyncClient, AsyncExperiment, Client, Experiment, Refused
from afterglow.errors import Conflict, OutOfTurn, Unavailable, Undelivered, UnknownName
from support.service.live_fixtures import Clock
from support.service.relay import relaying
from testbed.service import START, in_thread


@pytest.fixture(scope="module")
def server_clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def address(server_clock: Clock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with in_thread(tmp_path_factory.mktemp("async") / "experiments.db", server_clock) as made:
        for name in ("plain", "lossy", "refusing", "closing", "paging", "following"):
            made.post(
                "/v1/experiments", json={"name": name, "variants": ["49", "59"], "window": 4, "reward_max": 100.0}
            )
        made.post("/v1/experiments", json={"name": "hourly", "variants": ["A", "B"], "window": 1, "step_seconds": 3600})
        yield str(made.base_url)


async def listed(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


def test_both_clients_offer_the_same() -> None:
    for one, other in ((Client, AsyncClient), (Experiment, AsyncExperiment)):
        names = {name for name in dir(one) if not name.startswith("_")}
        assert names == {name for name in dir(other) if not name.startswith("_")}
        for name in names:
            mine, twin = getattr(one, name), getattr(other, name)
            if inspect.isfunction(mine):
                assert list(inspect.signature(mine).parameters) == list(inspect.signature(twin).parameters)


def test_tasks_share_one_request_a_step_and_every_reward_counts_once(address: str, server_clock: Clock) -> None:
    async def main() -> None:
        requests, clock = list[httpx.Request](), Clock()

        async def count(request: httpx.Request) -> None:
            requests.append(request)

        hooks = {"event_hooks": {"request": [count]}}
        async with AsyncClient(address, "any", clock=clock, current_timeout=START, http=hooks) as client:
            hourly = client.experiment("hourly")

            async def work() -> str:
                for _ in range(200):
                    hourly.reward(0.00025)
                return await hourly.current()

            assert set(await asyncio.gather(*(work() for _ in range(16)))) == {"A"}
            assert len([request for request in requests if request.method == "GET"]) == 1
            await client.flush(timeout=START)
            assert client.delivery == (0, 3200, 0, None)
            clock.hours(1)
            server_clock.hours(1)
            assert (await hourly.decision()).step == 1
            (first, *_) = await listed(hourly.steps())
            assert first["total"] == 0.8

    asyncio.run(main())


def test_rewards_whose_answers_are_lost_count_once(address: str) -> None:
    async def main() -> None:
        with relaying(httpx.URL(address).port or 80) as relay:
            async with AsyncClient(relay.address, "any") as client:
                lossy = client.experiment("lossy")
                relay.losing = 2
                lossy.rewards([2.0] * 10)
                await client.flush(timeout=START)
                assert relay.lost == 2
                assert (await lossy.close_step(None, step=0))["total"] == 20.0

    asyncio.run(main())


def test_while_the_service_is_away_the_last_variant_or_the_default_is_served(address: str) -> None:
    async def main() -> None:
        with relaying(httpx.URL(address).port or 80) as relay:
            client = AsyncClient(relay.address, "any", current_timeout=START)
            plain = client.experiment("plain", default="59")
            assert (await plain.decision()).fallback is None
            relay.close()
            assert (await plain.decision())[0::4] == ("49", "last")
            assert (await client.experiment("other", default="59").decision())[0::4] == ("59", "default")
            with pytest.raises(Unavailable, match="can't be reached"):
                await plain.status()
            key = plain.reward(1.0)
            with pytest.raises(Undelivered, match=r"1 rewards still wait after 0\.1 s: .* they are kept"):
                await client.flush(timeout=0.1)
            with pytest.raises(Undelivered, match=r"1 rewards still wait after 0\.1 s: .* they are given up") as caught:
                await client.close(timeout=0.1)
            assert [one.key for one in caught.value.rewards] == [key]
            with pytest.raises(OutOfTurn, match="the client is closed"):
                plain.reward(1.0)
            with pytest.raises(OutOfTurn, match="the client is closed"):
                await plain.status()

    asyncio.run(main())


def test_the_reward_that_is_wrong_is_handed_over_and_the_others_count(address: str) -> None:
    async def main() -> None:
        heard = list[Refused]()
        async with AsyncClient(address, "any", on_refused=heard.extend) as client:
            refusing = client.experiment("refusing")
            refusing.rewards([1.0, 1000.0, 4.0])
            with pytest.raises(Undelivered, match="amount must be at most"):
                await client.flush()
            assert [one.amount for one in heard] == [1000.0]
            assert (await refusing.close_step(None, step=0))["total"] == 5.0
            with pytest.raises(Conflict, match="step 0 was closed with 5"):
                await refusing.close_step(6.0, step=0)

    asyncio.run(main())


def test_leaving_the_block_delivers_what_is_left(address: str) -> None:
    async def main() -> None:
        async with AsyncClient(address, "any", linger=60.0) as client:
            client.experiment("closing").reward(3.0)
        async with AsyncClient(address, "any") as client:
            assert (await client.experiment("closing").close_step(None, step=0))["total"] == 3.0

    asyncio.run(main())


def test_pages_orders_and_refusals_are_awaited(address: str) -> None:
    async def main() -> None:
        async with AsyncClient(address, "any") as client:
            paging = client.experiment("paging")
            assert (await paging.pin("59", "a sale"))["pinned"] == "59"
            for step in range(3):
                await paging.close_step(1.0, step=step)
            assert [one["variant"] for one in await listed(paging.steps(limit=2))] == ["49", "59", "59", "59"]
            assert [one["seq"] for one in await listed(paging.events(after=2, limit=2))] == [3, 4, 5]
            assert "paging" in [one["name"] for one in await listed(client.experiments(limit=2))]
            assert (await client.webhooks()) == {"items": []}
            with pytest.raises(UnknownName, match="no experiment named 'pagin'"):
                await client.experiment("pagin").status()

    asyncio.run(main())


def test_events_are_followed_and_taken_up_again(address: str) -> None:
    async def main() -> None:
        async with AsyncClient(address, "any") as client:
            experiment = client.experiment("following")
            stream = client.follow("following")
            first = asyncio.ensure_future(anext(stream))
            step = 0
            while not first.done():
                await experiment.close_step(1.0, step=step)
                step += 1
            cursor, event = await first
            await stream.aclose()
            await experiment.close_step(1.0, step=step)
            again = client.follow("following", after=cursor)
            _, following = await anext(again)
            await again.aclose()
            assert following["seq"] == event["seq"] + 1

    asyncio.run(main())
