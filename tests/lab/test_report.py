"""The report: a page that needs nothing else, figures, and everything as data."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from afterglow.lab.compare import compare
from afterglow.lab.palette import VARIABLES
from afterglow.lab.report import results, write
from page_names import Names
from small_study import LABELS, SMALL, small

STYLE = files("afterglow.lab").joinpath("pages", "style.css").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    assert write(small(), place) == place / "index.html"
    return place


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    write(compare(SMALL, seed=3, threads=1), tmp_path)
    made = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert made == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    for path in made:
        assert (folder / path).read_bytes() == (tmp_path / path).read_bytes(), path


def test_the_results_hold_every_cell_the_seed_and_the_versions(folder: Path) -> None:
    data = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert data == json.loads(json.dumps(results(small())))
    assert data["seed"] == 3
    assert data["study"]["means"] == list(SMALL.means)
    assert {"afterglow", "python", "numpy", "numba"} <= set(data["versions"])
    assert len(data["cells"]) == len(LABELS) * len(SMALL.spreads)
    for cell in data["cells"]:
        assert len(cell["curve"]["t"]) == len(cell["curve"]["mean"]) == len(cell["curve"]["se"])
        assert cell["curve"]["mean"][-1] == cell["regret"]["mean"]


def test_every_figure_is_there_as_svg_and_png(folder: Path) -> None:
    names = {"dots", "heat", *(f"curves-{spread}" for spread in SMALL.spreads)}
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"{name}.{kind}" for name in names for kind in ("svg", "png")
    }


def test_the_page_needs_no_network(page: str) -> None:
    assert not re.search(r"https?:|//[a-z]|@import|<script|<link|<img", page)


def test_the_page_is_well_formed_and_its_names_are_unique(page: str) -> None:
    names = Names(page)
    assert names.open == []
    assert names.used <= set(names.ids)
    assert len([name for name in names.ids if "-line-" not in name]) == len(
        {name for name in names.ids if "-line-" not in name}
    )


def test_the_answer_comes_first_with_its_interval(page: str) -> None:
    winner = next(place for place in small().ranking() if place.entry.kind != "reference")
    lede = page.split('<p class="lede">')[1].split("</p>", maxsplit=1)[0]
    assert winner.entry.label in lede
    assert f"{winner.worst.regret.mean:,.0f}&nbsp;±&nbsp;{winner.worst.half_width:,.0f}" in lede


def test_every_policy_stands_in_the_ranking(page: str) -> None:
    table = page.split('<table class="ranking">')[1].split("</table>", maxsplit=1)[0]
    assert re.findall(r'class="name">([^<]*)<', table) == [place.entry.label for place in small().ranking()]


def test_the_page_says_how_to_do_it_again(page: str) -> None:
    assert "afterglow compare --seed 3" in page


def test_figures_take_their_colours_from_the_page(page: str) -> None:
    drawings = "".join(re.findall(r'<svg class="drawn".*?</svg>', page, re.DOTALL))
    assert "var(--ink)" in drawings
    assert not any(colour in drawings for colour in VARIABLES)


def test_every_colour_is_given_for_light_dark_and_paper() -> None:
    for variable in VARIABLES.values():
        assert len(re.findall(rf"--{variable}: #", STYLE)) == 3, variable


def test_every_variable_of_the_page_is_defined(page: str) -> None:
    assert set(re.findall(r"var\(--([a-z]+)\)", page)) <= set(re.findall(r"--([a-z]+):", STYLE))
