"""`afterglow fit`."""

import json
from pathlib import Path

import pytest

from afterglow.cli import run
from afterglow.lab.fit.fitting import fit
from support.worlds.recorded_steps import as_csv, recorded


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "steps.csv"
    path.write_text(as_csv(recorded(1, 3000, 60)), encoding="utf-8")
    return path


def test_the_verdict_comes_first_then_means_then_kernels(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", str(table), "--window", "24", "--reward-max", "1"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("leading: C has the highest mean")
    assert "\na window of 24 appears long enough" in said
    assert [line[0] for line in said.splitlines() if line[:3] in ("A  ", "B  ", "C  ")] == ["C", "B", "A"]
    assert "16–23" in said


def test_the_decimal_sign_may_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "steps.csv"
    path.write_text(as_csv(recorded(1, 600, 30)).replace(",", ";").replace(".", ","), encoding="utf-8")
    assert run(["fit", str(path), "--window", "6", "--decimal", ",", "--zone", "UTC", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["window"] == 6
    assert run(["fit", str(path), "--decimal", "point"]) == 2
    assert "decimal" in capsys.readouterr().err


def test_arms_are_compared_with_one_and_a_season_is_allowed_for(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fit", str(table), "--window", "24", "--reward-max", "1"]) == 0
    said = capsys.readouterr().out
    assert "average per pull, compared with C" in said
    assert "B - C" in said
    assert "proved" in said
    assert run(["fit", str(table), "--window", "24", "--season", "24", "--against", "A"]) == 0
    said = capsys.readouterr().out
    assert [line[:5] for line in said.splitlines() if " - " in line] == ["C - A", "B - A"]
    assert "window 24, season 24; 95% intervals, simultaneous for differences" in said
    assert "proved" not in said
    assert run(["fit", str(table), "--against", "D"]) == 2
    assert "no arm named 'D'; the arms are A, B, C" in capsys.readouterr().err


def test_columns_may_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = as_csv(recorded(1, 600, 30)).replace("step,arm,total", "von,wie,was").splitlines()
    path = tmp_path / "steps.csv"
    path.write_text("\n".join(f"{row},{len(row)},{len(row)}" for row in rows).replace("was,11,11", "was,size,sum"))
    assert run(["fit", str(path)]) == 1
    assert "has no column for the arm; it has 'von', 'wie', 'was', 'size', 'sum'" in capsys.readouterr().err
    named = ["--step", "von", "--arm-column", "wie", "--column", "was"]
    assert run(["fit", str(path), *named, "--window", "6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["means"] == fit(recorded(1, 600, 30), 6).to_dict()["means"]


def test_json_is_the_whole_fit_and_notes_go_to_stderr(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", str(table), "--window", "24", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == json.loads(json.dumps(fit(table, 24).to_dict()))
    assert "note: no proved bounds: they hold only if --window and --reward-max are right; give both" in said.err


def test_the_page_and_the_figures_go_where_they_are_wanted(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "folder"
    assert run(["fit", str(table), "--window", "24", "--json", "--out", str(folder)]) == 0
    drawn = [f"{name}.{kind}" for name in ("differences", "kernels", "means", "timeline") for kind in ("png", "svg")]
    assert sorted(path.name for path in folder.iterdir()) == sorted([*drawn, "fit.json", "index.html"])
    said = capsys.readouterr()
    assert f"report: {folder / 'index.html'}" in said.err
    assert json.loads((folder / "fit.json").read_text(encoding="utf-8")) == json.loads(said.out)


@pytest.mark.parametrize(
    ("text", "code", "sentence"),
    [
        ("step,arm,total\n1,A,3\n2,B,x\n3,A,1\n", 1, "bad.csv, row 3, column 'total': 'x' is no number"),
        ("step,arm,total\n1,A,3\n2,A,4\n", 2, "a fit needs at least two arms, the table has 'A'"),
        (None, 2, "can't be read: no such file or directory"),
    ],
)
def test_what_cant_be_fitted_is_one_sentence(
    text: str | None, code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert run(["fit", str(path)]) == code
    assert sentence in capsys.readouterr().err


def test_options_are_checked(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fit", str(table), "--window", "0"]) == 2
    assert "--window must be a whole number of at least 1" in capsys.readouterr().err
    assert run(["fit", str(table), "--reward-max", "none"]) == 2
    assert "--reward-max must be a number above 0, got 'none'" in capsys.readouterr().err


def test_the_file_must_be_given_and_the_old_name_of_a_column_is_refused(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fit", "--window", "24"]) == 2
    assert "FILE.csv" in capsys.readouterr().err
    assert run(["fit", str(table), "--arm", "variant"]) == 2
    assert capsys.readouterr().err == "--arm is called --arm-column here: it names the column of the arms\n"


def test_effects_by_lag_are_written_for_media_mix_models(table: Path, tmp_path: Path) -> None:
    places = [tmp_path / "priors.csv", tmp_path / "priors.json"]
    for place in places:
        assert run(["fit", str(table), "--window", "24", "--against", "A", "--priors", str(place)]) == 0
    made = fit(table, window=24, against="A").priors()
    assert places[0].read_text(encoding="utf-8") == made.to_csv()
    assert json.loads(places[1].read_text(encoding="utf-8")) == made.to_dict()


def test_priors_of_another_kind_are_refused_before_anything_is_fitted(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fit", str(table), "--priors", "priors.xlsx"]) == 2
    assert capsys.readouterr().err == "--priors must end with .csv or .json, got 'priors.xlsx'\n"
    assert run(["fit", str(table), "--unit", "arm", "--priors", "priors.csv"]) == 2
    assert "--priors is for one total, not for a fit of several units; leave it out" in capsys.readouterr().err
