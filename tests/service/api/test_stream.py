"""Server-sent events: in order, nothing left out, nothing twice, also for a reader that was cut off."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from threading import Event, Semaphore, current_thread
from time import monotonic
from typing import Any

import httpx
import pytest

from afterglow.live import Experiments
from afterglow.live.domain.log import Place
from afterglow.service.background import event_ids
from testbed.service import START, Serving, events, in_thread, slug

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 3, "reward_max": 10.0, "policy": "ucb1"}


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with in_thread(address, streams=3) as made:
        for name in ("shipping", "banner"):
            made.post("/v1/experiments", json={"name": name, **ASKED}).raise_for_status()
        yield made


def close(client: httpx.Client, name: str, steps: range) -> None:
    for step in steps:
        client.post(f"/v1/experiments/{name}/steps/{step}", json={"total": 1.0}).raise_for_status()


def read(stream: httpx.Response, count: int) -> list[tuple[str, dict[str, Any]]]:
    return list(islice(events(stream.iter_lines()), count))


def test_a_stream_begins_with_what_happens_next(client: httpx.Client) -> None:
    close(client, "shipping", range(3))
    with client.stream("GET", "/v1/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        lines = stream.iter_lines()
        assert next(lines) == "retry: 1000"
        close(client, "shipping", range(3, 5))
        close(client, "banner", range(1))
        client.post("/v1/experiments", json={"name": "third", **ASKED}).raise_for_status()
        found = [one for _, one in islice(events(lines), 5)]
    seen = [(one["experiment"], one["seq"], one["kind"]) for one in found]
    assert all((one["verdict"] or {"grade": "exploring"})["grade"] == "exploring" for one in found)
    assert {one["verdict"] for one in found if one["experiment"] == "third"} == {None}  # nothing to judge yet
    assert [one for one in seen if one[0] == "shipping"] == [("shipping", 5, "close"), ("shipping", 6, "close")]
    assert sorted(seen) == [
        ("banner", 2, "close"), ("shipping", 5, "close"), ("shipping", 6, "close"), ("third", 0, "create"),
        ("third", 1, "start"),
    ]  # fmt: skip


def test_a_reader_that_was_cut_off_goes_on_behind_its_last_event(client: httpx.Client) -> None:
    with client.stream("GET", "/v1/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        close(client, "shipping", range(4))
        (last, first), *_ = islice(events(lines), 1)
    close(client, "banner", range(3))
    with client.stream("GET", "/v1/events", headers={"Last-Event-ID": last}) as stream:
        rest = [one for _, one in read(stream, 6)]
    assert first["seq"] == 2
    assert [one["seq"] for one in rest if one["experiment"] == "shipping"] == [3, 4, 5]
    assert [one["seq"] for one in rest if one["experiment"] == "banner"] == [2, 3, 4]


def test_a_long_history_arrives_whole(client: httpx.Client) -> None:
    with client.stream("GET", "/v1/events?experiment=shipping") as stream:
        lines = stream.iter_lines()
        next(lines)
        close(client, "shipping", range(1))
        ((last, _),) = islice(events(lines), 1)
    close(client, "shipping", range(1, 451))
    close(client, "banner", range(1))
    with client.stream("GET", "/v1/events?experiment=shipping", headers={"Last-Event-ID": last}) as stream:
        found = [one for _, one in read(stream, 450)]
    assert [one["seq"] for one in found] == list(range(3, 453))
    assert {one["experiment"] for one in found} == {"shipping"}


def test_a_stream_can_be_told_to_end(client: httpx.Client) -> None:
    assert "data" not in client.get("/v1/events?seconds=0.05").text


def test_more_streams_than_the_limit_are_refused(client: httpx.Client) -> None:
    with (
        client.stream("GET", "/v1/events") as first,
        client.stream("GET", "/v1/events") as second,
        client.stream("GET", "/v1/events") as third,
    ):
        lines = [stream.iter_lines() for stream in (first, second, third)]  # a stream lasts as long as its reader
        assert [next(one) for one in lines] == ["retry: 1000"] * 3
        assert slug(client.get("/v1/events")) == "overloaded"


def test_one_token_leaves_streams_for_others(address: str) -> None:
    with Serving(address, streams="5") as serving, ExitStack() as stack:
        greedy, other = (stack.enter_context(serving.client(serving.new_token("read"))) for _ in range(2))
        held = [stack.enter_context(greedy.stream("GET", "/v1/events")).iter_lines() for _ in range(4)]
        assert [next(one) for one in held] == ["retry: 1000"] * 4
        assert slug(greedy.get("/v1/events")) == "too-many-requests"
        last = stack.enter_context(other.stream("GET", "/v1/events")).iter_lines()
        assert next(last) == "retry: 1000"
        assert slug(other.get("/v1/events")) == "overloaded"


def test_a_reader_of_many_experiments_goes_on_behind_its_last_event(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_ids, "MOST", 1)
    with client.stream("GET", "/v1/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        close(client, "shipping", range(2))
        (last, _), *_ = islice(events(lines), 1)
    close(client, "banner", range(2))
    with client.stream("GET", "/v1/events", headers={"Last-Event-ID": last}) as stream:
        rest = [one for _, one in read(stream, 3)]
    assert sorted((one["experiment"], one["seq"]) for one in rest) == [("banner", 2), ("banner", 3), ("shipping", 3)]


def test_streams_that_come_at_the_same_time_are_no_more_than_the_limit(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each asks the database where to begin, and holds its place meanwhile."""
    waiting, go_on, places = Semaphore(0), Event(), Experiments.places

    def wait_together(experiments: Experiments) -> dict[str, Place]:
        if current_thread().name.startswith("afterglow-worker"):  # not the thread that looks for new records
            waiting.release()
            assert go_on.wait(START)
        return places(experiments)

    with in_thread(address, streams=3) as client, ThreadPoolExecutor(3) as pool:
        asked = "/v1/events?seconds=0.01"
        monkeypatch.setattr(Experiments, "places", wait_together)
        first = [pool.submit(client.get, asked) for _ in range(3)]
        assert all(waiting.acquire(timeout=START) for _ in first)
        late = client.get(asked, headers={"Last-Event-ID": "e30="})
        go_on.set()
        assert slug(late) == "overloaded"
        assert [one.result().status_code for one in first] == [200] * 3
        end = monotonic() + START
        while "\nafterglow_streams 0.0\n" not in client.get("/metrics").text:
            assert monotonic() < end  # all have left their places
        assert slug(client.get(asked, headers={"Last-Event-ID": "x"})) == "bad-value"


@pytest.mark.parametrize("sent", ["x", "e30", "bm8=", "W10="])
def test_an_id_that_is_none_is_refused(client: httpx.Client, sent: str) -> None:
    assert slug(client.get("/v1/events", headers={"Last-Event-ID": sent})) == "bad-value"


def test_events_are_those_that_the_token_may_see(address: str) -> None:
    with Serving(address) as serving, serving.client() as admin:
        for name in ("shipping", "banner"):
            admin.post("/v1/experiments", json={"name": name, **ASKED}).raise_for_status()
        token = serving.new_token("read", experiments=["banner"])
        with serving.client(token) as client, client.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            close(admin, "shipping", range(2))
            close(admin, "banner", range(1))
            ((_, one),) = islice(events(lines), 1)
            assert (one["experiment"], one["seq"]) == ("banner", 2)
