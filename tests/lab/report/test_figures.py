"""The figures of a study."""

import re
from typing import Any

import matplotlib
import pytest

from afterglow.lab.rendering.palette import OTHERS, STROKES, strokes
from afterglow.lab.rendering.style import STYLE, brief, png, readable, short, svg
from afterglow.lab.report.figures import PANELS, Gallery
from afterglow.lab.report.finals import dots
from afterglow.lab.report.groups import Groups
from afterglow.lab.study.compare import comparison
from support.worlds.small_study import HORIZON, LABELS, SMALL, SPREADS


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> Groups:
    return Groups(SMALL.run(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="module")
def gallery(groups: Groups) -> Gallery:
    return Gallery(groups)


@pytest.fixture(scope="module")
def drawn(gallery: Gallery) -> dict[str, Any]:
    return {name: one.figure for name, one in gallery.made.items()}


def test_there_are_curves_for_every_spread_and_two_widths_of_what_is_wide(gallery: Gallery) -> None:
    curves = [f"{kind}-{number}" for number in range(1, len(SPREADS) + 1) for kind in ("log", "linear", "share")]
    wide = [f"{name}{more}" for name in ("dots-1", "heat-spread", "one-run") for more in ("", "-narrow")]
    assert list(gallery.made) == [*curves, *wide]
    assert len({cell.world.spread.text for cell in comparison().cells}) <= PANELS


def test_the_caption_of_a_curve_says_when_rewards_arrive(gallery: Gallery) -> None:
    captions = {one.title: one.caption for one in gallery.made.values() if one.kind == "log"}
    assert captions["uniform"] == "an equal part in each step of the window"
    assert captions["handicap"] == "the best arm pays in the last step of the window, all others at once"
    assert all(captions[spread] for spread in SPREADS)


def test_curves_are_logarithmic_and_end_at_the_horizon(groups: Groups, drawn: dict[str, Any]) -> None:
    for number, group in enumerate(groups.all, 1):
        axes = drawn[f"log-{number}"].axes[0]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlim()[1] == HORIZON
        ends = {line.get_gid(): line.get_ydata()[-1] for line in axes.lines if line.get_gid()}
        for label in ("trim-ucb", "phased-elimination"):
            assert ends[f"line-{label}"] == pytest.approx(groups.regret(group, label).value)


def test_a_bound_is_never_drawn_above_what_nothing_exceeds(groups: Groups, drawn: dict[str, Any]) -> None:
    widest = max(groups.all[0].gaps)
    for line in drawn["log-1"].axes[0].lines:
        if line.get_gid() is None:
            assert all(y <= widest * x * (1 + 1e-9) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))


def test_the_dots_show_every_cell_and_the_heat_map_every_number(drawn: dict[str, Any]) -> None:
    cells = len(LABELS) * len(SPREADS)
    assert len(drawn["dots-1"].axes[0].containers) == cells
    assert len(drawn["heat-spread"].axes[0].texts) == cells


def test_drawing_again_gives_the_same_bytes(gallery: Gallery, drawn: dict[str, Any]) -> None:
    with matplotlib.rc_context(STYLE):
        again = dots(gallery.lines, gallery.groups.all, "", False)
    assert svg(drawn["dots-1"]) == svg(again)
    assert png(drawn["dots-1"]) == png(again)


def test_names_within_a_drawing_do_not_depend_on_the_last_digits_of_its_layout(drawn: dict[str, Any]) -> None:
    text = svg(drawn["log-1"])
    names = set(re.findall(r'\bid="([^"]*)"', text))
    assert {"n0", "n1"} <= names
    assert not [name for name in names if re.fullmatch(r"\w*[0-9a-f]{10}", name)]
    assert set(re.findall(r"#(n\d+)", text)) <= names


def test_no_two_policies_look_the_same() -> None:
    assert len(set(STROKES.values())) == len(STROKES)
    labels = list(dict.fromkeys(cell.label for cell in comparison().cells))
    assert set(STROKES) <= set(labels)
    assert strokes(labels)["composite-exp3"] == OTHERS


@pytest.mark.parametrize(
    ("value", "text"), [(3.2, "3"), (999, "999"), (1000, "1k"), (1234, "1.2k"), (12_345, "12k"), (2.5e6, "2.5M")]
)
def test_narrow_places_have_short_numbers(value: float, text: str) -> None:
    assert brief(value) == text


@pytest.mark.parametrize(("value", "text"), [(1, "1"), (1000, "1,000"), (10_000, "10k"), (1e6, "1M")])
def test_ticks_are_short(value: float, text: str) -> None:
    assert short(value) == text


def test_the_first_label_is_told_apart_even_where_all_lines_have_an_owner() -> None:
    labels = ["mine", *STROKES, "another"]
    found = strokes(labels)
    assert found["mine"] == STROKES[labels[-2]]
    assert found[labels[-2]] == found["another"] == OTHERS


def test_numbers_on_colours_stand_out_from_them() -> None:
    assert readable((1.0, 1.0, 0.85, 1.0)) == "#111111"
    assert readable((0.03, 0.11, 0.35, 1.0)) == "#ffffff"
