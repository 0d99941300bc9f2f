"""The kill switch: with steps of a day, every client is off a variant within the service's `max_age`."""

from pathlib import Path

import pytest
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider

from afterglow.client import Client
from support.service.live_fixtures import Clock
from testbed.service import START, in_thread

DAILY = {"name": "daily", "variants": ["A", "B", "C"], "window": 3, "reward_max": 10.0, "step_seconds": 86_400}


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_every_client_is_off_a_variant_within_a_minute(tmp_path: Path, clock: Clock) -> None:
    with in_thread(tmp_path / "experiments.db", clock) as operator:
        operator.post("/v1/experiments", json=DAILY).raise_for_status()
        address = str(operator.base_url)
        api.set_provider_and_wait(OFREPProvider(address, headers_factory=dict, timeout=START))
        flags, own = api.get_client(), Clock()
        with (
            Client(address, "any", clock=own, current_timeout=START) as client,
            Client(address, "any", clock=own, current_timeout=START) as other,
        ):
            daily, commanding = client.experiment("daily"), other.experiment("daily")
            clock.now += 3600
            assert (daily.current(), flags.get_string_value("daily", "none")) == ("A", "A")
            assert commanding.current() == "A"
            commanding.emergency("A", "checkout fails")
            assert commanding.current() == "B"  # keeps no answer from before its own command
            assert flags.get_string_value("daily", "none") == "B"  # asks each time
            assert daily.current() == "A"  # the answer that it has may be used
            own.now += 60
            clock.now += 60
            assert daily.decision()[:3] == ("B", 0, "emergency")
            assert daily.status()["disabled"] == ["A"]
            daily.reward(5.0)
            client.flush(START)
            clock.now += 86_400
            first, *_ = daily.steps()
        api.shutdown()
    assert (first["variant"], first["role"], first["void"], first["total"]) == ("B", "emergency", True, 5.0)
    assert first["reason"] == "checkout fails"


def test_every_unit_is_off_a_variant_within_a_minute(tmp_path: Path, clock: Clock) -> None:
    """Also if it was pinned in one of them."""
    units = ["north", "south", "east", "west"]
    with in_thread(tmp_path / "experiments.db", clock) as operator:
        asked = DAILY | {"units": units, "horizon": 60, "guards": {"refunds": {"at_most": "+10%"}}}
        del asked["reward_max"]
        operator.post("/v1/experiments", json=asked).raise_for_status()
        own = Clock()
        address = str(operator.base_url)
        with (
            Client(address, "any", clock=own, current_timeout=START) as client,
            Client(address, "any", clock=own, current_timeout=START) as other,
        ):
            handles, commanding = [client.experiment("daily", unit=unit) for unit in units], other.experiment("daily")
            commanding.pin("A", "a sale", unit="south")
            clock.now += 86_400
            before = [one.current() for one in handles]
            assert before[1] == "A"
            commanding.emergency("A", "checkout fails")
            assert [one.current() for one in handles] == before  # the answers that it has may be used
            own.now += 60
            clock.now += 60
            after = [one.decision() for one in handles]
            assert "A" not in [one.variant for one in after]
            assert [one.role == "emergency" for one in after] == [variant == "A" for variant in before]


@pytest.mark.parametrize("path", ["/v1/experiments/daily/current", "/ofrep/v1/evaluate/flags/daily"])
def test_no_answer_may_be_used_for_longer_than_a_minute(tmp_path: Path, clock: Clock, path: str) -> None:
    with in_thread(tmp_path / "experiments.db", clock) as client:
        client.post("/v1/experiments", json=DAILY).raise_for_status()
        method = "POST" if "ofrep" in path else "GET"
        assert client.request(method, path).headers["cache-control"] == "private, max-age=60"
        clock.now += 86_390
        assert client.request(method, path).headers["cache-control"] == "private, max-age=10"


def test_an_unchanged_variant_is_confirmed_without_a_body(tmp_path: Path, clock: Clock) -> None:
    with in_thread(tmp_path / "experiments.db", clock) as client:
        client.post("/v1/experiments", json=DAILY).raise_for_status()
        first = client.get("/v1/experiments/daily/current")
        known = {"if-none-match": first.headers["etag"]}
        again = client.get("/v1/experiments/daily/current", headers=known)
        assert (again.status_code, again.content, again.headers["cache-control"]) == (304, b"", "private, max-age=60")
        client.post("/v1/experiments/daily/emergency", json={"variant": "A", "reason": "fails"}).raise_for_status()
        assert client.get("/v1/experiments/daily/current", headers=known).json()["variant"] == "B"
