"""The command line names its own options, not the arguments of functions."""

import re
from pathlib import Path

import pytest

import afterglow
from afterglow.cli import run
from afterglow.cli.app import commands
from afterglow.cli.option_names import command_in, worded, words_for
from afterglow.errors import BadValue, Sentence, argument
from testbed.quick_disk import quick_folder
from testbed.service import command as in_its_own_process

ARGUMENT = re.compile(r"\b[a-z_]+=(True|False|None|'|\")")


def test_arguments_are_named_as_the_options_of_the_command_that_was_called() -> None:
    plan, simulate = (words_for(command_in(commands(), [name])) for name in ("plan", "simulate"))
    error = BadValue(f"{argument('noise')} must be below {argument('reward_max')}; give {argument('noise', 0.1)}")
    assert str(error) == "noise must be below reward_max; give noise=0.1"
    assert error.worded(plan) == "--noise must be below --reward-max; give --noise 0.1"
    assert error.worded(simulate) == "--set noise must be below reward_max; give --set noise=0.1"


def test_a_value_that_a_shell_would_split_is_quoted() -> None:
    note = Sentence(f"say which, such as {argument('column', 'Umsatz (€)')}")
    assert note == "say which, such as column='Umsatz (€)'"
    assert worded(note) == "say which, such as --column 'Umsatz (€)'"
    assert worded("plain text") == "plain text"


def test_a_command_inside_a_group_is_found() -> None:
    assert command_in(commands(), ["token", "revoke", "x"]).name == "revoke"


def test_a_missing_or_a_busy_database_is_told_in_the_words_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with quick_folder() as folder:
        path = Path(folder) / "shop.db"
        for command in (["verify", str(path)], ["export", str(path), "shop"], ["backup", str(path), f"{path}2"]):
            assert run(command) == 2
            said = capsys.readouterr().err
            assert "doesn't exist, so there is nothing to read; name the file of the experiments" in said
            assert not ARGUMENT.search(said)
        with afterglow.live.open(path):
            refused = in_its_own_process("serve", "--db", str(path), "--port", "0", check=False)  # it sets up logs
            said = refused.stderr
            assert refused.returncode == 1
            assert said.rstrip().endswith("; stop it first; `afterglow verify`, `backup` and `export` can be used")
            assert "read_only" not in said


def test_columns_that_cant_be_told_are_asked_for_by_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "steps.csv"
    path.write_text("von,bis,arm,total\n2026-01-01,2026-01-02,A,1\n2026-01-02,2026-01-03,B,2\n", encoding="utf-8")
    assert run(["fit", str(path)]) == 1
    said = capsys.readouterr().err
    assert said.rstrip().endswith("has several columns of times (von, bis); name it, such as --step von")
