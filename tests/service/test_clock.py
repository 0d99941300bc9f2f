"""Steps by the clock through HTTP: backwards, over many steps, a stop of a day. The clock is the test's."""

from typing import Any

import httpx
import pytest

from afterglow.service.background import current_lane
from support.service.live_fixtures import Clock
from testbed.service import Serving, events, in_thread

HOURLY: dict[str, Any] = {
    "name": "hourly", "variants": ["49", "59", "69"], "window": 3, "reward_max": 10.0, "step_seconds": 3600,
    "policy": "ucb1",
}  # fmt: skip
PATH = "/v1/experiments/hourly"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the database however busy the machine is: here the clock is tested, not what is known meanwhile."""
    monkeypatch.setattr(current_lane, "MOMENT", 10.0)


def reward(client: httpx.Client, key: str, amount: float) -> int:
    answer = client.post(f"{PATH}/rewards", json={"key": key, "amount": amount})
    assert answer.status_code == 202, answer.text
    return int(answer.json()["step"])


def current(client: httpx.Client) -> Any:
    return client.get(f"{PATH}/current").json()


def steps(client: httpx.Client) -> list[tuple[str, float | None]]:
    return [(one["role"], one["total"]) for one in client.get(f"{PATH}/steps").json()["items"]]


def test_the_freshness_of_a_variant_follows_the_clock(address: str, clock: Clock) -> None:
    longest = 59 if address.startswith("postgresql") else 60  # another process may have been given a command
    with in_thread(address, clock) as client:
        client.post("/v1/experiments", json=HOURLY).raise_for_status()
        reward(client, "first", 1.0)
        assert client.get(f"{PATH}/current").headers["cache-control"] == f"private, max-age={longest}"
        clock.hours(0.9875)
        assert client.get(f"{PATH}/current").headers["cache-control"] == "private, max-age=45"
        clock.hours(0.0125)
        answer = client.get(f"{PATH}/current")
        assert (answer.json()["step"], answer.json()["variant"]) == (1, "59")
        assert answer.headers["etag"][:5] == '"1-1-'


def test_a_clock_that_jumps_back_changes_nothing(address: str, clock: Clock) -> None:
    with in_thread(address, clock) as client:
        client.post("/v1/experiments", json=HOURLY).raise_for_status()
        for number in range(3):
            clock.hours(1)
            reward(client, str(number), 1.0)
        before = current(client)
        clock.hours(-500)
        assert current(client) == before
        assert reward(client, "late", 2.0) == 3
        clock.hours(501)
        assert current(client)["step"] == 4
        assert steps(client)[3] == ("plan", 3.0)


def test_a_jump_is_an_alarm_and_an_event_and_waits_for_a_command(address: str, clock: Clock) -> None:
    steady = Clock(0.0)
    with in_thread(address, clock, steady) as client:
        client.post("/v1/experiments", json=HOURLY | {"horizon": 100}).raise_for_status()
        reward(client, "first", 1.0)
        clock.hours(24 * 365)
        answer = client.get(f"{PATH}/current")
        assert (answer.json()["step"], answer.json()["valid_until"]) == (0, None)
        assert answer.headers["cache-control"] == "no-cache"
        assert reward(client, "second", 1.0) == 0
        found = client.get(PATH).json()["status"]
        assert (found["phase"], found["held"]) == ("running", True)
        assert found["alarm"].startswith("the clock jumped forward by 365.0 days, which nothing confirms: step 0 is")
        assert "held: the clock has jumped" in client.get("/").text
        assert "Accept the clock" in client.get("/experiments/hourly").text
        jump = next(one for one in client.get(f"{PATH}/events").json()["items"] if one["kind"] == "clock_jump")
        assert jump["body"] == {"step": 0, "clock": "1971-01-12T13:46:40.000Z", "expected": "1970-01-12T13:46:40.000Z"}
        answer = client.post(f"{PATH}/accept-clock", json={"reason": "it was a year behind"})
        assert answer.json()["held"] is False
        assert client.get(PATH).json()["status"]["phase"] == "over"


@pytest.mark.parametrize("gone", [2, 51])
def test_steps_that_nobody_was_there_for_are_filled(address: str, clock: Clock, gone: int) -> None:
    with in_thread(address, clock) as client:
        client.post("/v1/experiments", json=HOURLY).raise_for_status()
        reward(client, "a", 2.0)
        clock.hours(gone)
        assert reward(client, "b", 1.0) == gone
        clock.hours(1)
        assert current(client)["step"] == gone + 1
        found = steps(client)
        assert found[0] == ("plan", 2.0)
        assert [role for role, _ in found[1:gone]] == ["missed"] * (gone - 1)
        assert found[gone] == ("washout", 1.0)


def test_a_stop_of_a_day_is_filled_like_any_other_gap(address: str, clock: Clock) -> None:
    with in_thread(address, clock) as client:
        client.post("/v1/experiments", json=HOURLY).raise_for_status()
        clock.hours(1)
        reward(client, "a", 1.0)
    clock.hours(24)
    with in_thread(address, clock) as client:
        assert current(client)["step"] == 25
        found = steps(client)
        assert [role for role, _ in found] == ["plan", "plan", *["missed"] * 23, "washout"]
        assert found[1] == ("plan", 1.0)
        assert reward(client, "b", 1.0) == 25


def test_steps_end_when_nobody_calls(address: str) -> None:
    with Serving(address) as serving, serving.client() as client, client.stream("GET", "/v1/events") as stream:
        asked = HOURLY | {"step_seconds": 0.1, "horizon": 5}
        client.post("/v1/experiments", json=asked).raise_for_status()
        kinds: list[str] = []
        for _, event in events(stream.iter_lines()):
            kinds.append(event["kind"])
            if event["kind"] == "ended":
                break
        assert kinds[:3] == ["create", "start", "close"]
        assert client.get(PATH).json()["status"]["phase"] == "over"
