"""`afterglow compare`: the job of `make run`."""

import json
import re
from pathlib import Path

import pytest

from afterglow.cli import run
from afterglow.lab import compare as study
from small_study import LABELS, SMALL


@pytest.fixture(autouse=True)
def small_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "QUICK", SMALL)


def test_the_table_comes_on_stdout_and_the_rest_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--quick", "--out", str(tmp_path / "new" / "out"), "--seed", "3"]) == 0
    printed = capsys.readouterr()
    rows = [line for line in printed.out.splitlines() if line.split("  ")[0] in LABELS]
    assert len(rows) == len(LABELS)
    assert all(len(re.findall(r"\d ±\d", row)) == len(SMALL.spreads) for row in rows)
    assert "seed 3" in printed.out
    assert max(map(len, printed.out.splitlines())) <= 120
    assert printed.err.splitlines()[0] == "comparing 5 policies over 4 spreads, 2,000 steps, seed 3"
    assert printed.err.splitlines()[-1] == f"report: {tmp_path / 'new' / 'out' / 'index.html'}"
    assert (tmp_path / "new" / "out" / "index.html").exists()


def test_the_least_of_each_column_is_marked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--quick", "--out", str(tmp_path)]) == 0
    table = capsys.readouterr().out.split("in the order of")[0]
    assert table.count("*") == len(SMALL.spreads)
    assert "*" not in next(line for line in table.splitlines() if line.startswith("attributed-ucb"))


def test_json_is_the_results_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--quick", "--out", str(tmp_path), "--json", "--threads", "1"]) == 0
    stored = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert json.loads(capsys.readouterr().out) == stored


def test_progress_is_a_plain_line_now_and_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.cli.progress.EVERY", 0.0)
    assert run(["compare", "--quick", "--out", str(tmp_path)]) == 0
    assert "25% done, playing phased-elimination, last" in capsys.readouterr().err


def test_interrupted_it_exits_130_and_leaves_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "play", interrupted)
    assert run(["compare", "--quick", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []
