"""The figures of a comparison."""

from typing import Any

import pytest

from afterglow.lab.compare import ENTRIES
from afterglow.lab.drawing import brief, png, readable, short, svg
from afterglow.lab.figures import figures
from afterglow.lab.palette import OTHERS, STROKES, stroke, strokes
from small_study import LABELS, SMALL, small


@pytest.fixture(scope="module")
def drawn() -> dict[str, Any]:
    return figures(small())


def test_there_is_a_curve_for_every_spread_and_two_widths_of_what_is_wide(drawn: dict[str, Any]) -> None:
    curves = [f"curves-{spread}" for spread in SMALL.spreads]
    assert list(drawn) == [*curves, "dots", "dots-narrow", "heat", "heat-narrow"]


def test_curves_are_logarithmic_and_end_at_the_horizon(drawn: dict[str, Any]) -> None:
    for spread in SMALL.spreads:
        axes = drawn[f"curves-{spread}"].axes[0]
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        assert axes.get_xlim()[1] == SMALL.horizon
        ends = {line.get_gid(): line.get_ydata()[-1] for line in axes.lines if line.get_gid()}
        for label in ("trim-ucb", "phased-elimination"):
            assert ends[f"line-{label}"] == small().cell(label, spread).regret.mean


def test_a_bound_is_never_drawn_above_what_nothing_exceeds(drawn: dict[str, Any]) -> None:
    widest = max(SMALL.world.gaps)
    for line in drawn["curves-last"].axes[0].lines:
        if line.get_gid() is None:
            assert all(y <= widest * x * (1 + 1e-9) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))


def test_the_dots_show_every_cell_and_the_heat_map_every_number(drawn: dict[str, Any]) -> None:
    cells = len(LABELS) * len(SMALL.spreads)
    assert len(drawn["dots"].axes[0].containers) == cells
    assert len(drawn["heat"].axes[0].texts) == cells
    shown = {text.get_text() for text in drawn["heat"].axes[0].texts}
    assert f"{small().cell('trim-ucb', 'last').regret.mean:,.0f}" in shown


def test_drawing_again_gives_the_same_bytes(drawn: dict[str, Any]) -> None:
    again = figures(small())["dots"]
    assert svg(drawn["dots"]) == svg(again)
    assert png(drawn["dots"]) == png(again)


def test_no_two_policies_look_the_same() -> None:
    assert len(set(STROKES.values())) == len(STROKES)
    assert set(STROKES) <= {entry.label for entry in ENTRIES}
    assert stroke("composite-exp3") == OTHERS


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
