"""The database is away, locked or full: callers are told at once and when to come back, and then it goes on."""

import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from threading import Event
from time import monotonic

import httpx
import pytest

from afterglow.client import Client
from testbed.postgres import Server
from testbed.quick_disk import quick_folder
from testbed.service import START, Serving, command, in_thread, insist, slug
from testbed.storm import Storm

AWAY = 10.0  # seconds
REMEMBERED = 2  # seconds for which a variant is answered without the database
PROMPT = 5.0  # seconds, on a busy machine
SHOP = {"name": "shop", "variants": ["49", "59"], "window": 2, "reward_max": 1e9}
AT_A_LOSS = ("too-slow", "database-unavailable")
STRANGER = {"Authorization": "Bearer ag_000000000000_unknown"}
HERE = "/v1/experiments/shop"


class Told:
    """Which problem an answer is; it says when to try again."""

    def __init__(self) -> None:
        self.seconds = list[float]()

    def __call__(self, answer: httpx.Response) -> str:
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) > 0
        self.seconds.append(answer.elapsed.total_seconds())
        return slug(answer)


@pytest.fixture
def refused() -> Iterator[Told]:
    """Callers are told promptly, but for those whom the machine itself has held up."""
    made = Told()
    yield made
    assert median(made.seconds) < PROMPT


def create(http: httpx.Client) -> None:
    """Until it is there: within a short time limit a busy machine may not manage it at once."""
    insist(http, 409, "POST", "/v1/experiments", json=SHOP)


def total(http: httpx.Client) -> float:
    """What came in all to step 0."""
    return float(insist(http, 200, "POST", f"{HERE}/steps/0", json={"total": None}).json()["total"])


@pytest.fixture
def database() -> Iterator[Server]:
    made = Server()
    yield made
    made.remove()


def test_ten_seconds_without_the_database_are_bridged_without_a_restart(database: Server, refused: Told) -> None:
    with (
        Serving(database.fresh(), max_age=str(REMEMBERED)) as serving,
        serving.client() as http,
        Client(serving.address, serving.token, current_timeout=START) as client,
        Storm(6, [serving], "by-clock", clients=2, step_seconds=1.0) as storm,
    ):
        client.create(**SHOP)  # type: ignore[arg-type]
        shop, steps = client.experiment("shop"), client.experiment("by-clock")
        before = {shop.decision().fallback, steps.decision().fallback}
        storm.wait(100)
        process = serving.process
        stopping = monotonic()
        database.stop()
        began, sent, told = monotonic(), 0, list[str | None]()
        known = http.get(f"{HERE}/current")  # from memory, unless the machine has taken longer than that to stop it
        assert known.is_success or monotonic() > stopping + REMEMBERED, known.text
        assert not known.is_success or known.json()["variant"] == "49"
        end = began + AWAY
        insist(http, 503, "GET", "/readyz")
        while monotonic() < end or not told:  # a busy machine may need longer for a round
            assert monotonic() < end + START
            shop.reward(0.25)
            sent += 1
            asked, found, variant = monotonic(), shop.decision().fallback, http.get(f"{HERE}/current")
            if asked > began + REMEMBERED + PROMPT:
                told += [found]
                assert refused(variant) == "database-unavailable"
            else:
                assert variant.status_code == 503 or variant.json()["variant"] == "49"
            assert {shop.current(), client.experiment("new", default="59").current()} == {"49", "59"}
            assert refused(http.get("/readyz")) == "database-unavailable"
            assert refused(http.post(f"{HERE}/rewards", json={"key": "k", "amount": 1})) == "database-unavailable"
            assert refused(http.post(f"{HERE}/pause", json={"reason": "it can't be done"})) == "database-unavailable"
            assert http.get("/healthz").status_code == 200
            assert (
                refused(http.get(f"{HERE}/current", headers=STRANGER)) == "database-unavailable"
            )  # it can't be looked up
            Event().wait(0.05)
        database.start()
        insist(http, 200, "GET", "/readyz")
        insist(http, 401, "GET", f"{HERE}/current", headers=STRANGER)
        client.flush(START)
        storm.wait(100)
        assert (before, set(told)) == ({None}, {"last"})
        assert client.delivery.delivered == sent
        assert total(http) == 0.25 * sent
        assert serving.process is process
    with serving:
        storm.check()
    assert all(one.again > 0 for one in storm.clients)  # each was in a call, which need not have been a report
    assert command("verify", serving.db).stdout.count("all as logged") == 2


@pytest.fixture
def sqlite() -> Iterator[Path]:
    with quick_folder() as folder:
        yield Path(folder) / "experiments.db"


def test_a_full_disk_is_told_and_nothing_is_lost_when_there_is_room_again(sqlite: Path, refused: Told) -> None:
    batch = [{"key": f"a longer name {number}", "amount": 1.0} for number in range(1000)]
    with Serving(sqlite) as serving, serving.client() as http:
        http.post("/v1/experiments", json=SHOP).raise_for_status()
        assert serving.process is not None
        largest = max(file.stat().st_size for file in sqlite.parent.iterdir())
        room = resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, (largest + 100_000, resource.RLIM_INFINITY))
        taken, answer = 0, http.post(f"{HERE}/rewards", json=batch)
        while answer.status_code == 202:
            taken += 1
            batch = [{"key": f"{taken} {number}", "amount": 1.0} for number in range(1000)]
            answer = http.post(f"{HERE}/rewards", json=batch)
        for _ in range(20):
            assert refused(http.post(f"{HERE}/rewards", json=batch)) == "database-unavailable"
            assert http.get(f"{HERE}/current").json()["variant"] == "49"
        resource.prlimit(serving.process.pid, resource.RLIMIT_FSIZE, room)
        receipt = http.post(f"{HERE}/rewards", json=batch).json()
        assert (receipt["accepted"], receipt["duplicates"]) == (1000, 0)
        assert total(http) == 1000.0 * (taken + 1)
        assert serving.stop() == 0
    assert "all as logged" in command("verify", serving.db).stdout


def test_a_file_that_another_process_has_locked_is_waited_for_within_the_time_limit(
    sqlite: Path, refused: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sqlite", "sqlite_session"):
        monkeypatch.setattr(f"afterglow.live.store.{module}.PATIENCE", START)
    with in_thread(sqlite, time_limit=0.5) as http:
        create(http)
        with closing(sqlite3.connect(sqlite, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            for _ in range(3):
                assert refused(http.post(f"{HERE}/rewards", json={"key": "k", "amount": 1})) == "too-slow"
                assert refused(http.get("/readyz")) == "too-slow"
                assert http.get(f"{HERE}/current").json()["variant"] == "49"
            other.execute("ROLLBACK")
        insist(http, 200, "GET", "/readyz")
        receipt = insist(http, 202, "POST", f"{HERE}/rewards", json={"key": "k", "amount": 1}).json()
        assert receipt["accepted"] + receipt["duplicates"] == 1  # it may have taken effect after all
        assert total(http) == 1.0
    assert "all as logged" in command("verify", str(sqlite)).stdout


def memory(process: int) -> int:
    """Kilobytes that a process has in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def test_a_full_queue_sends_callers_away_and_takes_no_memory(sqlite: Path, refused: Told) -> None:
    batch = [{"key": f"{number:0200}", "amount": 1.0} for number in range(1000)]
    with Serving(sqlite, "--queue", "1000", "--time-limit", "1") as serving, serving.client() as http:
        create(http)
        assert serving.process is not None
        with closing(sqlite3.connect(sqlite, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert refused(http.post(f"{HERE}/rewards", json=batch)) == "too-slow"  # it waits, the room is taken
            told = [refused(http.post(f"{HERE}/rewards", json=batch)) for _ in range(50)]
            before = memory(serving.process.pid)
            told += [refused(http.post(f"{HERE}/rewards", json=batch)) for _ in range(300)]
            assert memory(serving.process.pid) - before < 20_000  # 60 MB were sent
            other.execute("ROLLBACK")
        assert told.count("overloaded") > 300  # now and then what waits is given up, and there is room again
        insist(http, 200, "GET", "/readyz")
        receipt = insist(http, 202, "POST", f"{HERE}/rewards", json=batch).json()
        assert receipt["accepted"] + receipt["duplicates"] == 1000
        assert total(http) == 1000.0


def test_a_database_that_does_not_answer_is_waited_for_within_the_time_limit(database: Server, refused: Told) -> None:
    with Serving(database.fresh(), "--time-limit", "0.5") as serving, serving.client() as http:
        create(http)
        with database.frozen():
            for _ in range(3):
                assert refused(http.post(f"{HERE}/rewards", json={"key": "k", "amount": 1})) in AT_A_LOSS
                assert refused(http.get("/readyz")) in AT_A_LOSS
                assert http.get(f"{HERE}/current").json()["variant"] == "49"  # from memory
                assert http.get("/healthz").status_code == 200
        insist(http, 200, "GET", "/readyz")
        receipt = insist(http, 202, "POST", f"{HERE}/rewards", json={"key": "k", "amount": 1}).json()
        assert receipt["accepted"] + receipt["duplicates"] == 1
        assert total(http) == 1.0
        assert "Traceback" not in serving.errors


def test_a_service_whose_database_has_just_died_can_be_stopped(database: Server) -> None:
    with Serving(database.fresh()) as serving, serving.client() as http:
        http.post("/v1/experiments", json=SHOP).raise_for_status()
        died = database.send(signal.SIGKILL)
        assert serving.stop() == 0
        assert "Traceback" not in serving.errors
    for process in died:
        process.wait(START)
    database.start()  # which tidies up what it left in memory


def test_a_service_whose_database_does_not_answer_can_be_stopped_in_its_time(database: Server) -> None:
    with Serving(database.fresh(), stop_seconds="2") as serving, serving.client() as http:
        http.post("/v1/experiments", json=SHOP).raise_for_status()
        with database.frozen():
            began = monotonic()
            assert serving.stop() == 0
            assert monotonic() - began < 2 + PROMPT
        assert "stopped without a response from the database" in serving.errors
        assert "Traceback" not in serving.errors
