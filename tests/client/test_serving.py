"""The client against a real server: variants kept until their step ends, rewards that count once, errors in words."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow.client import Client, Refused
from afterglow.client.command_methods import SETTINGS
from afterglow.errors import BadValue, Conflict, HorizonReached, OutOfTurn, Undelivered, UnknownName
from afterglow.service.api.declared_models import NewExperiment
from support.service.live_fixtures import Clock
from testbed.service import START, in_thread


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def address(clock: Clock, tmp_path: Path) -> Iterator[str]:
    with in_thread(tmp_path / "experiments.db", clock) as made:
        made.post(
            "/v1/experiments", json={"name": "manual", "variants": ["49", "59"], "window": 4, "reward_max": 100.0}
        )
        made.post("/v1/experiments", json={"name": "hourly", "variants": ["A", "B"], "window": 1, "step_seconds": 3600})
        yield str(made.base_url)


class Counted:
    """A client that counts its requests, with a clock of its own."""

    def __init__(self, address: str, **settings: Any) -> None:
        self.requests = list[httpx.Request]()
        self.clock = Clock()
        self.clock.now = 5.0  # has nothing to do with the service's
        hooks = {"event_hooks": {"request": [self.requests.append]}}
        self.client = Client(address, "any", clock=self.clock, current_timeout=START, http=hooks, **settings)

    def __enter__(self) -> "Counted":
        return self

    def __exit__(self, *failure: object) -> None:
        self.client.close()


def totals(client: Client, name: str) -> list[float]:
    return [step["total"] for step in client.experiment(name).steps() if step["total"] is not None]


def test_the_variant_is_asked_for_once_a_minute_and_when_its_step_ends(address: str, clock: Clock) -> None:
    with Counted(address) as counted:
        hourly = counted.client.experiment("hourly")
        clock.now += 3600 - 90  # near the end of the step
        assert {hourly.current() for _ in range(100)} == {"A"}
        assert len(counted.requests) == 1
        counted.clock.now += 60
        clock.now += 60
        assert {hourly.current() for _ in range(100)} == {"A"}
        assert [request.headers.get("if-none-match", "")[:5] for request in counted.requests] == ["", '"0-0-']
        counted.requests.pop()
        counted.clock.now += 29.5
        assert hourly.decision().step == 0
        assert len(counted.requests) == 1
        counted.clock.now += 1
        clock.now += 30
        assert hourly.decision().step == 1
        assert len(counted.requests) == 2


def test_without_a_clock_the_variant_is_confirmed_each_time_by_its_tag(address: str) -> None:
    with Counted(address) as counted:
        manual = counted.client.experiment("manual")
        assert [manual.current() for _ in range(3)] == ["49"] * 3
        first, second, third = (request.headers.get("if-none-match", "") for request in counted.requests)
        assert (first, second[:5], third) == ("", '"0-0-', second)


def test_sixteen_threads_share_one_request_a_step_and_every_reward_counts_once(address: str, clock: Clock) -> None:
    with Counted(address) as counted, ThreadPoolExecutor(16) as pool:
        hourly = counted.client.experiment("hourly")

        def work(_: int) -> str:
            for _ in range(200):
                hourly.reward(0.00025)
            return hourly.current()

        assert set(pool.map(work, range(16))) == {"A"}
        asked = [request for request in counted.requests if request.method == "GET"]
        assert len(asked) == 1
        counted.client.flush()
        assert counted.client.delivery[:3] == (0, 3200, 0)
        clock.now += 3600
        hourly.status()
        assert totals(counted.client, "hourly") == [0.8]


def test_rewards_travel_in_batches_of_a_thousand(address: str) -> None:
    with Counted(address, linger=3600.0) as counted:
        manual = counted.client.experiment("manual")
        manual.rewards(0.125 for _ in range(2500))
        counted.client.flush()
        assert len(counted.requests) <= 4
        manual.close_step(None, step=0)
        assert totals(counted.client, "manual") == [312.5]


def test_a_step_is_closed_after_its_rewards_have_arrived_and_only_once(address: str) -> None:
    with Counted(address, linger=3600.0) as counted:
        manual = counted.client.experiment("manual")
        manual.reward(2.5)
        assert manual.close_step(None, step=0)["total"] == 2.5
        assert manual.close_step(None, step=0)["total"] == 2.5
        with pytest.raises(Conflict, match=r"step 0 was closed with 2\.5, got 3"):
            manual.close_step(3.0, step=0)
        assert manual.close_step(7.0, step=1)["next"]["step"] == 2


def test_the_reward_that_is_wrong_is_handed_over_and_the_others_count(address: str) -> None:
    heard = list[Refused]()
    with Counted(address, on_refused=heard.extend) as counted:
        manual = counted.client.experiment("manual")
        for amount in (1.0, 2.0, 1000.0, 4.0):
            manual.reward(amount)
        with pytest.raises(Undelivered, match="1 rewards of 'manual' were not taken: amount must be at most") as caught:
            counted.client.flush()
        assert [(one.experiment, one.amount) for one in caught.value.rewards] == [("manual", 1000.0)]
        assert heard == caught.value.rewards
        counted.client.flush()  # it was said once
        assert manual.close_step(None, step=0)["total"] == 7.0
        with pytest.raises(BadValue, match="amount must be a number of at least 0"):
            manual.reward(-1.0)
        with pytest.raises(BadValue, match="amount must be a number of at least 0"):
            manual.reward(math.nan)


def test_refusals_are_the_errors_that_the_experiment_itself_would_raise(address: str) -> None:
    with Counted(address) as counted:
        client = counted.client
        with pytest.raises(UnknownName, match="no experiment named 'manul'; did you mean 'manual'"):
            client.experiment("manul", default="49").current()
        with pytest.raises(BadValue, match="no variant named '5'"):
            client.experiment("manual").pin("5", "why not")
        with pytest.raises(OutOfTurn, match="step 7 can't be closed; the current step is"):
            client.experiment("manual").close_step(1.0, step=7)
        with pytest.raises(Conflict, match="manual"):
            client.create("manual", ["A", "B"], window=1)
        client.create("short", ["A", "B"], window=1, horizon=2, policy="ucb1")
        short = client.experiment("short")
        for step in range(2):
            short.close_step(0.5, step=step)
        with pytest.raises(HorizonReached, match="all 2 steps"):
            short.close_step(0.5, step=2)


def test_experiments_are_created_ordered_about_and_explained(address: str) -> None:
    with Client(address, "any", current_timeout=START) as client:
        made = client.create("new", ["A", "B", "C"], window=2, C=2.0, policy="washout-ucb", start=False)
        assert (made["options"], made["status"]["phase"]) == ({"C": 2.0}, "draft")
        hourly: dict[str, Any] = {"step_seconds": 3600, "starts": 4_102_444_800.0}
        made = client.create("later", ["A", "B"], window=2, policy="washout-ucb", options={"C": 2.0}, **hourly)
        assert (made["starts"], made["status"]["phase"]) == ("2100-01-01T00:00:00.000Z", "scheduled")
        for odd in (math.nan, 1e18, -1e20, True, datetime(2100, 1, 1)):
            with pytest.raises(BadValue, match="starts must be seconds since 1970, a time with its zone"):
                client.create("odd", ["A", "B"], window=2, step_seconds=60, starts=odd)
        with pytest.raises(BadValue, match="name: must be 1 to 100 letters, digits, '-' or '_', got 'a shop'"):
            client.create("a shop", ["A", "B"], window=2)
        with pytest.raises(BadValue, match="reason: must not be blank"):
            client.experiment("later").pause(" ")
        new = client.experiment("new")
        assert new.start()["phase"] == "running"
        assert new.pin("B", "a sale")["pinned"] == "B"
        assert new.close_step(Decimal("0.5"), step=0)["next"]["variant"] == "B"
        assert new.unpin("over")["pinned"] is None
        assert new.disable("C", "broken")["disabled"] == ["C"]
        assert new.enable("C", "mended")["disabled"] == []
        assert new.pause("night")["phase"] == "paused"
        assert new.resume("day")["phase"] == "running"
        assert new.explain(0)["variant"] == "A"
        assert [one["variant"] for one in new.estimates()["items"]] == ["A", "B", "C"]
        assert new.describe()["window"] == 2
        told = client.create("told", ["A", "B"], window=2, typical=1.0, policy="washout-ucb")["name"]
        assert client.experiment(told).expect(1, [1.5, None]) == {"first": 1, "last": 2}
        assert new.verdict()["grade"] == new.status()["status"] == "exploring"
        assert new.summary() == new.verdict()["summary"]
        assert new.stop("enough", keep="C")["phase"] == "over"
        assert new.status()["variant"] == new.current() == "C"
        assert [one["name"] for one in client.experiments(limit=1)] == ["manual", "hourly", "new", "later", "told"]


def test_steps_are_voided_one_by_one_and_in_ranges(address: str) -> None:
    with Client(address, "any") as client:
        manual = client.experiment("manual")
        for step in range(9):
            manual.close_step(1.0, step=step)
        assert manual.void(8, "a slip")["excluded"] == 1
        assert manual.void(2, "the till was down", last=4) == manual.void(2, "once more", last=4)
        shown = [one["reason"] for one in manual.steps()][:9]
        assert shown == [None, None, *["the till was down"] * 3, None, None, None, "a slip"]


def test_steps_and_events_come_page_by_page_and_from_where_one_was(address: str) -> None:
    with Client(address, "any") as client:
        manual = client.experiment("manual")
        for step in range(7):
            manual.close_step(float(step), step=step)
        assert [one["total"] for one in manual.steps(limit=3)] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, None]
        assert [one["step"] for one in manual.steps(after=4, limit=2)] == [5, 6, 7]
        seen = [one["seq"] for one in manual.events(limit=4)]
        assert seen == list(range(9))
        assert [one["seq"] for one in manual.events(after=seen[5])] == [6, 7, 8]


def test_events_are_followed_as_they_happen_and_taken_up_again(address: str) -> None:
    with Client(address, "any") as client:
        manual = client.experiment("manual")
        following = client.follow("manual")
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(next, following)
            step = 0
            while not first.done():  # whatever happens once the stream is open
                manual.close_step(1.0, step=step)
                step += 1
            cursor, event = first.result()
        following.close()
        assert (event["experiment"], event["kind"]) == ("manual", "close")
        manual.pin("59", "a sale")
        again = client.follow("manual", after=cursor)
        seqs = list[int]()
        for _, one in again:
            seqs.append(one["seq"])
            if one["kind"] == "pin":
                break
        again.close()
        assert seqs == list(range(event["seq"] + 1, event["seq"] + 1 + len(seqs)))
        with pytest.raises(UnknownName, match="no experiment named 'nothing'"):
            next(client.follow("nothing"))


def test_a_closed_client_says_so(address: str) -> None:
    client = Client(address, "any")
    client.close()
    client.close()
    for call in (client.experiment("manual").status, client.experiment("manual").current):
        with pytest.raises(OutOfTurn, match="the client is closed"):
            call()
    with pytest.raises(OutOfTurn, match="the client is closed"):
        client.experiment("manual").reward(1.0)


@pytest.mark.parametrize(
    ("address", "token", "settings", "sentence"),
    [
        ("experiments.example", "t", {}, "address must be that of the service"),
        ("ftp://experiments.example", "t", {}, "address must be that of the service"),
        ("http://[::1", "t", {}, "address can't be read"),
        ("http://experiments.example:port", "t", {}, "address can't be read"),
        ("http://experiments.example", "", {}, "token must be the text"),
        ("http://experiments.example", "a b", {}, "token must be the text"),
        ("http://experiments.example", "t", {"timeout": 0}, "timeout must be above 0"),
        ("http://experiments.example", "t", {"buffer": 0}, "buffer must be above 0"),
        ("http://experiments.example", "t", {"linger": -1}, "linger must be at least 0"),
    ],
)
def test_a_client_that_cant_work_is_refused(address: str, token: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadValue, match=sentence):
        Client(address, token, **settings)


def test_a_client_never_shows_its_token() -> None:
    with Client("http://experiments.example", "ag_secret") as client:
        assert "secret" not in repr(client) + repr(client._config) + repr(client.experiment("shipping"))


def test_settings_of_an_experiment_are_those_that_the_service_knows() -> None:
    positional = {"name", "variants", "window", "horizon"}
    assert SETTINGS | positional == set(NewExperiment.model_fields)
