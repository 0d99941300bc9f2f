"""Experiments in a file: one writer, many readers, no trace of a key, no silent damage."""

import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import afterglow
from afterglow.errors import BadDatabase, BadValue, InUse, OutOfTurn, Unavailable
from afterglow.live.reward_keys import digest_of
from support.service.live_fixtures import Clock

ASKED: dict[str, Any] = {"variants": ["49", "59", "69"], "window": 4, "reward_max": 10.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "experiments.db"


def bytes_beside(path: Path) -> bytes:
    """Everything that is on the disk: the database, its write-ahead log, whatever else."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.iterdir()))


# One writer


def elsewhere(path: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    begin = f"import afterglow, sys\npath = {str(path)!r}\n"
    return subprocess.run([sys.executable, "-c", begin + code], capture_output=True, text=True, check=False)


def test_a_second_writing_process_is_refused_by_a_sentence_that_names_the_first(path: Path) -> None:
    with afterglow.live.open(path) as experiments:
        experiments.create("shipping", **ASKED)
        done = elsewhere(path, "afterglow.live.open(path)")
        assert done.returncode == 1
        said = done.stderr.splitlines()[-1]
        assert f"is being written by process {os.getpid()} on {socket.gethostname()} since 20" in said
        assert said.endswith("; stop it, or open with read_only=True")
    assert elsewhere(path, "afterglow.live.open(path).close()").returncode == 0


def test_one_process_can_t_open_a_file_for_writing_twice(path: Path) -> None:
    with afterglow.live.open(path), pytest.raises(InUse, match=f"written by process {os.getpid()}"):
        afterglow.live.open(path)


def test_a_symbolic_link_is_the_same_file_to_the_lock(path: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "far" / "other.db"
    link.symlink_to(path)
    with afterglow.live.open(link), pytest.raises(InUse, match=rf"db is being written by process {os.getpid()} on "):
        afterglow.live.open(path)
    with afterglow.live.open(path), pytest.raises(InUse, match=rf"other.db is being written by process {os.getpid()}"):
        afterglow.live.open(link)


def test_a_hard_link_is_refused_and_who_writes_the_file_is_named(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "other.db"
    with afterglow.live.open(path) as experiments:
        experiments.create("shipping", **ASKED)
        link.hardlink_to(path)
        with pytest.raises(InUse, match=rf"other.db is being written by process {os.getpid()} on "):
            afterglow.live.open(link)
    for name in (path, link):
        for read_only in (True, False):
            with pytest.raises(BadValue, match=r"has 2 names \(hard links\)"):
                afterglow.live.open(name, read_only=read_only)
    link.unlink()
    with afterglow.live.open(path) as experiments:
        assert experiments.names() == ["shipping"]


def test_the_lock_of_a_killed_process_is_free(path: Path) -> None:
    code = "import os, signal\nkept = afterglow.live.open(path)\nos.kill(os.getpid(), signal.SIGKILL)"
    assert elsewhere(path, code).returncode < 0
    afterglow.live.open(path).close()


def test_a_fork_is_told_to_open_the_file_itself(path: Path) -> None:
    code = """
import os
experiment = afterglow.live.open(path).create("shipping", ["49", "59"], 4)
child = os.fork()
if child == 0:
    try:
        experiment.reward(0.5)
    except afterglow.AfterglowError as refused:
        print(refused, flush=True)
    os._exit(0)
os.waitpid(child, 0)
experiment.reward(0.25)
experiment.close_step()
print(experiment.steps(count=1)[0].total)
"""
    refused, total = elsewhere(path, code).stdout.splitlines()
    assert refused.endswith("which forked; open it in each process")
    assert total == "0.25"


# Readers


def test_readers_in_other_processes_see_what_was_acknowledged(path: Path) -> None:
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        experiment.close_step(3.0)
        code = "e = afterglow.live.open(path, read_only=True)['shipping']\n"
        code += "print(e.decision().step, e.current(), e.verify().ok)"
        assert elsewhere(path, code).stdout.split() == ["1", "59", "True"]


def test_a_reader_follows_the_writer_and_changes_nothing(path: Path) -> None:
    with afterglow.live.open(path) as experiments, afterglow.live.open(path, read_only=True) as others:
        written = experiments.create("shipping", **ASKED, policy="ucb1")
        read = others.get("shipping")
        for step in range(5):
            assert read.decision() == written.decision()
            written.close_step(float(step))
        assert read.steps() == written.steps()
        with pytest.raises(OutOfTurn, match="was opened to read only; open it without read_only"):
            read.reward(1.0)


def test_there_is_nothing_to_read_in_a_file_that_isn_t_there(path: Path) -> None:
    with pytest.raises(BadValue, match="doesn't exist, so there is nothing to read"):
        afterglow.live.open(path, read_only=True)
    assert not path.exists()


# Privacy


@pytest.mark.parametrize("remember", [0, 1, 2])  # steps of an hour
def test_a_key_is_never_on_the_disk_and_its_digest_not_after_sealing(path: Path, remember: int, clock: Clock) -> None:
    keys = [f"order-{number:04d}-of-somebody" for number in range(300)]
    with afterglow.live.open(path, clock=clock) as experiments:
        experiment = experiments.create("shipping", **ASKED, remember=3600.0 * remember)
        for first in range(0, 300, 60):
            experiment.rewards([(key, 0.01) for key in keys[first : first + 60]])
        with experiments._store.reading("shipping") as log:
            salt = log.spans()[0].salt
        digests = [digest_of(key.encode(), salt) for key in keys]
        assert sum(digest in bytes_beside(path) for digest in digests) == 300
        for _ in range(2 * remember or 1):
            assert salt in bytes_beside(path)
            clock.hours(1)
            experiment.close_step()
        left = bytes_beside(path)
        assert [mark for mark in (salt, *digests) if mark in left] == []
        assert [key for key in keys if key.encode() in left] == []
        assert experiment.steps(count=1)[0].total == 3.0
        assert experiment.verify().ok


def test_a_process_killed_before_it_could_tidy_leaves_no_digest_to_the_next(path: Path) -> None:
    code = """
import os, signal
from afterglow.live.store.sqlite import SqliteStore
experiment = afterglow.live.open(path).create("shipping", ["49", "59"], 4, remember=0)
experiment.reward(0.5, "the key")
with experiment._cache.store.reading("shipping") as log:
    print(log.spans()[0].salt.hex(), flush=True)
SqliteStore.tidy = lambda self: os.kill(os.getpid(), signal.SIGKILL)
experiment.close_step()
"""
    salt = bytes.fromhex(elsewhere(path, code).stdout.strip())
    digest = digest_of(b"the key", salt)
    assert digest in bytes_beside(path)
    with afterglow.live.open(path) as experiments:
        assert digest not in bytes_beside(path)
        assert salt not in bytes_beside(path)
        assert experiments["shipping"].steps(count=1)[0].total == 0.5


def test_a_reader_delays_the_erasing_and_does_not_stop_the_experiment(path: Path) -> None:
    with afterglow.live.open(path) as experiments, afterglow.live.open(path, read_only=True) as others:
        experiment = experiments.create("shipping", **ASKED, remember=0)
        experiment.reward(0.5, "the key")
        with experiments._store.reading("shipping") as log:
            salt = log.spans()[0].salt
        with others._store.reading("shipping") as log:
            assert log.spans()[0].salt == salt
            experiment.close_step()
            assert salt in bytes_beside(path)
        experiment.close_step()
        assert salt not in bytes_beside(path)


# Layout


def rewrite(path: Path, statement: str) -> None:
    base = sqlite3.connect(path)
    base.execute(statement)
    base.commit()
    base.close()


@pytest.mark.parametrize("content", [b"step,total\n0,3.5\n" * 100, b"SQLite format 3\0" + bytes(4000)])
def test_a_file_that_is_something_else_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(BadDatabase, match="can't be used as a database"):
        afterglow.live.open(path)
    assert path.read_bytes() == content


def test_a_folder_is_refused_as_one_and_nothing_is_made_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for read_only in (False, True):
        with pytest.raises(BadDatabase, match="folder is a folder; name a file in it"):
            afterglow.live.open(folder, read_only=read_only)
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_database_of_somebody_else_is_refused(path: Path) -> None:
    rewrite(path, "CREATE TABLE orders (id INTEGER)")
    with pytest.raises(BadDatabase, match="holds something else than Afterglow's experiments"):
        afterglow.live.open(path)


# Trouble with the disk


def test_a_file_that_another_program_has_locked_is_unavailable_and_nothing_is_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.live.store.sqlite.PATIENCE", 0.01)
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shipping", **ASKED)
        experiment.reward(1.0, "before")
        base = sqlite3.connect(path, isolation_level=None)
        base.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="can't be used now: another process has locked it; nothing was done"):
            experiment.reward(2.0, "meanwhile")
        assert experiment.current() == "49"
        base.execute("ROLLBACK")
        base.close()
        assert experiment.rewards([("before", 1.0), ("meanwhile", 2.0)]) == (0, 1, 1)


def test_on_a_full_disk_nothing_is_acknowledged_and_all_goes_on_when_there_is_room(path: Path) -> None:
    with afterglow.live.open(path) as experiments:
        experiment = experiments.create("shipping", **ASKED, policy="ucb1")
        store: Any = experiments._store
        (pages,) = store.base.execute("PRAGMA page_count").fetchone()
        store.base.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        taken, full = 0, r"can't be used now: the disk is full; nothing was done, the next call tries again"
        with pytest.raises(Unavailable, match=full):  # noqa: PT012
            for number in range(1000):
                taken += experiment.rewards([(f"{number} {part}", 0.01) for part in range(50)]).accepted
        with pytest.raises(Unavailable, match=full):  # noqa: PT012
            for number in range(1000):
                experiment.pin(["49", "59"][number % 2], "a long reason, to fill the file: " + "x" * 900)
        store.base.execute("PRAGMA max_page_count = 1000000").fetchall()
        assert experiment.reward(0.5).accepted == 1
        experiment.close_step()
        assert experiment.steps(count=1)[0].total == taken / 100 + 0.5
        assert experiment.verify().ok
