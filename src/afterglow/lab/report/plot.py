"""`Results.plot`: one figure of chosen cells, with its legend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from afterglow.checks import choice
from afterglow.errors import BadValue, argument
from afterglow.lab.rendering.paper import Size, Style, add_legend, inches, style_of, styled
from afterglow.lab.rendering.style import PlotFigure, wrapped
from afterglow.lab.report.curves import draw_curves
from afterglow.lab.report.error_figure import draw_errors
from afterglow.lab.report.finals import draw_dots
from afterglow.lab.report.groups import Group, Groups
from afterglow.lab.report.growth import ALONG, draw_along
from afterglow.lab.report.lines import Lines, lines_of

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results

KINDS = {"regret": "log", "linear": "linear", "share": "share", "growth": "", "final": "", "error": ""}
MOST = 24  # panels of one figure
COLUMNS = 3


def plot(
    results: "Results",
    kind: str | None,
    along: str | None,
    size: Size | None,
    style: Style | None,
    place: dict[str, Any],
) -> Figure:
    """A figure with a panel for each setup, and one legend."""
    groups = Groups(results, results.chosen(place))
    given, settings = inches(size), style_of(style)
    what = kind or ("error" if results.objective == "best-arm" else "growth" if groups.focus else "regret")
    choice("kind", what, list(KINDS))
    axis = axis_of(groups, what, along)
    with styled(settings):
        lines = lines_of(groups, settings)
        parts = panels(groups, what, axis)
        if len(parts) > MOST:
            way_out = "choose cells, such as window=10, or use save_figures"
            raise BadValue(f"a figure has at most {MOST} panels, this one {len(parts)}; {way_out}", field="kind")
        figure = panel_figure(len(parts), given, 0.3 * len(lines.order) + 0.9 if what == "final" else 3.0)
        for axes, (title, members) in zip(figure.axes, parts, strict=False):
            draw(axes, lines, what, axis, members, title)
        for axes in figure.axes[len(parts) :]:
            axes.remove()
        if what != "final":
            add_legend(figure, lines.legend(), grow=given is None)
    return figure


def axis_of(groups: Groups, kind: str, along: str | None) -> str:
    """The axis of a figure of growth: the one given, or the first that varies."""
    if kind != "growth":
        if along is not None:
            raise BadValue(f"{argument('along')} is for kind='growth', got kind={kind!r}; leave it out", field="along")
        return "horizon"
    axis = choice("along", along, list(ALONG)) if along is not None else next(iter(groups.focus), "horizon")
    if axis not in groups.varying:
        sentence = f"growth along {axis} needs cells that differ in it; give it as a list in the study"
        raise BadValue(sentence, kind="too-few-points", field="along")
    return axis


def panels(groups: Groups, kind: str, axis: str) -> list[tuple[str, list[Group]]]:
    """The title and the groups of each panel."""
    if kind in ("regret", "linear", "share"):
        return [(groups.title(group), [group]) for group in groups.all]
    left_out = "spread" if kind == "final" else axis
    rest: dict[Any, list[Group]] = {}
    for group in groups.all:
        rest.setdefault(group.without(left_out), []).append(group)
    several = [members for members in rest.values() if kind != "growth" or len(members) > 1]
    return [(groups.title(members[0], left_out) if len(several) > 1 else "", members) for members in several]


def panel_figure(count: int, size: tuple[float, float] | None, height: float) -> Figure:
    """Axes in rows; a size is that of the whole figure."""
    columns = min(COLUMNS, count)
    rows = -(-count // columns)
    whole = size or ((4.3 if count > 1 else 5.4) * columns, height * rows + 0.3)
    figure = PlotFigure(figsize=whole, layout="constrained")
    figure.subplots(rows, columns)
    return figure


def draw(axes: Any, lines: Lines, kind: str, axis: str, members: Sequence[Group], title: str) -> None:
    if kind == "growth":
        draw_along(axes, lines, members, axis, wrapped(title, 44))
    elif kind == "error":
        draw_errors(axes, lines, members, wrapped(title, 44))
    elif kind == "final":
        labels = [label for label in reversed(lines.order) if any(label in group.cells for group in members)]
        draw_dots(axes, lines, members, labels)
        axes.set_title(title, wrap=True, pad=18)
    else:
        draw_curves(axes, lines, members[0], KINDS[kind], wrapped(title, 44))
