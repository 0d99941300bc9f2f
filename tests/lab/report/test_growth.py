"""A page leads with what its study asks; intervals that are drawn are the intervals computed; no panel goes unsaid."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from afterglow.cli import run
from afterglow.errors import BadValue, UnknownName
from afterglow.lab.rendering.log_axes import log_ticks
from afterglow.lab.rendering.paper import letters_for, style_of, styled
from afterglow.lab.rendering.style import blank_figure
from afterglow.lab.report.figure_files import labelled, save_figures
from afterglow.lab.report.figures import Gallery, drawn
from afterglow.lab.report.groups import Groups
from afterglow.lab.report.growth import Winner, fitted, succession, winners
from afterglow.lab.report.page import page_of
from afterglow.lab.report.winner_grid import winner_grid, won
from afterglow.lab.statistics import Interval
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study

LONG = "phased elimination with corrected constants and a label as long as those of papers"
STUDY = Study(
    policies=["trim-ucb", "ucb1", {"policy": "leak-ucb", "label": LONG}],
    worlds=[{"rewards": [0.9, 0.6], "window": 4, "spread": ["last", "hoard"]}],
    horizon=[500, 1_000, 2_000],
    runs=8,
    checkpoints=6,
    name="grows",
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return STUDY.run(tmp_path_factory.mktemp("grows"))


@pytest.fixture(scope="module")
def gallery(results: Results) -> Gallery:
    return drawn(results)


def test_a_study_of_horizons_leads_with_growth_and_ranks_at_the_longest(gallery: Gallery) -> None:
    page = page_of(gallery)
    titles = re.findall(r"<h2>([^<]*)</h2>", page)
    assert titles[:4] == ["Inputs", "How regret grows", "Who wins where", "Ranking at 2,000 steps"]
    first = gallery.groups.ranking[0].label
    assert f"<strong>{first}</strong>" in page.split("<h2>", maxsplit=1)[0]
    assert {group.place["horizon"] for group in gallery.groups.shared} == {2_000}


def test_places_that_are_alike_are_ranked_by_their_average(tmp_path: Path) -> None:
    worlds = [{"rewards": [0.9, 0.6], "window": 4, "spread": ["last", "hoard"]}]
    groups = Groups(Study(["trim-ucb", "leak-ucb"], worlds, 500, 4, checkpoints=2).run(tmp_path))
    assert groups.focus == []
    assert groups.shared == groups.all
    assert winners(groups) == []


def test_who_wins_where_is_the_smallest_mean_at_each_place(results: Results) -> None:
    groups = Groups(results)
    found = winners(groups)
    assert [one.place for one in found] == ["500 steps", "1,000 steps", "2,000 steps"]
    for one, horizon in zip(found, (500, 1_000, 2_000), strict=True):
        rows = results.summary(horizon=horizon)
        means = {label: sum(row["regret"] for row in rows if row["label"] == label) for label in results.labels}
        assert one.label == min(means, key=lambda label: means[label])
    assert [label for label, _, _ in succession(found)][-1] == groups.ranking[0].label


def test_a_grid_leads_with_who_wins_where(tmp_path: Path) -> None:
    worlds = [{"rewards": [0.9, 0.6], "window": [2, 40]}]
    results = Study(["trim-ucb", "leak-ucb", "ucb1"], worlds, [200, 2_000], 6, checkpoints=2).run(tmp_path)
    gallery = drawn(results)
    page = page_of(gallery)
    titles = re.findall(r"<h2>([^<]*)</h2>", page)
    assert titles[:4] == ["Inputs", "Who wins where", "How regret grows", "Winners with their intervals"]
    found = winners(gallery.groups)
    grid = winner_grid(gallery.groups, found)
    assert grid is not None
    assert (grid.columns, [name for name, _ in grid.rows]) == (["200", "2,000"], ["2", "40"])
    for window, (_, cells) in zip((2, 40), grid.rows, strict=True):
        for horizon, one in zip((200, 2_000), cells, strict=True):
            rows = results.summary(horizon=horizon, window=window)
            assert one is not None
            assert one.label == min(rows, key=lambda row: row["regret"])["label"]
    assert sum(one.places for one in grid.won) == 4
    assert f"Of 4 combinations of window and steps, <strong>{grid.won[0].label}</strong>" in page


def place(label: str, *at: int) -> Winner:
    return Winner("", at, label, Interval(0.1, 0.1, 0.1), None, [], 1)


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ("aab aab", {"a": "from 1 to 2 steps", "b": "at 3 steps"}),
        ("aaa bbb", {"a": "at window 1", "b": "at window 2"}),
        ("aba aba", {"a": "", "b": "at 2 steps"}),
        ("aab aaa", {"a": "", "b": "at 3 steps and window 1"}),
        ("aaa aaa", {"a": ""}),
    ],
)
def test_a_band_of_the_grid_is_said_in_words(row: str, where: dict[str, str]) -> None:
    cells = [place(label, x, y) for y, line in enumerate(row.split(), 1) for x, label in enumerate(line, 1)]
    found = won(["horizon", "window"], [[1, 2, 3], [1, 2]], cells)
    assert {one.label: one.where for one in found} == where


def test_the_fitted_curve_is_the_closer_of_a_power_and_a_logarithm() -> None:
    x = np.array([1e2, 1e3, 1e4, 1e5])
    power, line = fitted(x, 3 * x**0.5, True), fitted(x, 5 + 7 * np.log(x), True)
    assert power is not None
    assert line is not None
    assert (power.power, round(power.slope, 6), round(power.factor, 6)) == (True, 0.5, 3)
    assert (line.power, round(line.slope, 6), round(line.factor, 6)) == (False, 7, 5)
    assert fitted(x[:2], x[:2], True) is None
    assert fitted(x, 0 * x, True) is None


def test_intervals_drawn_are_those_of_the_summary(results: Results, gallery: Gallery) -> None:
    (axes,) = gallery.made["along-horizon-1"].figure.axes
    rows = results.summary(interval="log", spread="last", label="trim-ucb")
    line = next(one for one in axes.lines if one.get_gid() == "line-trim-ucb")
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx([row["regret"] for row in rows])
    bands = [np.asarray(one.get_paths()[0].vertices)[:, 1] for one in axes.collections]
    for end in ("low", "high"):
        drawn_ends = [row[end] for row in rows]
        assert any(all(np.isclose(band, value).any() for value in drawn_ends) for band in bands)


def test_a_mean_of_zero_is_marked_below_the_axis(results: Results) -> None:
    groups = Groups(results)
    cell = groups.all[0].cells["trim-ucb"]["cell"]
    kept = results._columns[cell]["regret"]
    results._columns[cell]["regret"] = np.zeros(8)
    try:
        made = Gallery(groups).made
    finally:
        results._columns[cell]["regret"] = kept
    for name in ("along-horizon-1", "dots-1"):
        assert [line for line in made[name].figure.axes[0].lines if line.get_gid() == "below"], name


def test_panels_that_are_left_out_are_counted_on_the_page(results: Results, gallery: Gallery) -> None:
    fewer = drawn(results, most=2)
    assert fewer.dropped == {"dots": (2, 3)}
    assert "2 of 3 setups are drawn" in page_of(fewer)
    assert gallery.dropped == {}
    assert "setups are drawn" not in page_of(gallery)


def test_the_command_says_how_many_panels(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("afterglow.lab.report.page.write_report", lambda *given: asked.append(given[-1]))
    for text in ("all", "12"):
        assert run(["report", str(results.folder), "--panels", text]) == 0
    assert asked == ["all", 12]
    assert run(["report", str(results.folder), "--panels", "1"]) == 2
    assert run(["report", str(results.folder), "--size", "column"]) == 2


@pytest.mark.parametrize(("low", "high"), [(110, 130), (30, 90), (10, 40), (1, 1e3), (1e-2, 1e7)])
def test_a_logarithmic_axis_has_at_least_two_ticks_with_numbers(low: float, high: float) -> None:
    _, axes = blank_figure(4, 3)
    axes.set(xscale="log", xlim=(low, high))
    log_ticks(axes.xaxis)
    shown = [tick for tick in axes.xaxis.get_majorticklocs() if low <= tick <= high]
    assert len(shown) >= 2


def test_nothing_in_a_figure_for_papers_is_cut(results: Results) -> None:
    size, settings = "column", letters_for("column")
    with styled(settings):
        made = labelled(drawn(results, settings, 2), size)
        for name, figure in made.items():
            figure.draw_without_rendering()
            box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
            assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.02, name
            assert all(axes.get_position().height * figure.get_figheight() > 0.3 for axes in figure.axes), name
    lines = made["regret-log-last"]
    assert lines.axes[0].get_position().height > 0.4
    assert [text.get_text() for text in made["final-regret-2-000-steps"].legends[0].get_texts()] == ["last", "hoard"]


@pytest.mark.parametrize(("low", "high"), [(100, 2_500), (60, 70), (1e-2, 1e7)])
@pytest.mark.parametrize("width", [1.6, 5.0])
def test_numbers_on_a_logarithmic_axis_never_overlap(low: float, high: float, width: float) -> None:
    figure, axes = blank_figure(width, 2)
    axes.set(xscale="log", xlim=(low, high))
    log_ticks(axes.xaxis)
    figure.draw_without_rendering()
    labels = zip(axes.xaxis.get_majorticklocs(), axes.get_xticklabels(), strict=True)
    boxes = [text.get_window_extent() for at, text in labels if low <= at <= high]
    assert len(boxes) >= 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_the_horizons_of_a_study_are_the_ticks_of_growth(gallery: Gallery) -> None:
    figure = gallery.made["along-horizon-1"].figure
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["500", "1,000", "2,000"]


def test_files_say_what_they_show_and_have_an_index(results: Results, tmp_path: Path) -> None:
    made = save_figures(results, tmp_path, ["svg"], size="column", style={"font.size": 7})
    names = [path.stem for path in made]
    assert names[:3] == ["regret-log-last", "regret-linear-last", "best-arm-share-last"]
    assert {"growth-along-horizon-hoard", "final-regret-2-000-steps", "regret-by-spread", "one-run"} <= set(names)
    index = (tmp_path / "index.html").read_text("utf-8")
    assert all(f'src="{name}.svg"' in index for name in names)
    assert "by the delta method for its logarithm" in index
    assert LONG[:20] in (tmp_path / "regret-log-last.svg").read_text("utf-8")


def test_plot_draws_what_the_study_asks_in_any_size_and_style(results: Results) -> None:
    figure = results.plot()
    assert len(figure.axes) == 2
    assert figure.axes[0].get_xlabel() == "steps"
    assert figure.legends
    assert "<svg" in figure._repr_svg_()  # type: ignore[attr-defined]
    small = results.plot("linear", size=(4, 3), style="grayscale", spread="last", horizon=500)
    assert tuple(small.get_size_inches()) == (4, 3)
    assert len(small.axes) == 1
    assert len(results.plot("final", horizon=2_000).axes) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "pie"}, "no kind named 'pie'"),
        ({"size": "poster"}, "no size named 'poster'"),
        ({"size": (0, 1)}, "from 1 to 40 inches"),
        ({"style": "no-such"}, "must be the path of a style file"),
        ({"style": {"no.such": 1}}, "has no setting 'no.such'"),
        ({"kind": "growth", "along": "window"}, "needs cells that differ in it"),
        ({"kind": "share", "along": "window"}, "is for kind='growth'"),
    ],
)
def test_a_plot_that_can_not_be_is_refused(results: Results, given: dict[str, Any], said: str) -> None:
    with pytest.raises((BadValue, UnknownName), match=said):
        results.plot(**given)


def test_a_style_of_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.mplstyle").write_text("font.size: 7\n")
    assert style_of(tmp_path / "mine.mplstyle") == {"font.size": 7.0}


def test_a_curve_is_drawn_if_it_is_within_a_factor_of_two_of_all_means() -> None:
    x = np.array([1e1, 1e2, 1e3, 1e4])
    near, far = fitted(x, np.array([10.0, 130.0, 1e3, 1e4]), False), fitted(x, np.array([10.0, 1e2, 1e5, 1e4]), False)
    assert near is not None
    assert far is not None
    assert (near.fits, far.fits) == (True, False)
