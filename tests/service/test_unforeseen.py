"""Whatever goes wrong in one experiment stops neither the others nor the revocation of tokens."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import httpx
import pytest

from afterglow import live
from afterglow.live.domain import schedule_events
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.state import ExperimentState
from afterglow.live.store.access import TokenRow
from afterglow.service.auth.tokens import TokenCache
from afterglow.service.background.ticker import Ticker
from afterglow.service.metrics import Metrics
from testbed.quick_disk import quick_folder
from testbed.service import START, in_thread, slug

FLAGS = "/ofrep/v1/evaluate/flags"
STEPS = schedule_events.step_at


class Odd(Exception):
    """Something that nobody has thought of."""


def fail(spec: Spec, state: ExperimentState, now: int) -> int:
    if spec.name == "odd":
        raise Odd("it is Monday")
    return STEPS(spec, state, now)


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A service with two experiments."""
    with quick_folder() as folder, in_thread(Path(folder) / "e.db") as made:
        for name in ("odd", "even"):
            asked = {"name": name, "variants": ["A", "B"], "window": 2, "step_seconds": 0.1}
            made.post("/v1/experiments", json=asked).raise_for_status()
        yield made


def test_an_experiment_that_fails_in_any_way_is_named_once_and_the_others_go_on(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Here: what is logged between fixture and test is not captured.
    monkeypatch.setattr(schedule_events, "step_at", fail)
    end = monotonic() + START
    while (page := client.get("/v1/experiments").json())["items"][-1]["status"]["step"] < 15:
        assert monotonic() < end  # the ticker goes on with it
    assert [one["name"] for one in page["items"]] == ["even"]
    assert [one["name"] for one in page["unusable"]] == ["odd"]
    assert slug(client.get("/v1/experiments/odd")) == "internal"
    flags = client.post(FLAGS).json()["flags"]
    assert [(one["key"], one.get("errorCode")) for one in flags] == [("odd", "GENERAL"), ("even", None)]
    assert "odd" in client.get("/").text
    said = [record for record in caplog.records if record.getMessage() == "experiment 'odd' can't continue"]
    assert [record.exc_info and record.exc_info[0] for record in said] == [Odd]


def test_tokens_are_read_again_whatever_the_ticker_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[int]()
    again, watching = Event(), Event()

    def rows() -> list[TokenRow]:
        read.append(len(read))
        if len(read) == 1:
            raise Odd("not now")
        again.set()
        return []

    def stumble(*_: object) -> dict[str, Exception]:
        watching.set()
        raise Odd("never")

    monkeypatch.setattr(live.Experiments, "tick", stumble)
    with quick_folder() as folder, live.open(Path(folder) / "e.db") as experiments:
        watch = Ticker(experiments, TokenCache(rows), Metrics())
        threads = [Thread(target=one) for one in (watch.tick, watch.keep_tokens)]
        for one in threads:
            one.start()
        try:
            assert watching.wait(START)
            assert again.wait(START)
        finally:
            watch.closing.set()
            for one in threads:
                one.join(START)
