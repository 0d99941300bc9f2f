"""The report of a study: one page that needs nothing else, figures for papers, one run to look at."""

import re
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from afterglow.cli import run
from afterglow.errors import UnknownName
from afterglow.lab.rendering import pdf as printing
from afterglow.lab.rendering.palette import VARIABLES
from afterglow.lab.report import figure_files
from afterglow.lab.report import page as report_page
from afterglow.lab.report.figure_files import save_figures
from afterglow.lab.report.figures import drawn
from afterglow.lab.report.groups import Groups
from afterglow.lab.report.headline import tied
from afterglow.lab.report.one_run import picture_of
from afterglow.lab.report.page import page_of, write_report
from afterglow.lab.report.theorem_bounds import bound
from afterglow.lab.study.folder import JOURNAL
from afterglow.lab.study.identity import identity
from afterglow.lab.study.journal import Journal, header
from afterglow.lab.study.play import Piece, play
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study
from afterglow.lab.study.tables import write_cells
from afterglow.lab.study.toml_text import toml_of
from support.browser.page_names import Names

STUDY = Study(
    policies=["trim-ucb", "ucb1", "attributed-ucb", {"policy": "phased-ucb", "constants": "corrected"}],
    worlds=[{"rewards": [0.9, 0.6, 0.5], "window": 4, "spread": "last"}],
    horizon=[2_000, 4_000, 8_000],
    runs=6,
    checkpoints=8,
    name="little",
    question="Is <least> enough?",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return STUDY.run(tmp_path_factory.mktemp("little"))


@pytest.fixture(scope="module")
def gallery(results: Results) -> Any:
    return drawn(results)


@pytest.fixture(scope="module")
def page(gallery: Any) -> str:
    return page_of(gallery)


@pytest.fixture
def few(gallery: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Reports of two figures, since drawing takes long; their names."""
    made = {name: gallery.made[name] for name in ("log-1", "one-run", "one-run-narrow")}
    short = copy(gallery)
    short.made = made
    for module in (report_page, figure_files):
        monkeypatch.setattr(module, "drawn", lambda *_, **__: short)
    return [gallery.made[name].file for name in ("log-1", "one-run")]


def section(page: str, title: str) -> str:
    return page.split(f"<h2>{title}</h2>")[1].split("</section>", maxsplit=1)[0]


# The page


def test_the_page_needs_no_network_and_is_well_formed(page: str) -> None:
    assert not re.search(r"https?:|//[a-z]|@import|<script|<link|<img", page)
    names = Names(page)
    assert names.open == []
    assert names.used <= set(names.ids)
    drawings = "".join(re.findall(r'<svg class="drawn".*?</svg>', page, re.DOTALL))
    assert not any(colour in drawings for colour in VARIABLES)


def test_the_question_comes_first_and_then_the_answer(page: str, results: Results) -> None:
    winner = Groups(results).ranking[0]
    top = page.split("<h2>", maxsplit=1)[0]
    assert top.index("<h1>Is &lt;least&gt; enough?</h1>") < top.index(f"<strong>{winner.label}</strong>")
    assert "Incomplete" not in page


def test_an_unfinished_study_says_so_and_how_much_of_it_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = Study(
        policies=["trim-ucb", "ucb1", "leak-ucb"], worlds=[{"rewards": [0.9, 0.6], "window": 4}], horizon=500, runs=8,
        checkpoints=4,
    )  # fmt: skip
    told = study.run(tmp_path / "whole")
    (tmp_path / "part").mkdir()
    write_cells(tmp_path / "part", study.cells, identity(study))
    with Journal(tmp_path / "part" / JOURNAL, identity(study)) as journal:
        for batch in play([Piece(study.cells[0], 0, 8), Piece(study.cells[1], 0, 3)], budget=60).batches:
            journal.append(batch)
    part = Results(tmp_path / "part")
    assert (part.complete, part.runs_done()) == (False, (11, 24))
    page = page_of(drawn(part))
    top = re.sub(r"\s+", " ", page.split("<h2>", maxsplit=1)[0])
    assert "Incomplete." in top
    assert "11 of 24 runs (46 %) and 1 of 3 cells are finished. No runs yet of leak-ucb." in top
    assert part.runs_of(0)["regret"].tolist() == told.runs_of(0)["regret"].tolist()
    assert run(["report", str(part.folder), "--format", "png"]) == 0
    assert capsys.readouterr().err.startswith("incomplete: the report has 11 of 24 runs; ")


@pytest.mark.parametrize("length", [0, 100, None])
def test_a_study_killed_before_its_first_table_says_that_nothing_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], length: int | None
) -> None:
    (tmp_path / JOURNAL).write_bytes(header(identity(STUDY))[:length])
    assert run(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (f"nothing of {tmp_path} is run yet; run `afterglow run` for longer\n")


def test_all_policies_are_ranked_and_the_one_that_is_told_too_much_has_no_number(page: str, results: Results) -> None:
    table = section(page, "Ranking at 8,000 steps")
    assert re.findall(r'class="name">([^<]*)<', table) == [one.label for one in Groups(results).ranking]
    row = next(row for row in table.split("<tr")[1:] if "attributed-ucb" in row)
    assert 'class="reference"' in row
    assert '<td class="num"></td>' in row


@pytest.mark.parametrize("engine", ["hold", "auto"])
def test_who_can_not_be_told_from_the_first_is_decided_by_the_difference(tmp_path: Path, engine: str) -> None:
    worlds = [{"rewards": [0.9, 0.7], "window": 4, "spread": "last"}]
    study = Study(["ucb1", "ars-ucb"], worlds, 3_000, 12, checkpoints=2, engine=engine)
    results = study.run(tmp_path)
    groups = Groups(results)
    first, second = (results.runs_of(groups.all[0].cells[one.label]["cell"])["regret"] for one in groups.ranking)
    if engine == "hold":
        known = stats.ttest_rel(second, first).confidence_interval(0.95)
    else:
        known = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    found = groups.behind(groups.ranking[1].label, groups.ranking[0].label)
    scale = groups.all[0].at_random
    assert (scale * found.low, scale * found.high) == pytest.approx((known.low, known.high))
    assert tied(groups, groups.ranking) == ([groups.ranking[1].label] if known.low <= 0 else [])


def test_noise_that_all_share_does_not_hide_who_is_better(tmp_path: Path) -> None:
    worlds = [{"rewards": [0.9, 0.7], "window": 4, "spread": "last"}]
    results = Study(["leak-ucb", "trim-ucb"], worlds, 500, 8, checkpoints=2, engine="hold").run(tmp_path)
    luck = np.linspace(0, 100, 8)
    for cell, more in ((0, np.zeros(8)), (1, np.linspace(1, 2, 8))):
        results._columns[cell]["regret"] = luck + more
    groups = Groups(results)
    least, most = groups.ranking
    assert most.share.low < least.share.high  # their intervals overlap
    assert tied(groups, groups.ranking) == []


def test_what_the_first_loses_is_said_to_the_second_digit_of_its_error(tmp_path: Path) -> None:
    worlds = [{"rewards": [0.9, 0.7], "window": 4, "spread": "last"}]
    results = Study(["leak-ucb", "trim-ucb"], worlds, 500, 8, checkpoints=2, engine="hold").run(tmp_path)
    for cell in (0, 1):
        results._columns[cell]["regret"] = np.linspace(4 + cell, 6 + cell, 8)  # 5 ± 0.5851 of Student's t
    text = page_of(drawn(results))
    assert "has the smallest regret: 5.00\u00a0±\u00a00.59 over" in re.sub(r"\s*\n", " ", text)


def test_an_average_over_places_has_the_interval_of_runs(results: Results) -> None:
    groups = Groups(results)
    found = groups.share("ucb1", groups.all)
    parts = [results.runs_of(group.cells["ucb1"]["cell"])["regret"].mean() / group.at_random for group in groups.all]
    assert found.value == pytest.approx(sum(parts) / len(parts))
    assert found.low < found.value < found.high


def test_the_study_can_be_played_again_from_the_page(page: str, tmp_path: Path) -> None:
    text = toml_of(STUDY.to_dict())
    (tmp_path / "little.toml").write_text(text, encoding="utf-8")
    assert [cell.title for cell in Study.read(tmp_path / "little.toml").cells] == [cell.title for cell in STUDY.cells]
    assert text.splitlines()[0] in page.replace("&#34;", '"')
    assert "afterglow run little.toml" in page


def test_a_single_panel_is_no_smaller_on_a_desk_than_on_a_phone(page: str) -> None:
    alone = re.search(r"\.panels:has\(> figure:only-of-type\) \{ grid-template-columns: minmax\(0, (\d+)rem\)", page)
    assert alone is not None
    assert 16 * int(alone[1]) > 390


def test_a_name_with_a_space_is_quoted_in_the_commands_to_play_it_again(gallery: Any) -> None:
    study = gallery.groups.results.study
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(study, "name", "my study")
        page = page_of(gallery).replace("&#39;", "'")
    assert "afterglow run 'my study.toml'\nafterglow report 'results/my study'" in page


def test_curves_come_in_both_scales_and_growth_with_its_exponents(gallery: Any, page: str) -> None:
    kinds = [one.kind for one in gallery.made.values()]
    assert kinds.count("log") == kinds.count("linear") == kinds.count("share") == 1
    assert kinds.count("along") == 1
    assert "exponent" in section(page, "How regret grows")


def test_the_same_results_give_the_same_page(page: str, results: Results, tmp_path: Path) -> None:
    assert write_report(Results(results.folder), tmp_path).read_text(encoding="utf-8") == page


# Bounds


def test_a_bound_is_shown_where_its_assumptions_hold_and_only_there(tmp_path: Path) -> None:
    worlds = [{"rewards": [0.9, 0.6], "window": 8}]
    wrong = Study(["trim-ucb", "leak-ucb"], worlds, 1_000, 2, told_window=["x1/2", "x1", "x2"]).run(tmp_path)
    groups = Groups(wrong)
    told = {group.place["told"]: bound(group, "trim-ucb") for group in groups.all}
    assert told["1/2"] is None
    assert told["2"] is not None
    assert told["1"] is not None
    assert told["2"] > told["1"]
    assert bound(groups.all[0], "leak-ucb") is None


# One run


@pytest.mark.parametrize("spread", ["last", "handicap", "hoard", "dirichlet"])
def test_the_leakage_of_a_strip_is_what_earlier_runs_earned(results: Results, spread: str) -> None:
    cell = next(cell for cell in results.cells if cell["label"] == "ucb1")
    picture = picture_of(cell | {"spread": spread, "horizon": 200}, "")
    assert picture is not None
    assert len(picture.runs) > 3
    late = picture.world.window - 1
    for one in picture.runs:
        assert abs(one.seen - one.earned) <= late + 1e-9
        if spread == "last":  # a total is the reward of the pull made window - 1 steps before
            for step in range(one.begin, one.end):
                earlier = step - late < one.begin
                assert picture.leaked[step] == (picture.totals[step] if earlier else 0.0)
    assert sum(picture.leaked) > 0
    assert all(leaked <= total + 1e-9 for leaked, total in zip(picture.leaked, picture.totals, strict=True))


def test_what_no_agent_could_play_has_no_strip(results: Results) -> None:
    cell = next(cell for cell in results.cells if cell["label"] == "attributed-ucb")
    assert picture_of(cell, "") is None


# Files


def test_figures_are_saved_for_papers_with_one_call(results: Results, few: list[str], tmp_path: Path) -> None:
    made = save_figures(results, tmp_path, formats=["svg", "pdf"])
    assert [path.name for path in made] == [f"{name}.{kind}" for name in few for kind in ("svg", "pdf")]
    assert all(path.read_bytes()[:4] == b"%PDF" for path in made if path.suffix == ".pdf")


def test_without_a_browser_the_pdf_has_the_figures(
    results: Results, few: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "BROWSERS", ("no-such-browser",))
    path = write_report(results, tmp_path, "pdf")
    assert path.name == "report.pdf"
    assert path.read_bytes().count(b"/Type /Page ") == len(few)


def test_the_command_writes_beside_the_tables_unless_told_where(
    results: Results, few: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(results.folder), "--format", "png"]) == 0
    place = results.folder / "report" / "figures"
    assert sorted(path.name for path in place.iterdir()) == sorted(["index.html", *(f"{name}.png" for name in few)])
    assert capsys.readouterr().err == f"report: {place}\n"


def test_a_format_that_is_not_there_is_named(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(results.folder), "--format", "word"]) == 2
    assert "format" in capsys.readouterr().err
    with pytest.raises(UnknownName, match="gif"):
        save_figures(results, results.folder, formats=["gif"])
