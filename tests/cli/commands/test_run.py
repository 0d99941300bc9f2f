"""`afterglow init` and `afterglow run`: a study that runs as it is, progress on stderr, results on stdout."""

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from afterglow.cli import run
from afterglow.cli.commands.init import EXAMPLE
from afterglow.cli.progress import lines
from afterglow.cli.study_runs import figures
from afterglow.lab.study.results import Results
from afterglow.lab.study.schedule import Progress
from afterglow.lab.study.study import Study

SMALL = """
horizon = 400
runs = 5
[[policies]]
policy = ["leak-ucb", "ars-ucb"]
[[worlds]]
rewards = [0.9, 0.8]
window = 4
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_init_writes_a_study_that_runs_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "mine.toml"]) == 0
    assert "afterglow run mine.toml" in capsys.readouterr().err
    text = (here / "mine.toml").read_text(encoding="utf-8")
    (here / "mine.toml").write_text(text.replace("runs = 50 ", "runs = 2 "), encoding="utf-8")
    assert run(["run", "mine.toml"]) == 0
    assert Results("results/mine").complete
    assert "phased-ucb constants=corrected" in capsys.readouterr().out


@pytest.mark.parametrize("name", ['a"b', "my study", "a'b", "back\\slash", ".hidden", "tab\tand\nline", "größer"])
def test_init_writes_a_study_under_any_name_and_a_command_that_can_be_pasted(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(["init", f"{name}.toml"]) == 0
    assert Study.read(here / f"{name}.toml").name
    if name.isprintable():
        command = shlex.split(capsys.readouterr().err.split("`")[1])
        assert command == ["afterglow", "run", f"{name}.toml"]


def test_init_leaves_an_existing_file_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "study.toml").write_text("mine")
    assert run(["init"]) == 2
    assert capsys.readouterr().err == "study.toml exists already; give another name or remove it\n"
    assert (here / "study.toml").read_text() == "mine"


def test_every_field_is_in_the_example() -> None:
    for key in ("name", "horizon", "runs", "seed", "checkpoints", "told_window", "told_horizon", "refused"):
        assert f"{key} = " in EXAMPLE


def test_json_goes_to_stdout_with_study_versions_and_cells(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.toml").write_text(SMALL)
    assert run(["run", "s.toml", "--seed", "9", "--out", "there", "--threads", "1", "--json"]) == 0
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["study"]["seed"], found["study"]["name"], found["folder"]) == (9, "s", "there")
    assert [row["label"] for row in found["cells"]] == ["leak-ucb", "ars-ucb"]
    assert "s: 2 cells, 10 runs, seed 9" in said.err


def test_a_changed_study_exits_2_and_names_what_differs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s.toml").write_text(SMALL)
    assert run(["run", "s.toml"]) == 0
    (here / "s.toml").write_text(SMALL.replace("window = 4", "window = 5"))
    assert run(["run", "s.toml"]) == 2
    assert "worlds[0].window was 4 and is 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "afterglow run needs STUDY.toml"),
        (["run", "nowhere.toml"], "nowhere.toml can't be read: no such file"),
        (["run", "s.toml", "--threads", "2", "--dask", "tcp://x:1"], "give --threads or --dask, not both"),
        (["run", "s.toml", "--threads", "none"], "--threads must be a whole number of at least 1"),
    ],
)
def test_a_wrong_call_exits_2_with_one_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    (here / "s.toml").write_text(SMALL)
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.err.startswith(sentence)
    assert said.out == ""


def test_a_terminal_shows_bar_rate_time_left_and_cell(here: Path) -> None:
    (here / "s.toml").write_text(SMALL.replace("leak-ucb", "ucb1").replace("400", "900_000").replace("= 5", "= 12"))
    master, slave = pty.openpty()
    command = [sys.executable, "-c", "from afterglow.cli import main; main()", "run", "s.toml", "--threads", "1"]
    settings = os.environ | {"TERM": "xterm", "COLUMNS": "140"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave, env=settings) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 65_536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.wait() == 0
    os.close(master)
    text = shown.decode()
    for piece in ("runs/s", "left", "ucb1, uniform, window 4, 900,000 steps", " %"):
        assert piece in text


def test_elsewhere_a_plain_line_comes_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, 11.0, 11.0, 12.0])
    monkeypatch.setattr("afterglow.cli.progress.time.monotonic", lambda: next(clock))
    show = lines()
    now = Progress(1_500, 3_000, 120.0, 200.0, "ucb1, last, window 4, 100 steps")
    for _ in range(3):
        show(0.5, now.cell, figures(now))
    said = "50% done, 1,500 of 3,000 runs, 120 runs/s, about 3 minutes left, playing ucb1, last, window 4, 100 steps\n"
    assert capsys.readouterr().err == said
