"""`afterglow compare`: the job of `make run`."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from afterglow.cli import progress, run
from afterglow.lab.study import compare
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study
from support.worlds.small_study import LABELS, SMALL, SPREADS


@pytest.fixture(autouse=True)
def small_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def comparison(seed: int, size: compare.Size) -> Study:
        return replace(SMALL, seed=seed, name=size.name)

    monkeypatch.setattr(compare, "comparison", comparison)


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that only say of what they are, since drawing takes long."""

    def write(results: Results, folder: Path) -> Path:
        (folder / "index.html").write_text(results.folder.name)
        return folder / "index.html"

    monkeypatch.setattr("afterglow.lab.report.page.write_report", write)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_same_seed_gives_the_same_bytes_the_page_of_a_study_among_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = replace(SMALL, worlds=[{"rewards": [0.9, 0.5], "window": 4, "spread": "last"}])
    monkeypatch.setattr(compare, "comparison", lambda *_: tiny)
    for name, threads in (("a", "1"), ("b", "2")):
        assert run(["compare", "--quick", "--out", str(tmp_path / name), "--threads", threads]) == 0
    (folder,) = (tmp_path / "a" / "results").iterdir()
    tables = {f"results/{folder.name}/{table}.parquet" for table in ("cells", "runs", "curves")}
    assert set(contents(tmp_path / "a")) == {"index.html", *tables}
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    page = (tmp_path / "a" / "index.html").read_text(encoding="utf-8")
    assert "<h2>Theorem bounds</h2>" in page
    assert "afterglow run small.toml" in page


@pytest.mark.usefixtures("no_figures")
def test_the_table_comes_on_stdout_and_the_rest_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--quick", "--out", str(tmp_path / "new" / "out"), "--seed", "3"]) == 0
    printed = capsys.readouterr()
    rows = [line for line in printed.out.splitlines() if line.split("  ")[0] in LABELS]
    assert len(rows) == len(LABELS)
    assert all(len(re.findall(r"\d ±\d", row)) == len(SPREADS) for row in rows)
    assert "seed 3" in printed.out
    assert max(map(len, printed.out.splitlines())) <= 120
    assert printed.err.splitlines()[0] == "comparing 5 policies over 4 spreads, 2,000 steps, seed 3"
    assert printed.err.splitlines()[-1] == f"report: {tmp_path / 'new' / 'out' / 'index.html'}"


@pytest.mark.usefixtures("no_figures")
def test_the_least_of_each_column_is_marked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--quick", "--out", str(tmp_path)]) == 0
    table = capsys.readouterr().out.split("sorted by")[0]
    assert table.count("*") == len(SPREADS)
    assert "*" not in next(line for line in table.splitlines() if line.startswith("attributed-ucb"))


@pytest.mark.usefixtures("no_figures")
def test_json_has_the_study_its_cells_the_ranking_and_the_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", "--quick", "--out", str(tmp_path), "--json", "--threads", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["study"]["name"], found["study"]["seed"]) == ("compare-quick", 1)
    assert {"afterglow", "python", "numpy", "numba"} <= set(found["versions"])
    assert len(found["cells"]) == len(LABELS) * len(SPREADS)
    shares = [one["share"] for one in found["ranking"]]
    assert shares == sorted(shares)
    for one in found["ranking"]:
        regrets = {row["spread"]: row["regret"] for row in found["cells"] if row["label"] == one["label"]}
        assert regrets[one["spread"]] == max(regrets.values())
    for one in found["bounds"]:
        assert one["bound"] > one["regret"] > 0


@pytest.mark.usefixtures("no_figures")
def test_called_again_it_says_that_all_is_there_and_gives_the_same_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = ["compare", "--quick", "--out", str(tmp_path)]
    assert run(calls) == 0
    first, before = capsys.readouterr(), contents(tmp_path)
    monkeypatch.setattr("afterglow.lab.study.runner.run_tasks", lambda *_: pytest.fail("played again"))
    assert run(calls) == 0
    again = capsys.readouterr()
    assert again.out == first.out
    assert "all there already" in again.err
    assert "all there already" not in first.err
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("no_figures")
def test_another_seed_or_size_in_the_same_folder_mixes_nothing_and_the_page_is_that_of_the_last(tmp_path: Path) -> None:
    for call in (["--quick"], ["--quick", "--seed", "2"], []):
        before = contents(tmp_path / "results")
        assert run(["compare", "--out", str(tmp_path), *call]) == 0
        after = contents(tmp_path / "results")
        assert {name: after[name] for name in before} == before
        shown = (tmp_path / "index.html").read_text()
        assert {name.split("/")[0] for name in set(after) - set(before)} == {shown}


@pytest.mark.usefixtures("no_figures")
def test_interrupted_it_leaves_no_report_and_goes_on_when_called_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupting() -> progress.Show:
        def show(share: float, what: str, figures: str) -> None:
            if share > 0:
                raise KeyboardInterrupt

        return show

    call = ["compare", "--quick", "--threads", "1", "--out"]
    with monkeypatch.context() as patch:
        patch.setattr(progress, "lines", interrupting)
        assert run([*call, str(tmp_path / "a")]) == 130
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].endswith("run again to continue")
    assert not (tmp_path / "a" / "index.html").exists()
    (folder,) = (tmp_path / "a" / "results").iterdir()
    assert Results(folder).runs_done()[0] > 0
    for name in ("a", "b"):
        assert run([*call, str(tmp_path / name)]) == 0
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
