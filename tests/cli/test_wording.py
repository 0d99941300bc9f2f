"""The command line names its own options, not the arguments of functions."""

import re
from pathlib import Path

import pytest

import afterglow
from afterglow.cli import run
from afterglow.cli.wording import ONLY_PYTHON, spoken
from testbed.quick_disk import quick_folder
from testbed.service import command as in_its_own_process

ROOT = Path(__file__).parents[2]
ARGUMENT = re.compile(r"\b[a-z_]+=(True|False|None|'|\")")


def test_of_two_ways_to_say_it_the_option_is_kept() -> None:
    assert spoken("say which, such as column='sum' (--column sum)") == "say which, such as --column sum"
    assert spoken("such as column='Umsatz (€)' (--column 'Umsatz (€)'); x") == "such as --column 'Umsatz (€)'; x"
    assert spoken("with season=24 (--season 24) a fit allows for it") == "with --season 24 a fit allows for it"
    assert spoken("a=b is no option, and (so) is this") == "a=b is no option, and (so) is this"


def test_every_sentence_about_read_only_has_words_for_the_command_line() -> None:
    """A new or a changed one must be added to the table, or it would reach people as it is."""
    files = sorted((ROOT / "src/afterglow/live").rglob("*.py"))
    told = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if "; " in line]
    said = [line for line in told if "raise" in line and "read_only" in line]
    assert len(said) >= 3
    for line in said:
        assert any(python in line for python in ONLY_PYTHON), line
    for python in ONLY_PYTHON:
        assert any(python in line for line in said), python


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
    assert said.rstrip().endswith("has several columns of times (von, bis); say which, such as --step von")
