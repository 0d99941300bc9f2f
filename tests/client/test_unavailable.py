"""The service is killed, the network loses answers, the database is away: variants go on, rewards count once."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import pytest

from afterglow.client import Client
from afterglow.errors import NotAllowed, Unavailable, Undelivered
from support.service.relay import relaying
from testbed.postgres import server as postgres
from testbed.service import BARE, START, Serving, slug

MANUAL = {"name": "manual", "variants": ["49", "59"], "window": 8, "reward_max": 1000.0}
OUTAGE = 10.0  # seconds
ROOM = 5_000  # rewards, half of what a client keeps
MOMENT = Event()  # never comes


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("client") / "experiments.db") as made:
        yield made


@pytest.fixture
def name(serving: Serving, request: pytest.FixtureRequest) -> str:
    """A new experiment for each test."""
    made = f"e{abs(hash(request.node.name)):x}"
    with serving.client() as client:
        client.post("/v1/experiments", json=MANUAL | {"name": made}).raise_for_status()
    return made


def until(true: Callable[[], bool]) -> None:
    """Ask again and again."""
    end = time.monotonic() + START
    while not true():
        assert time.monotonic() < end
        MOMENT.wait(0.01)


def total(serving: Serving, name: str, step: int = 0) -> float:
    """Close the step, and what it came to."""
    with serving.client() as client:
        answer = client.post(f"/v1/experiments/{name}/steps/{step}", json={"total": None})
        return float(answer.raise_for_status().json()["total"])


def test_a_killed_service_is_bridged_and_everything_is_delivered_once_when_it_is_back(
    serving: Serving, name: str
) -> None:
    with Client(serving.address, serving.token, current_timeout=START) as client:
        experiment = client.experiment(name, default="59")
        assert experiment.decision().fallback is None
        experiment.reward(1.0)
        client.flush()
        serving.kill()
        for _ in range(50):
            experiment.reward(2.0)
        served = experiment.decision()
        assert (served.variant, served.fallback, type(served.error)) == ("49", "last", Unavailable)
        assert client.experiment("never-seen", default="59").decision()[0::4] == ("59", "default")
        with pytest.raises(Unavailable, match="can't be reached"):
            client.experiment("never-seen").current()
        with pytest.raises(Unavailable, match="can't be reached"):
            experiment.status()
        with pytest.raises(Undelivered, match=r"50 rewards still wait after 0\.2 s: .*; they are kept and tried again"):
            client.flush(timeout=0.2)
        serving.start()
        client.flush(timeout=START)
        assert client.delivery == (0, 51, 0, None)
        until(lambda: experiment.decision().fallback is None)
    assert total(serving, name) == 101.0


def test_rewards_whose_answers_are_lost_are_sent_again_and_count_once(serving: Serving, name: str) -> None:
    with relaying(serving.port) as relay, Client(relay.address, serving.token) as client:
        relay.losing = 3
        for _ in range(10):
            client.experiment(name).reward(2.0)
        client.flush(timeout=START)
        assert relay.lost == 3
        assert client.delivery.delivered == 10
    assert total(serving, name) == 20.0


def test_kills_in_the_middle_of_a_stream_of_rewards_lose_and_double_nothing(serving: Serving, name: str) -> None:
    done, sent = Event(), 0
    with relaying(serving.port) as relay, Client(relay.address, serving.token, linger=0.0) as client:
        experiment = client.experiment(name)

        def report() -> int:
            count = 0
            while not done.is_set() and count < 7000:
                experiment.reward(1.0)
                count += 1
                done.wait(0.0005)
            return count

        with ThreadPoolExecutor(1) as pool:
            counting = pool.submit(report)
            for _ in range(2):
                before = client.delivery.delivered
                until(lambda before=before: client.delivery.delivered > before + 50)  # type: ignore[misc]
                relay.losing = 1
                serving.kill()
                serving.start()
            done.set()
            sent = counting.result()
        client.flush(timeout=START)
        assert client.delivery.delivered == sent
    assert total(serving, name) == float(sent)


def test_closing_gives_up_after_its_time_and_hands_over_what_is_left() -> None:
    client = Client("http://127.0.0.1:9", "nobody-listens")
    keys = [client.experiment("shipping").reward(amount) for amount in (1.0, 2.0)]
    began = time.monotonic()
    with pytest.raises(Undelivered, match=r"2 rewards still wait after 0\.3 s: .* they are given up") as caught:
        client.close(timeout=0.3)
    assert time.monotonic() - began < START
    assert [(one.experiment, one.key, one.amount) for one in caught.value.rewards] == [
        ("shipping", keys[0], 1.0),
        ("shipping", keys[1], 2.0),
    ]


def test_an_error_of_the_caller_is_not_hidden_by_rewards_that_are_left(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ZeroDivisionError), Client("http://127.0.0.1:9", "t") as client:  # noqa: PT012
        client.close = lambda timeout=0.1: Client.close(client, timeout)  # type: ignore[method-assign]
        client.experiment("shipping").reward(1.0)
        raise ZeroDivisionError
    assert "1 rewards still wait" in caplog.text


def test_a_full_buffer_refuses_and_says_why() -> None:
    client = Client("http://127.0.0.1:9", "nobody-listens", buffer=3)
    experiment = client.experiment("shipping")
    for _ in range(3):
        experiment.reward(1.0)
    until(lambda: client.delivery.error is not None)
    with pytest.raises(
        Unavailable, match=r"3 rewards wait for the service and there is no room for more .*can't be reached"
    ):
        experiment.reward(1.0)
    with pytest.raises(Undelivered):
        client.close(timeout=0.01)


def test_a_wrong_token_is_said_at_once_and_its_rewards_are_handed_over(serving: Serving, name: str) -> None:
    with Client(serving.address, "ag_000000000000_wrong", current_timeout=START) as client:
        experiment = client.experiment(name, default="49")
        with pytest.raises(NotAllowed, match="no valid token"):
            experiment.current()
        experiment.reward(1.0)
        with pytest.raises(Undelivered, match=r"1 rewards of .* were not taken: .*no valid token"):
            client.flush(timeout=START)


def test_a_program_that_ends_without_closing_delivers_its_rewards_all_the_same(serving: Serving, name: str) -> None:
    program = f"""
        from afterglow.client import Client
        experiment = Client({serving.address!r}, {serving.token!r}, linger=60.0).experiment({name!r})
        experiment.reward(4.0)
    """
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(program)], check=True, env=BARE, timeout=START)
    assert total(serving, name) == 4.0


def test_a_forked_process_delivers_its_own_rewards_and_the_parent_its_own(serving: Serving, name: str) -> None:
    program = f"""
        import os
        from afterglow.client import Client
        client = Client({serving.address!r}, {serving.token!r}, linger=60.0, current_timeout=60.0)
        experiment = client.experiment({name!r})
        experiment.current()
        experiment.reward(1.0)
        child = os.fork()
        experiment.reward(16.0 if child else 2.0)
        client.close(timeout=60)
        if child:
            assert os.waitpid(child, 0)[1] == 0
    """
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(program)]
    subprocess.run(command, check=True, env=BARE, timeout=START)
    assert total(serving, name) == 19.0


def test_a_database_that_is_away_for_ten_seconds_is_bridged() -> None:
    database = postgres().fresh()
    with (
        Serving(database) as serving,
        serving.client() as raw,
        Client(serving.address, serving.token, current_timeout=START) as client,
    ):
        client.create(**MANUAL)  # type: ignore[arg-type]
        experiment = client.experiment("manual")
        assert experiment.decision().fallback is None
        postgres().stop()
        served, reported, problems = set[tuple[str, str | None]](), 0, set[str]()
        end = time.monotonic() + OUTAGE
        while time.monotonic() < end:
            if reported < ROOM:
                experiment.reward(1.0)
                reported += 1
            decision = experiment.decision()
            served.add((decision.variant, decision.fallback))
            problems.add(refused(raw))
            MOMENT.wait(0.05)
        postgres().start()
        client.flush(timeout=START)
        assert served == {("49", None)}  # the service answers from memory, for `max_age` seconds
        assert problems == {"database-unavailable"}
        assert client.delivery == (0, reported, 0, None)
        until(lambda: experiment.decision().fallback is None)
        assert total(serving, "manual") == float(reported)
    postgres().drop(database)


def refused(raw: httpx.Client) -> str:
    """Why a reward is refused, with the time to wait."""
    answer = raw.post("/v1/experiments/manual/rewards", json={"key": "direct", "amount": 0})
    assert (answer.status_code, int(answer.headers["retry-after"]) > 0) == (503, True)
    return slug(answer)
