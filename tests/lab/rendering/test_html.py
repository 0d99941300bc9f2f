"""What all pages share: colours for every ground, and words on a page that follow from the numbers."""

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from afterglow.lab.rendering.palette import VARIABLES
from afterglow.lab.report.figures import drawn
from afterglow.lab.report.groups import Groups
from afterglow.lab.report.headline import safest
from afterglow.lab.report.page import asked, page_of
from afterglow.lab.study.results import Results
from afterglow.lab.study.study import Study

STYLE = files("afterglow.lab.rendering").joinpath("templates", "style.css").read_text(encoding="utf-8")
WORLDS = [{"rewards": [0.9, 0.7], "window": 4, "spread": ["last", "hoard"]}]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Study(["leak-ucb", "trim-ucb"], WORLDS, 500, 8, checkpoints=2, engine="hold").run(tmp_path)


def losing(results: Results, regrets: list[float]) -> Groups:
    """The groups if the cells lost this much, give or take 1."""
    for cell, regret in enumerate(regrets):
        results._columns[cell]["regret"] = regret + np.linspace(-1, 1, 8)
    return Groups(results)


def test_every_colour_is_given_for_light_dark_and_paper() -> None:
    for variable in VARIABLES.values():
        assert len(re.findall(rf"--{variable}: #", STYLE)) == 3, variable


def test_who_loses_least_on_average_but_much_somewhere_is_told_from_who_never_does(results: Results) -> None:
    groups = losing(results, [1.5, 10, 22, 18])  # leak, trim under last; leak, trim under hoard
    assert [one.label for one in groups.ranking] == ["leak-ucb", "trim-ucb"]
    found = safest(groups.ranking)
    assert found is not None
    assert (found.label, found.worst.place["spread"]) == ("trim-ucb", "hoard")
    page = page_of(drawn(results))
    lede = re.sub(r"\s+", " ", page.split('<p class="lede">')[1].split("</p>", maxsplit=1)[0])
    assert "But in its worst setup (hoard) it has 44 %; <strong>trim-ucb</strong> never has more than 36 %" in lede
    assert "that of random play (50 in 500 steps), over 2 setups" in lede
    assert set(re.findall(r"var\(--([a-z]+)\)", page)) <= set(re.findall(r"--([a-z]+):", STYLE))


@pytest.mark.parametrize("regrets", [[10, 20, 10, 20], [1.5, 10, 18.5, 18]])
def test_the_first_is_not_blamed_if_its_worst_place_is_the_least_bad_or_can_not_be_told(
    results: Results, regrets: list[float]
) -> None:
    assert safest(losing(results, regrets).ranking) is None


def test_where_all_places_have_one_spread_it_is_said_when_rewards_arrive(tmp_path: Path) -> None:
    one = Study(["ucb1"], [WORLDS[0] | {"spread": "last"}], 100, 2, checkpoints=2).run(tmp_path)
    assert dict(asked(Groups(one)))["spreads"] == "last: all in the last step of the window"
