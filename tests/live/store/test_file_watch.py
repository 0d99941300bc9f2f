"""The file under a running process is deleted, moved, replaced, cut or damaged: nothing is acknowledged then."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

import afterglow
from afterglow.cli import run
from afterglow.errors import BadDatabase, Unavailable
from testbed.quick_disk import quick_folder
from testbed.service import Serving, in_thread, slug

ASKED: dict[str, Any] = {"variants": ["49", "59"], "window": 2, "reward_max": 10.0, "policy": "ucb1"}
PAGE = 4096


def beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def replace(path: Path) -> None:
    path.with_name("copy.db").replace(path)


def overwrite(path: Path) -> None:
    """As the commands of a restore do, without a stop."""
    beside(path, "-wal").unlink()
    beside(path, "-shm").unlink()
    shutil.copyfile(path.with_name("copy.db"), path)


FAULTS: dict[str, Callable[[Path], Any]] = {
    "deleted": lambda path: path.unlink(),
    "moved": lambda path: path.rename(path.with_name("elsewhere.db")),
    "replaced": replace,
    "overwritten": overwrite,
    "cut": lambda path: os.truncate(path, PAGE),
    "emptied": lambda path: os.truncate(path, 0),
    "log deleted": lambda path: beside(path, "-wal").unlink(),
    "log cut": lambda path: os.truncate(beside(path, "-wal"), 0),
    "index deleted": lambda path: beside(path, "-shm").unlink(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_file_is_noticed_before_anything_is_acknowledged(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "experiments.db"
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shop", **ASKED)
        experiment.close_step(1.0)
        experiments.backup(tmp_path / "copy.db")
        experiment.reward(2.0, "a")
        FAULTS[fault](path)
        with pytest.raises(Unavailable, match=r"(deleted or moved|replaced|cut|overwritten) while it is in use"):
            experiment.reward(3.0, "b")
        with pytest.raises(Unavailable):
            experiments.names()
    if fault in ("moved", "log deleted", "index deleted"):  # all that was acknowledged is still there
        if fault == "moved":
            (tmp_path / "elsewhere.db").rename(path)
        with afterglow.live.open(path) as experiments:
            assert experiments["shop"].reward(2.0, "a") == (1, 0, 1)
            assert experiments["shop"].verify().ok
    if fault == "replaced":
        with pytest.raises(BadDatabase, match=r"-wal belongs to another file than .*; remove experiments\.db-wal and"):
            afterglow.live.open(path)
        beside(path, "-wal").unlink()
        with afterglow.live.open(path) as experiments:
            assert experiments["shop"].verify().ok
            assert experiments["shop"].decision().step == 1
    if fault == "overwritten":  # the restored copy is not spoilt by the process that goes
        assert path.read_bytes() == (tmp_path / "copy.db").read_bytes()


def test_faults_are_noticed_behind_a_symbolic_link_too(tmp_path: Path) -> None:
    link, path = tmp_path / "link.db", tmp_path / "folder" / "experiments.db"
    path.parent.mkdir()
    link.symlink_to(path)
    with afterglow.live.open(link) as experiments:
        experiment = experiments.create("shop", **ASKED)
        experiments.backup(tmp_path / "copy.db")
        beside(path, "-wal").rename(tmp_path / "log")
        with pytest.raises(Unavailable, match=f"{path}-wal was deleted or moved while it is in use"):
            experiment.reward(1.0)
    (tmp_path / "copy.db").replace(path)
    (tmp_path / "log").rename(beside(path, "-wal"))
    with pytest.raises(BadDatabase, match=rf"{path}-wal belongs to another file than {link}, .*; remove experiments"):
        afterglow.live.open(link)


def test_a_file_that_is_moved_during_a_commit_is_noticed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "experiments.db"
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shop", **ASKED)
        store: Any = experiments._store
        monkeypatch.setattr(store, "naming_damage", lambda: Moving(path))
        with pytest.raises(Unavailable, match="deleted or moved"):
            experiment.reward(1.0)


class Moving:
    """Moves the file as soon as a transaction has ended, and before it is acknowledged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None: ...

    def __exit__(self, *failure: object) -> None:
        self.path.rename(self.path.with_name("elsewhere.db"))


def test_a_service_whose_file_is_gone_is_not_ready_and_goes_on_when_it_is_back() -> None:
    with quick_folder() as folder:
        path = Path(folder) / "experiments.db"
        with in_thread(path) as client:
            client.post("/v1/experiments", json={"name": "shop", **ASKED}).raise_for_status()
            reward = {"key": "a", "amount": 1.0}
            client.post("/v1/experiments/shop/rewards", json=reward).raise_for_status()
            assert client.get("/readyz").status_code == 200
            path.rename(path.with_name("elsewhere.db"))
            for answer in (
                client.post("/v1/experiments/shop/rewards", json={"key": "b", "amount": 1.0}),
                client.post("/v1/experiments/shop/steps/0", json={}),
                client.post("/v1/experiments", json={"name": "other", **ASKED}),
            ):
                assert (answer.status_code, slug(answer)) == (503, "database-unavailable")
            assert client.get("/v1/experiments/shop/current").status_code == 200  # from memory
            path.with_name("elsewhere.db").rename(path)
            assert client.post("/v1/experiments/shop/rewards", json=reward).json()["duplicates"] == 1


def test_a_service_whose_file_was_replaced_by_a_backup_is_not_ready_until_it_is_started_again() -> None:
    with quick_folder() as folder:
        path, copy = Path(folder) / "experiments.db", Path(folder) / "copy.db"
        with Serving(path) as serving, serving.client() as http:
            http.post("/v1/experiments", json={"name": "shop", **ASKED}).raise_for_status()
            assert run(["backup", str(path), str(copy)]) == 0
            for step in range(3):
                http.post(f"/v1/experiments/shop/steps/{step}", json={"total": 1.0}).raise_for_status()
            copy.replace(path)
            answer = http.post("/v1/experiments/shop/steps/3", json={"total": 1.0})
            assert (answer.status_code, slug(answer)) == (503, "database-unavailable")
            assert http.get("/readyz").status_code == 503
            assert serving.stop() == 0
            for end in ("-wal", "-shm"):
                beside(path, end).unlink(missing_ok=True)
            serving.start()
            assert http.get("/v1/experiments/shop/current").json()["step"] == 0
            http.post("/v1/experiments/shop/steps/0", json={"total": 1.0}).raise_for_status()
            assert http.get("/readyz").status_code == 200
        assert "was replaced while it is in use" in serving.errors
        assert run(["verify", str(path)]) == 0


# Damaged pages


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        yield Path(made)


@pytest.fixture
def played(folder: Path) -> Path:
    """Two experiments of several pages each."""
    path = folder / "experiments.db"
    with afterglow.live.open(path) as experiments:
        for name in ("first", "second"):
            experiment = experiments.create(name, **ASKED)
            for step in range(120):
                experiment.reward(1.0, f"{name} {step}")
                experiment.close_step()
            experiment.pin("59", f"a mark in the log of {name}")
            for _ in range(120):
                experiment.close_step(1.0)
    return path


def test_a_damaged_page_is_named_and_never_copied(
    played: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random, sound = Random(1), played.read_bytes()
    damaged, copy = folder / "damaged.db", folder / "copy.db"
    found = 0
    for first in range(0, len(sound), PAGE):
        noise = random.randbytes(64) + bytes(PAGE - 64)
        damaged.write_bytes(sound[:first] + noise + sound[first + PAGE :])
        codes = [run(["verify", str(damaged)]), run(["export", str(damaged), "second"])]
        codes += [run(["export", str(damaged), "first", "--what", "events"]), run(["backup", str(damaged), str(copy)])]
        assert set(codes) <= {0, 1}, (first, codes)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        if codes[0]:
            found += 1
            assert codes[3] == 1, first
            assert not list(folder.glob("copy.db*"))
            assert "table " in said.err or "can't be used as a database" in said.err, said.err
        copy.unlink(missing_ok=True)
    assert found > 0.8 * len(sound) / PAGE  # the others are free pages


def test_changed_values_on_sound_pages_are_named_and_never_copied(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bit that flips in a text or a number leaves SQLite's pages in order."""
    path, copy = folder / "experiments.db", folder / "copy.db"
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shop", **ASKED, guards={"complaints": {"at_most": "+10%"}})
        for _ in range(10):
            experiment.close_step(1.0, metrics={"complaints": 2.0})
        experiment.pin("59", "a reason")
    for change, said in (
        ("UPDATE steps SET total = total + 1 WHERE step = 4", "step 4: the table has"),
        ("UPDATE steps SET series = '{\"totals\":[1' WHERE step = 4", "step 4: the table has"),
        ("UPDATE steps SET served = 77 WHERE step = 4", "step 4: the table has"),
        ("UPDATE events SET body = replace(body, 'a reason', 'b reason')", "record 12: its hash|record 12 of 'shop'"),
    ):
        with sqlite3.connect(path) as base:
            base.execute(change)
        base.close()
        for command in (["verify", str(path)], ["backup", str(path), str(copy)], ["export", str(path), "shop"]):
            assert run(command) == 1, (change, command)
            told = capsys.readouterr()
            assert re.search(said, told.out + told.err), (change, command, told)
        assert not list(folder.glob("copy.db*"))
        with afterglow.live.open(path) as experiments, suppress(BadDatabase):
            experiments["shop"].steps()
            experiments["shop"].explain(4)
    assert run(["backup", str(path), str(copy), "--damaged"]) == 0
    assert run(["verify", str(copy)]) == 1


def test_rows_that_cant_be_read_are_refused_as_damage(folder: Path) -> None:
    path = folder / "experiments.db"
    with afterglow.live.open(path) as experiments:
        made = experiments.create("shop", ["49", "59"], window=1, units=["north", "south"], horizon=20)
        for _ in range(3):
            made.close_step({"north": 1.0, "south": 2.0})
    with sqlite3.connect(path) as base:
        base.execute("UPDATE steps SET series = replace(series, 'planned', 'plan|ed')")
    base.close()
    with in_thread(path) as client:
        assert slug(client.get("/v1/experiments/shop/steps")) == "unusable"
        assert client.get("/experiments/shop/steps.csv").status_code == 409
        assert client.get("/experiments/shop").status_code == 409
        assert client.get("/v1/experiments/shop/events").status_code == 200


def test_a_damaged_page_refuses_the_experiment_that_it_belongs_to_and_no_other(played: Path) -> None:
    sound = played.read_bytes()
    first = sound.index(b"a mark in the log of first") // PAGE * PAGE
    played.write_bytes(sound[:first] + b"\xff" * PAGE + sound[first + PAGE :])
    with afterglow.live.open(played) as experiments:
        with pytest.raises(BadDatabase, match="damaged pages"):
            experiments["first"].current()
        experiments["second"].close_step(1.0)
        assert list(experiments.heads()) == ["first", "second"] or list(experiments.heads()) == ["second"]
        assert [verdict.ok for verdict in experiments.verify()] == [False, True]
        assert list(experiments.tick()) == ["first"]
    with in_thread(played) as client:
        assert slug(client.get("/v1/experiments/first/current")) == "unusable"
        assert client.get("/v1/experiments/second/current").status_code == 200
        assert client.get("/readyz").status_code == 200


def test_a_backup_to_a_full_disk_leaves_nothing_behind(played: Path, tmp_path: Path) -> None:
    with afterglow.live.open(played, read_only=True) as experiments:
        store: Any = experiments._store
        connect = sqlite3.connect

        def small(path: Path, **given: Any) -> sqlite3.Connection:
            made: sqlite3.Connection = connect(path, **given)
            if Path(path) == tmp_path / "copy.db":
                made.execute("PRAGMA max_page_count = 3").fetchall()
            return made

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite3, "connect", small)
            with pytest.raises(Unavailable, match="the disk is full"):
                store.backup(tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy.db*"))


READ_AND_LEAVE = """
import sys, sqlite3
base = sqlite3.connect(sys.argv[1])
base.execute("SELECT name FROM experiments").fetchall()
base.close()
"""


def test_another_process_that_comes_and_goes_leaves_the_write_ahead_log_alone(tmp_path: Path) -> None:
    """It would delete the log if looking at the file had ended SQLite's locks of this process."""
    with afterglow.live.open(tmp_path / "live.db") as experiments:
        trial = experiments.create("trial", ["A", "B"], window=2, reward_max=10)
        for step in range(3):
            trial.reward(1.0)
            subprocess.run([sys.executable, "-c", READ_AND_LEAVE, str(tmp_path / "live.db")], check=True, timeout=60)
            assert (tmp_path / "live.db-wal").exists()
            trial.close_step(step=step)
        assert trial.verify().faults == ()
