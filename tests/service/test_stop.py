"""A stop loses nothing that was acknowledged, finishes what waits, ends streams and exits 0."""

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

import afterglow
from testbed.quick_disk import quick_folder
from testbed.service import Serving

ASKED: dict[str, Any] = {"name": "busy", "variants": ["49", "59"], "window": 3, "reward_max": 1e6, "policy": "ucb1"}
CLIENTS = 8


def keep_reporting(serving: Serving, number: int, warm: Event) -> int:
    """Rewards that were acknowledged until the service was gone."""
    accepted = 0
    with serving.client() as client:
        for turn in range(100_000):
            batch = [{"key": f"{number}-{turn}-{k}", "amount": 1.0} for k in range(10)]
            try:
                answer = client.post("/v1/experiments/busy/rewards", json=batch)
            except httpx.TransportError:
                return accepted
            if answer.status_code != 202:
                assert answer.status_code == 503
                return accepted
            accepted += answer.json()["accepted"]
            if turn == 10:
                warm.set()
    raise AssertionError("the service did not stop")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_under_load_keeps_what_was_acknowledged(how: signal.Signals) -> None:
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db") as serving:
        with serving.client() as client:
            client.post("/v1/experiments", json=ASKED).raise_for_status()
        warm = Event()
        with ThreadPoolExecutor(CLIENTS) as pool:
            asked = [pool.submit(keep_reporting, serving, number, warm) for number in range(CLIENTS)]
            assert warm.wait(60)
            assert serving.stop(how) == 0
            accepted = sum(one.result() for one in asked)
        assert serving.errors == ""
        with afterglow.live.open(serving.db) as experiments:
            experiment = experiments["busy"]
            experiment.close_step()
            total = experiment.steps(0, 1)[0].total
            assert total is not None
            assert accepted <= total <= accepted + 10 * CLIENTS  # at most one answer each was cut off
            assert experiment.verify().ok


def test_streams_end_when_the_service_stops_and_the_next_start_goes_on() -> None:
    with quick_folder() as folder, Serving(Path(folder) / "experiments.db") as serving:
        with serving.client() as client, client.stream("GET", "/v1/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            assert serving.stop() == 0
            assert not [line for line in lines if line.startswith("data")]
        token = serving.token
        serving.start()
        assert serving.token == token  # no second one is made
        with serving.client() as client:
            assert client.get("/v1/experiments").status_code == 200
