"""A study may be stopped in any way at any moment: run again, it ends in the bytes of one that never was."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from afterglow.errors import BadFormat, BadValue, OutOfTurn
from afterglow.lab.study import runner
from afterglow.lab.study.folder import JOURNAL
from afterglow.lab.study.identity import identity
from afterglow.lab.study.journal import Journal, header
from afterglow.lab.study.results import Results
from afterglow.lab.study.schedule import Progress
from afterglow.lab.study.study import Study

TEXT = """
name = "stopped"
horizon = [4_000, 8_000]
runs = 40
checkpoints = 6

[[policies]]
policy = ["ucb1", "trim-ucb", "phased-elimination"]

[[worlds]]
rewards = [0.9, 0.8, 0.7]
window = [4, 8]
spread = ["uniform", "hoard"]
"""
COMMAND = [sys.executable, "-c", "from afterglow.cli import main; main()", "run"]
STRUCK = """
import os
from afterglow.cli import main
from afterglow.lab.study import runner
from afterglow.lab.study.journal import Journal

append, journals = Journal.append, []
write_runs = runner.write_runs


def strike():
    os.kill(os.getpid(), {signal:d})


def append_and_strike(journal, batch):
    append(journal, batch)
    journals.append(journal)
    if len(journals) == {after}:
        strike()


def strike_and_write(*given):
    strike()
    write_runs(*given)


Journal.append = append_and_strike
if not {after}:
    runner.write_runs = strike_and_write
main()
"""


def small(**fields: Any) -> Study:
    usual: dict[str, Any] = {
        "policies": ["trim-ucb", "ars-ucb"],
        "worlds": [{"rewards": [0.9, 0.8], "window": [4, 8]}],
        "horizon": 500,
        "runs": 12,
        "checkpoints": 5,
    }
    return Study(**usual | fields)


def contents(folder: Path) -> dict[str, bytes]:
    """The tables, and nothing but tables."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "stopped.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def untouched(file: Path) -> dict[str, bytes]:
    """The tables of a run that nothing stopped, on one thread."""
    Study.read(file).run(file.parent / "untouched", threads=1)
    return contents(file.parent / "untouched")


def killed_when(arguments: list[str], moment: Callable[[], bool]) -> None:
    """Start a run and kill it, as the system would, at a moment; unless it has ended by then."""
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not moment():
            try:
                process.wait(0.005)
            except subprocess.TimeoutExpired:
                continue
            break
        process.send_signal(signal.SIGKILL)


def struck(arguments: list[str], after: int, how: signal.Signals) -> "subprocess.CompletedProcess[str]":
    """A run that a signal strikes when it has kept so many results, or, after 0, all of them, the tables to come."""
    command = [sys.executable, "-c", STRUCK.format(signal=how, after=after), "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_killed_again_and_again_it_ends_in_the_same_bytes(file: Path, untouched: dict[str, bytes]) -> None:
    out = file.parent / "killed"
    arguments = [str(file), "--out", str(out), "--threads", "2"]
    for after in (1, 3, 0):
        assert struck(arguments, after, signal.SIGKILL).returncode == -signal.SIGKILL
        assert set(contents(out)) == {JOURNAL, "cells.parquet"}
        kept = sum(part["run"].size for part in Results(out)._columns.values())
        assert (0 < kept < 40 * 24) if after else kept == 40 * 24
    killed_when(arguments, (out / "runs.parquet").exists)
    done = subprocess.run([*COMMAND, *arguments, "--json"], capture_output=True, text=True, check=True)
    assert contents(out) == untouched
    assert len(json.loads(done.stdout)["cells"]) == 24


def test_ctrl_c_exits_130_and_says_how_to_go_on(file: Path, tmp_path: Path) -> None:
    done = struck([str(file), "--out", str(tmp_path / "out"), "--threads", "2"], 1, signal.SIGINT)
    assert (done.returncode, done.stdout) == (130, "")
    assert (
        done.stderr.splitlines()[-1] == f"interrupted; finished runs are in {tmp_path / 'out'}, run again to continue"
    )


def test_the_bytes_do_not_depend_on_the_number_of_threads(file: Path, untouched: dict[str, bytes]) -> None:
    Study.read(file).run(file.parent / "three", threads=3)
    assert contents(file.parent / "three") == untouched


def test_an_interrupt_keeps_what_was_finished(tmp_path: Path) -> None:
    study = small(policies=["ucb1"], horizon=5_000, runs=200)

    def interrupt(now: Progress) -> None:
        if 0 < now.done < now.total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(tmp_path / "a", threads=1, progress=interrupt)
    partial = Results(tmp_path / "a")
    assert not partial.complete
    begun = len(partial.table("runs"))
    assert 0 < begun < 400
    first: list[Progress] = []
    assert study.run(tmp_path / "a", threads=2, progress=first.append).complete
    assert first[0].done >= begun
    study.run(tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_stopped_while_the_tables_are_written_it_writes_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(folder: Path, *_: Any) -> None:
        (folder / "runs.parquet").write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, "write_runs", torn)
        with pytest.raises(KeyboardInterrupt):
            small().run(tmp_path / "a")
    small().run(tmp_path / "a")
    small().run(tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_a_finished_study_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small().run(tmp_path / "a")
    before = contents(tmp_path / "a")
    monkeypatch.setattr(runner, "run_tasks", lambda *_: pytest.fail("played again"))
    told: list[Progress] = []
    small().run(tmp_path / "a", progress=told.append)
    assert contents(tmp_path / "a") == before
    assert [(now.done, now.total) for now in told] == [(48, 48)]


def play(study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch, finished: bool) -> None:
    """Run a study to its end, or until its tables are to be written."""

    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        if not finished:
            patch.setattr(runner, "write_runs", stopped)
        study.run(folder)


@pytest.mark.parametrize("finished", [True, False])
def test_a_changed_study_is_refused_with_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: bool
) -> None:
    play(small(), tmp_path, monkeypatch, finished)
    assert (tmp_path / JOURNAL).exists() != finished
    before = contents(tmp_path)
    with pytest.raises(BadValue, match=r"another study: runs was 12 and is 13; seed was 1 and is 2; give another"):
        small(runs=13, seed=2).run(tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("finished", [True, False])
def test_a_question_in_other_words_is_no_other_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: bool
) -> None:
    play(small(question="What for?"), tmp_path / "a", monkeypatch, finished)
    assert Results(tmp_path / "a").question == "What for?"
    again = small(question="Why, and what for?").run(tmp_path / "a")
    assert again.complete
    assert again.question == again.study["question"] == "Why, and what for?"
    assert small().run(tmp_path / "a").question == ""
    small().run(tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_other_versions_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small().run(tmp_path)
    monkeypatch.setattr("afterglow.lab.versions.__version__", "9.9.9")
    with pytest.raises(BadValue, match=r"version of afterglow was '\S+' and is '9.9.9'"):
        small().run(tmp_path)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / JOURNAL, identity(small())), pytest.raises(OutOfTurn, match="in use by another run"):
        small().run(tmp_path)


@pytest.mark.parametrize("length", [0, 1, 100])
def test_stopped_while_the_journal_is_begun_it_begins_again(tmp_path: Path, length: int) -> None:
    (tmp_path / JOURNAL).write_bytes(header(identity(small()))[:length])
    assert small().run(tmp_path).complete


def test_a_strange_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text("my notes")
    with pytest.raises(BadFormat, match="is not a journal"):
        small().run(tmp_path)
    assert (tmp_path / JOURNAL).read_text() == "my notes"


def test_the_tables_say_what_they_are(tmp_path: Path) -> None:
    small(seed=7).run(tmp_path)
    import pyarrow.parquet as pq

    for table in ("cells", "runs", "curves"):
        said = json.loads(pq.read_schema(tmp_path / f"{table}.parquet").metadata[b"afterglow"])
        assert said["study"]["seed"] == 7
        assert said["study"]["policies"] == ["trim-ucb", "ars-ucb"]
        assert {"afterglow", "numpy", "numba", "pyarrow", "python"} == set(said["versions"])


def test_a_failure_in_a_run_is_raised_and_leaves_a_folder_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise BadValue("it broke")

    with monkeypatch.context() as patch:
        patch.setattr("afterglow.lab.study.play.simulate", broken)
        with pytest.raises(BadValue, match="it broke"):
            small().run(tmp_path)
    assert small().run(tmp_path).complete


def test_threads_and_a_cluster_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="not both"):
        small().run(tmp_path, threads=2, dask="tcp://127.0.0.1:1")
