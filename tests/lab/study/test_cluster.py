"""A real scheduler and two worker processes: the same bytes, and a killed worker costs only time."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterglow.errors import AfterglowError, BadValue
from afterglow.lab.study.play import play_on_worker
from afterglow.lab.study.schedule import Progress
from afterglow.lab.study.study import Study
from afterglow.lab.versions import versions
from afterglow.policies import named

LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard"]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Cluster:
    """A scheduler and its workers, on this machine alone."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        scheduler = ["distributed.cli.dask_scheduler", *LOOPBACK, "--port", "0", "--scheduler-file", str(self.file)]
        self.folder, self.processes = folder, [start(*scheduler)]
        while not (address := self.written()):
            self.wait_a_little()
        self.address = address

    def written(self) -> str:
        """Where the scheduler is, once it has written all of it."""
        try:
            return str(json.loads(self.file.read_text())["address"])
        except (FileNotFoundError, ValueError):
            return ""

    def wait_a_little(self) -> None:
        try:
            code = self.processes[0].wait(0.02)
        except subprocess.TimeoutExpired:
            return
        pytest.fail(f"the scheduler ended with {code}")

    def worker(self) -> "subprocess.Popen[bytes]":
        place = ["--scheduler-file", str(self.file), "--local-directory", str(self.folder)]
        process = start("distributed.cli.dask_worker", *LOOPBACK, "--nthreads", "1", "--no-nanny", *place)
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.close()


def study_with(own: Path) -> Study:
    """Ours and a policy of one's own from a file, which the workers don't have."""
    source = Path(named("ars-ucb").next_hold.__code__.co_filename).read_text(encoding="utf-8")
    own.write_text(source, encoding="utf-8")
    return Study(
        policies=["ucb1", "trim-ucb", {"policy": str(own), "label": "mine"}],
        worlds=[{"rewards": [0.9, 0.8, 0.7], "window": [4, 8], "spread": ["uniform", "hoard"]}],
        horizon=6_000,
        runs=60,
        checkpoints=6,
    )


def test_two_workers_one_of_them_killed_end_in_the_bytes_of_one_thread(cluster: Cluster, tmp_path: Path) -> None:
    study = study_with(tmp_path / "mine.py")
    victim = cluster.worker()
    cluster.worker()
    killed: list[int] = []

    def kill_once(now: Progress) -> None:
        if now.done and not killed:
            killed.append(now.done)
            victim.send_signal(signal.SIGKILL)

    study.run(tmp_path / "there", dask=cluster.address, progress=kill_once)
    assert killed
    assert killed[0] < 12 * 60
    study.run(tmp_path / "here", threads=1)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_an_address_where_nobody_answers_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterglow.lab.study.cluster.CONNECT_SECONDS", 0.5)
    study = Study(policies=["ucb1"], worlds=[{"rewards": [0.9, 0.8], "window": 2}], horizon=10, runs=1)
    with pytest.raises(AfterglowError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        study.run(tmp_path / "out", dask="tcp://127.0.0.1:1")


def test_a_worker_with_other_versions_is_refused() -> None:
    with pytest.raises(BadValue, match=r"a worker has numpy \S+, this machine 0.1; numbers would differ"):
        play_on_worker([], 1.0, versions() | {"numpy": "0.1"})


def test_a_scheduler_that_goes_is_named_and_the_study_goes_on_without_it(cluster: Cluster, tmp_path: Path) -> None:
    study = study_with(tmp_path / "mine.py")
    cluster.worker()

    def end(now: Progress) -> None:
        if now.done:
            cluster.processes[0].kill()

    with pytest.raises(AfterglowError, match="is gone; finished runs are stored, run again to continue"):
        study.run(tmp_path / "out", dask=cluster.address, progress=end)
    begun: list[Progress] = []
    assert study.run(tmp_path / "out", progress=begun.append).complete
    assert begun[0].done > 0
