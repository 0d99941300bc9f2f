"""What results answer agrees with the runs themselves, and says exactly what it is."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from afterglow.engine.simulate import simulate
from afterglow.errors import BadValue, MissingExtra, UnknownName
from afterglow.lab.report.groups import Groups
from afterglow.lab.statistics import mean_interval, power_fit
from afterglow.lab.study.result_table.table import ResultTable, figure
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study
from afterglow.lab.study.summaries import settled
from afterglow.worlds.world import World

MEANS = [0.9, 0.6]
PLACE: dict[str, Any] = {"label": "leak-ucb", "arms": 2, "window": 4, "spread": "last", "horizon": 2_000}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    study = Study(
        policies=["leak-ucb", "ars-ucb"],
        worlds=[{"rewards": MEANS, "arms": [2, 4], "window": [4, 8], "spread": ["last", "uniform"]}],
        horizon=[500, 1_000, 2_000],
        runs=30,
        checkpoints=8,
        seed=5,
    )
    return study.run(tmp_path_factory.mktemp("results"))


def alone(results: Results, **place: Any) -> dict[str, Any]:
    """The one cell at a place."""
    (cell,) = results.chosen(PLACE | place)
    return cell


def test_every_run_is_the_one_that_simulate_plays(results: Results) -> None:
    cell = alone(results)
    outcome = simulate(
        "leak-ucb", World.of(MEANS, 4, "last"), 2_000, 30, 5, checkpoints=cell["checkpoints"], recommend=True
    )
    runs, (marks, regret, share) = results.runs_of(cell["cell"]), results.curves_of(cell["cell"])
    assert runs["regret"].tolist() == outcome.regrets.tolist()
    assert runs["pulls"].tolist() == outcome.pulls.tolist()
    assert outcome.recommended is not None
    assert runs["recommended"].tolist() == outcome.recommended.tolist()
    assert marks.tolist() == outcome.checkpoints.tolist()
    assert regret.tolist() == outcome.curves.tolist()
    assert share.tolist() == outcome.shares.tolist()


def test_the_summary_has_the_mean_and_its_interval(results: Results) -> None:
    table = results.summary()
    assert len(table) == 48
    cell = alone(results)
    runs = results.runs_of(cell["cell"])
    (row,) = results.summary(label="leak-ucb", arms=2, window=4, spread="last", horizon=2_000)
    known = mean_interval(runs["regret"])
    assert (row["regret"], row["low"], row["high"]) == (known.value, known.low, known.high)
    assert row["best_arm"] == pytest.approx(runs["pulls"][:, 0].mean() / 2_000)
    assert row["found"] == (runs["recommended"] == 0).mean()


def test_where_runs_is_a_list_the_longest_cell_stands_for_those_that_begin_it(tmp_path: Path) -> None:
    study = Study(
        policies=["trim-ucb", "ars-ucb", {"policy": "leak-ucb", "runs": 5}],
        worlds=[{"rewards": MEANS, "window": 4}], horizon=[500, 1_000], runs=[8, 4], engine="hold",
    )  # fmt: skip
    assert [cell.runs for cell in study.cells if cell.label == "leak-ucb"] == [5, 5]
    results = study.run(tmp_path)
    long, short = (results.runs_of(results.chosen({"label": "trim-ucb", "runs": runs})[0]["cell"]) for runs in (8, 4))
    assert long["regret"][:4].tolist() == short["regret"].tolist()
    assert [row["runs"] for row in results.paired("trim-ucb", "ars-ucb")] == [8, 8]
    assert [row["runs"] for row in results.paired("trim-ucb", "leak-ucb")] == [5, 5]
    assert [row["runs"] for row in results.paired("trim-ucb", "ars-ucb", runs=4)] == [4, 4]
    assert [row["points"] for row in results.rate("horizon", label="trim-ucb")] == [2]
    assert {cell["runs"] for group in Groups(results).all for cell in group.cells.values()} == {8, 5}
    assert "same rewards" not in results.paired("trim-ucb", "ars-ucb").caption


def test_a_notebook_is_not_flooded_with_rows() -> None:
    shown = ResultTable(
        [{"label": "a", "regret": float(row)} for row in range(2_000)], "regret: as it is"
    )._repr_html_()
    assert shown.count("<tr>") == 501
    assert "the first 500 of 2,000 rows, to_pandas() has them all; regret: as it is" in shown


def test_paired_compares_run_by_run(results: Results) -> None:
    table = results.paired("leak-ucb", "ars-ucb")
    assert len(table) == 24
    (row,) = results.paired("leak-ucb", "ars-ucb", arms=2, window=4, spread="last", horizon=2_000)
    gap = (
        results.runs_of(alone(results)["cell"])["regret"]
        - results.runs_of(alone(results, label="ars-ucb")["cell"])["regret"]
    )
    known = mean_interval(gap)
    assert (row["difference"], row["low"], row["high"]) == (known.value, known.low, known.high)
    assert (row["a_wins"], row["b_wins"], row["ties"]) == (sum(gap < 0), sum(gap > 0), sum(gap == 0))
    (swapped,) = results.paired("ars-ucb", "leak-ucb", arms=2, window=4, spread="last", horizon=2_000)
    assert (swapped["difference"], swapped["a_wins"]) == (-row["difference"], row["b_wins"])


@pytest.mark.parametrize(("along", "lines", "values"), [("horizon", 16, [500, 1_000, 2_000]), ("window", 24, [4, 8])])
def test_rate_fits_a_line_for_all_else_the_same(results: Results, along: str, lines: int, values: list[int]) -> None:
    table = results.rate(along)
    assert len(table) == lines
    (row,) = [
        row
        for row in table
        if (row["label"], row["spread"], row["arms"]) == ("leak-ucb", "last", 2)
        and row.get("window", 4) == 4
        and row.get("horizon", 2_000) == 2_000
    ]
    cells = [alone(results, **{along: value}) for value in values]
    samples = np.stack([results.runs_of(cell["cell"])["regret"] for cell in cells], axis=1)
    known = power_fit(np.array(values, float), samples)
    assert (row["exponent"], row["low"], row["high"]) == pytest.approx(
        (known.exponent.value, known.exponent.low, known.exponent.high)
    )
    assert row["points"] == len(values)


def test_rate_along_arms_holds_the_laws_and_varies_their_number(results: Results) -> None:
    table = results.rate("arms", label="leak-ucb", horizon=2_000)
    assert {row["laws"] for row in table} == {"bernoulli:0.9 bernoulli:0.6"}
    assert all(row["exponent"] > 0.5 for row in table)  # each further arm must be tried


def test_a_rate_needs_a_list_to_go_along(results: Results) -> None:
    with pytest.raises(BadValue, match="differ in horizon alone, at least 2; give horizon as a list"):
        results.rate("horizon", horizon=500)


def test_quantiles_and_found_and_settled_agree_with_the_runs(results: Results) -> None:
    cell, place = alone(results), PLACE
    regret = np.sort(results.runs_of(cell["cell"])["regret"])
    half, tenth = results.quantiles((0.5, 0.1), **place)
    assert results.quantiles(0.5, **place).rows == [half]
    assert (half["regret"], tenth["regret"]) == (regret[14], regret[2])
    (found,) = results.best_found(**place)
    assert found["hits"] == sum(results.runs_of(cell["cell"])["recommended"] == 0)
    assert found["low"] <= found["probability"] <= found["high"]
    (time,) = results.time_to_best(**place)
    times = settled(*results.curves_of(cell["cell"])[::2], 0.95)
    assert time["reached"] == np.isfinite(times).mean() > 0.5
    assert time["median"] == np.sort(times)[14]


def test_a_run_settles_at_the_last_checkpoint_before_it_keeps_to_the_best_arm() -> None:
    marks = np.array([10.0, 20.0, 40.0])
    counts = np.array([[10, 20, 40], [0, 10, 30], [5, 15, 33], [0, 0, 20], [10, 12, 30]])
    assert settled(marks, counts / marks, 0.95).tolist() == [0.0, 10.0, math.inf, 20.0, math.inf]


def test_arms_of_equal_mean_are_all_best(tmp_path: Path) -> None:
    study = Study(policies=["ars-ucb"], worlds=[{"rewards": [0.5, 0.5], "window": 2}], horizon=200, runs=10)
    (row,) = study.run(tmp_path).best_found()
    assert row["probability"] == 1.0


@pytest.mark.parametrize("of", ["mean", "runs"])
def test_a_simultaneous_band_is_the_wider_and_says_so(results: Results, of: str) -> None:
    narrow, wide = results.bands(of, **PLACE), results.bands(of, simultaneous=True, **PLACE)
    assert [row["t"] for row in narrow] == alone(results)["checkpoints"]
    for one, two in zip(narrow, wide, strict=True):
        assert two["high"] - two["low"] >= one["high"] - one["low"] - 1e-9
    assert "by itself" in narrow.caption
    assert "at once" in wide.caption or "whole curves" in wide.caption


def test_tables_go_to_pandas_and_polars_with_their_cells(results: Results) -> None:
    frame = results.to_pandas()
    assert len(frame) == 48 * 30
    one = frame[(frame.label == "leak-ucb") & (frame.arms == 2) & (frame.window == 4) & (frame.spread == "last")]
    runs = results.runs_of(alone(results)["cell"])
    assert one[one.horizon == 2_000]["regret"].tolist() == runs["regret"].tolist()
    curves = results.to_polars("curves")
    assert curves.shape[0] == 48 * 30 * 8
    assert {"label", "spread", "t", "regret", "share"} <= set(curves.columns)
    assert results.to_polars("cells")["horizon"].unique().sort().to_list() == [500, 1_000, 2_000]
    table = results.summary()
    assert isinstance(table.to_pandas(), pd.DataFrame)
    assert table.to_polars()["regret"].to_list() == [row["regret"] for row in table]


def test_a_missing_library_is_named_with_its_extra(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingExtra, match=r"\.\[tables\]"):
        results.to_polars()


def test_rows_are_plain_data(results: Results) -> None:
    for table in (results.summary(), results.paired("leak-ucb", "ars-ucb"), results.rate(), results.time_to_best()):
        json.dumps(table.rows, allow_nan=False)


def test_a_sheet_prints_what_is_common_above_and_what_its_intervals_are_below(results: Results) -> None:
    text = str(results.summary(label="leak-ucb", arms=2, window=4))
    lines = text.splitlines()
    assert lines[0] == "label leak-ucb, arms 2, rewards 0.9 0.6, window 4, seed 5"
    assert lines[1].split()[:3] == ["spread", "horizon", "runs"]
    assert "95% interval of the mean (Student's t, each row by itself)" in " ".join(lines)


def test_in_a_notebook_results_are_a_table_that_escapes_what_it_shows(results: Results) -> None:
    page = results._repr_html_()
    assert page.count("<tr>") == 49
    assert page.count("<svg") == 48  # each interval is drawn
    assert "interval of the mean" in page
    assert "<b>" not in ResultTable([{"label": "<b>"}], "<b>")._repr_html_()


def test_intervals_are_drawn_on_one_scale_and_what_is_unknown_is_left_out() -> None:
    rows = [{"regret": value, "low": low, "high": 8.0} for value, low in ((4.0, 0.0), (6.0, 4.0), (5.0, None))]
    page = ResultTable(rows, "")._repr_html_()
    assert page.count("<svg") == 2
    assert 'x1="5.0" x2="145.0"' in page
    assert 'x1="75.0" x2="145.0"' in page


def test_figures_are_short() -> None:
    assert [figure(x) for x in (None, 1234567, 0.123456, 12345.6, math.inf, True, "x", [1, 2])] == [
        "–", "1,234,567", "0.1235", "12,346", "∞", "true", "x", "1 2",
    ]  # fmt: skip


def test_unknown_labels_columns_and_folders_are_refused(results: Results, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no policy named 'leak-ucv'; did you mean 'leak-ucb'"):
        results.paired("leak-ucv", "ars-ucb")
    with pytest.raises(UnknownName, match="no column named 'spred'; did you mean 'spread'"):
        results.summary(spred="last")
    with pytest.raises(BadValue, match="no cell with runs has spread = 'hoard'"):
        results.summary(spread="hoard")
    with pytest.raises(BadValue, match="has no results"):
        Results(tmp_path)
    (tmp_path / "mine.toml").touch()
    with pytest.raises(BadValue, match=r"mine\.toml is a study; give the folder of its results"):
        Results(tmp_path / "mine.toml")
