"""Results of several folders become one; tables for LaTeX; best-arm identification as an objective."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow.cli import run
from afterglow.errors import BadValue
from afterglow.lab.report.figures import drawn
from afterglow.lab.report.page import page_of
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study

WORLD = {"rewards": [0.5, 0.4, 0.3], "window": 4, "spread": "last"}


def small(**fields: Any) -> Study:
    usual: dict[str, Any] = {"policies": ["trim-ucb"], "worlds": [WORLD], "horizon": 400, "runs": 6, "checkpoints": 3}
    return Study(**usual | fields)


# Merging


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return small(policies=["trim-ucb", "ucb1"]).run(tmp_path_factory.mktemp("first") / "a")


def test_merged_results_have_every_cell_once_with_the_most_runs(first: Results, tmp_path: Path) -> None:
    second = small(policies=["leak-ucb", "trim-ucb"], runs=9, seed=[1, 2]).run(tmp_path / "b")
    merged = first.merge(second, out=tmp_path / "both")
    found = {(row["label"], row["seed"]): row["runs"] for row in merged.cells}
    assert found == {("trim-ucb", 1): 9, ("ucb1", 1): 6, ("leak-ucb", 1): 9, ("trim-ucb", 2): 9, ("leak-ucb", 2): 9}
    for part in (first, second):
        for row in part.cells:
            (twin,) = (one for one in merged.cells if (one["label"], one["seed"]) == (row["label"], row["seed"]))
            old, new = part.runs_of(row["cell"])["regret"], merged.runs_of(twin["cell"])["regret"]
            assert new[: old.size].tolist() == old.tolist()
            assert np.array_equal(merged.curves_of(twin["cell"])[1][: old.size], part.curves_of(row["cell"])[1])
    assert merged.seed == [1, 2]
    assert page_of(drawn(merged)).count("name = &#34;study&#34;") == 2
    whole = small(policies=["trim-ucb", "ucb1", "leak-ucb"], runs=9, seed=[1, 2]).run(merged.folder)
    assert whole.complete  # merged results can be extended
    assert whole.runs_of(0)["regret"].tolist() == second.runs_of(1)["regret"].tolist()


def test_what_can_not_be_one_table_is_not_merged(first: Results, tmp_path: Path) -> None:
    other = small(policies=[{"policy": "leak-ucb", "label": "ucb1"}]).run(tmp_path / "b")
    with pytest.raises(BadValue, match=r"ucb1 is other code in .*; give one of them another label"):
        first.merge(other, out=tmp_path / "both")
    level = small(policies=[{"policy": "trim-ucb", "level": "strict", "label": "trim-ucb"}], seed=3).run(tmp_path / "c")
    with pytest.raises(BadValue, match=r"trim-ucb has options \{\} and \{'level': 'strict'\}"):
        first.merge(level, out=tmp_path / "both")
    with pytest.raises(BadValue, match="must be a new or empty folder"):
        first.merge(other, out=first.folder)
    assert not (tmp_path / "both").exists()


# LaTeX


def test_a_table_for_latex_has_intervals_and_no_bare_special_characters(first: Results) -> None:
    text = first.to_latex(label="tab:regret")
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    row = first.summary()[0]
    assert f"{row['regret']:.4g} [{row['low']:.4g}, {row['high']:.4g}]" in body
    assert body.count(r"\\") == 2
    assert r"\label{tab:regret}" in text
    assert r"95\% interval of the mean" in text
    assert not re.search(r"(?<!\\)[%_#&$](?![^\n]*\\\\)", body.replace(" & ", " "))


# The best arm


@pytest.fixture(scope="module")
def budgets(tmp_path_factory: pytest.TempPathFactory) -> Results:
    study = small(
        policies=["trim-ucb", "ucb1", "attributed-ucb"], objective="best-arm", horizon=[100, 400, 5_000], runs=40,
        name="budgets", question="Which arm?",
    )  # fmt: skip
    return study.run(tmp_path_factory.mktemp("budgets"))


def test_the_probability_of_error_is_counted_with_exact_intervals(budgets: Results) -> None:
    from scipy.stats import binomtest

    rows = budgets.error_probability()
    assert len(rows) == 9
    for row, cell in zip(rows, budgets.cells, strict=True):
        chosen = budgets.runs_of(cell["cell"])["recommended"]
        wrong = int((chosen != 0).sum())
        known = binomtest(wrong, 40).proportion_ci(0.95, "exact")
        assert (row["wrong"], row["error"]) == (wrong, wrong / 40)
        assert (row["low"], row["high"]) == pytest.approx((known.low, known.high))
        assert row["simple_regret"] == pytest.approx(np.array([0.0, 0.1, 0.2])[chosen].mean())
    assert budgets.answer().rows == rows.rows


def test_the_page_leads_with_the_error_and_marks_where_no_run_was_wrong(budgets: Results) -> None:
    gallery = drawn(budgets)
    page = page_of(gallery)
    assert re.findall(r"<h2>([^<]*)</h2>", page)[1] == "Probability of error"
    top = re.sub(r"\s+", " ", page.split("<h2>", maxsplit=1)[0])
    both = "<strong>trim-ucb</strong> and <strong>ucb1</strong> recommend a wrong arm least often (at 5,000 steps)"
    assert f"{both}: in 0 % of the runs. Their 95 % intervals overlap." in top
    assert "<strong>attributed-ucb</strong>" not in top
    assert not re.search(r"\w[.:]<strong>|</strong>\w", top)
    (axes,) = gallery.made["error-1"].figure.axes
    zero = [row for row in budgets.error_probability() if row["error"] == 0]
    assert zero
    hollow = [line for line in axes.lines if line.get_marker() == "v"]
    assert sorted(float(np.asarray(line.get_ydata())[0]) for line in hollow) == pytest.approx(
        sorted(row["high"] for row in zero)
    )
    assert axes.get_ylim()[0] < min(row["low"] for row in budgets.error_probability() if row["error"] > 0)


def test_an_objective_is_checked_stored_and_printed(budgets: Results, tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(BadValue, match="no objective named 'best'"):
        small(objective="best")
    assert Results(budgets.folder).objective == "best-arm"
    assert "objective" not in small().to_dict()
    text = 'horizon = 200\nruns = 3\nobjective = "best-arm"\npolicies = ["ucb1"]\n'
    (tmp_path / "s.toml").write_text(text + "[[worlds]]\nrewards = [0.9, 0.1]\nwindow = 2\n")
    assert run(["run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]) == 0
    assert "simple_regret" in capsys.readouterr().out
