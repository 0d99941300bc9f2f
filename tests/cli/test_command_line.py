"""What every command promises: one sentence, the right exit code, nothing on the wrong stream."""

import os
import signal
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import afterglow
from afterglow.cli import run, use_utf8
from afterglow.cli.app import commands
from afterglow.engine.work import Queue
from afterglow.errors import MissingExtra

SIMULATE = ["simulate", "--policy", "ucb1", "--means", "0.9,0.1", "--window", "2", "--horizon", "50", "--runs", "2"]
BOUNDS = ["bounds", "--policy", "phased-ucb", "--arms", "5", "--horizon", "1e5", "--window", "10"]
WRONG = {
    "no command named 'polices'; did you mean 'policies'? `afterglow --help` lists them": ["polices"],
    "no option named '--polcy'; did you mean '--policy'? `afterglow simulate --help` lists them": [
        "simulate",
        "--polcy",
        "ucb1",
    ],
    "afterglow simulate needs --horizon; `afterglow simulate --help` says what it takes": ["simulate"],
    "option '--runs' requires an argument": [*SIMULATE, "--runs"],
    "afterglow simulate takes options only, got 'x'; `afterglow simulate --help` lists them": [*SIMULATE, "x"],
    "no policy named 'ucb2'; did you mean 'ucb1'? `afterglow policies` lists them": [
        *SIMULATE,
        "--policy",
        "ucb2",
    ],
    "--horizon must be a whole number of at least 1, got 1.5": [*SIMULATE, "--horizon", "1.5"],
    "--horizon must be a whole number of at least 1, got 'many'": [*SIMULATE, "--horizon", "many"],
    "--runs must be a whole number of at least 1, got 0": [*SIMULATE, "--runs", "0"],
    "--seed must be a whole number of at least 0, got -1": [*SIMULATE, "--seed", "-1"],
    "--threads must be a whole number of at least 1, got nan": [*SIMULATE, "--threads", "nan"],
    "--curve must be a whole number of at least 1, got 0": [*SIMULATE, "--curve", "0"],
    "no engine named 'skp'; did you mean 'skip'? it is one of auto, step, hold, skip": [*SIMULATE, "--engine", "skp"],
    "no setting of ucb1 named 'C'; it takes none": [*SIMULATE, "--set", "C=1"],
    "--gaps must be a number of at least 0 and at most 1 (each of them), got 'x'": [*BOUNDS, "--gaps", "0.1,x"],
    "no setting of phased-ucb named 'holt'; did you mean 'hold'? it takes constants, hold, a": [
        *BOUNDS,
        "--set",
        "holt=3",
    ],
    "--seed must be a whole number of at least 0, got 'x'": ["compare", "--seed", "x"],
}


@pytest.mark.parametrize(("sentence", "arguments"), WRONG.items())
def test_a_wrong_call_exits_2_with_one_sentence(
    sentence: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", sentence + "\n")


def test_a_failure_exits_1_with_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert run(["compare", "--out", str(in_the_way)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"{in_the_way}: file exists\n"


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == afterglow.__version__ + "\n"


def test_the_package_can_be_run_as_the_command() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "afterglow", "--version"], capture_output=True, text=True, check=True
    )
    assert printed.stdout == afterglow.__version__ + "\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    shown = capsys.readouterr().out
    assert [name for name in commands().commands if name not in shown] == []


def test_ctrl_c_exits_130_without_a_word(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("afterglow.engine.simulate.simulate", interrupted)
    assert run(SIMULATE) == 130
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_stops_runs_that_would_take_hours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    take, presses = Queue.take, iter([signal.SIGINT])

    def take_and_interrupt(queue: Queue) -> tuple[int, int]:
        for press in presses:
            signal.raise_signal(press)
        return take(queue)

    monkeypatch.setattr(Queue, "take", take_and_interrupt)
    assert run([*SIMULATE, "--horizon", "1e13"]) == 130
    assert capsys.readouterr().out == ""


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("afterglow.engine.simulate.simulate", broken)
    with pytest.raises(ZeroDivisionError):
        run(SIMULATE)


def test_a_warning_is_one_line_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SIMULATE[:1], "--policy", "phased-ucb", *SIMULATE[3:], "--window", "40"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
    assert len(said) == 1
    assert said[0].startswith("warning: phased-ucb needs 2 arms x ")


@pytest.mark.parametrize("arguments", [["policies"], ["--help"], BOUNDS])
def test_commands_that_simulate_nothing_load_no_compiler(arguments: list[str]) -> None:
    code = f"import sys\nfrom afterglow.cli import run\nrun({arguments!r})\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "matplotlib", "jinja2", "scipy"} & set(done.stderr.split())


def test_a_missing_compiler_is_named_with_its_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "afterglow.engine.simulate", None)
    monkeypatch.setattr("afterglow.cli.OPTIONAL", {"afterglow"})  # stands in for Numba, which is loaded by now
    assert run(SIMULATE) == 1
    sentence = f"{MissingExtra('afterglow simulate', 'lab')}\n"
    assert capsys.readouterr() == ("", sentence)


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    command = f"{sys.executable} -c 'from afterglow.cli import main; main([\"policies\"])' | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("phased-ucb")
    assert done.stderr == ""


def test_a_pipe_gets_utf_8_whatever_the_locale() -> None:
    plain = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "afterglow", "policies"]
    done = subprocess.run(command, env=plain, capture_output=True, check=True)
    assert "Szepesvári" in done.stdout.decode("utf-8")
    assert done.stderr == b""


def test_a_terminal_shows_a_question_mark_for_what_it_does_not_have() -> None:
    class Terminal(TextIOWrapper):
        def isatty(self) -> bool:
            return True

    shown = BytesIO()
    terminal = Terminal(shown, encoding="ascii")
    use_utf8(terminal)
    terminal.write("116 ± 3")
    terminal.flush()
    assert shown.getvalue() == b"116 ? 3"
