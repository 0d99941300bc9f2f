"""`Results.plot`: one figure of chosen cells, with its legend."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from afterglow.checks import choice
from afterglow.errors import BadValue, argument
from afterglow.lab.rendering.paper import Size, Style, add_legend, fits_height, inches, letters_for, style_of, styled
from afterglow.lab.rendering.style import PlotFigure, letters, wrapped
from afterglow.lab.report.curves import draw_curves
from afterglow.lab.report.error_figure import draw_errors
from afterglow.lab.report.finals import NARROW_LABEL, dot_legend, draw_dots
from afterglow.lab.report.groups import Group, Groups
from afterglow.lab.report.growth import ALONG, draw_along
from afterglow.lab.report.lines import Lines, lines_of

if TYPE_CHECKING:
    from afterglow.lab.study.results import Results

KINDS = {"regret": "log", "linear": "linear", "share": "share", "growth": "", "final": "", "error": ""}
MOST = 24  # panels of one figure
COLUMNS = 3
LEAST_WIDTH = 2.3  # inches of a panel


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
    settings = letters_for(size) | style_of(style)
    what = kind or ("error" if results.objective == "best-arm" else "growth" if groups.focus else "regret")
    choice("kind", what, list(KINDS))
    axis = axis_of(groups, what, along)
    with styled(settings):
        lines = lines_of(groups, settings)
        parts = panels(groups, what, axis)
        if len(parts) > MOST:
            way_out = "choose cells, such as window=10, or use save_figures"
            raise BadValue(f"a figure has at most {MOST} panels, this one {len(parts)}; {way_out}", field="kind")
        rows = letters(0.3 * len(lines.order) + 0.9)
        figure = panel_figure(len(parts), size, rows if what == "final" else None)
        for axes, (title, members) in zip(figure.axes, parts, strict=False):
            draw(axes, lines, what, axis, members, title)
        for axes in figure.axes[len(parts) :]:
            axes.remove()
        legend = lines.samples() if what != "final" else dot_legend(figure.axes, groups.all)
        if legend:
            add_legend(figure, legend, grow=fits_height(size))
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


def panel_figure(count: int, size: Size | None, rows: float | None) -> Figure:
    """Axes in rows; a size is that of the whole figure, which a column or a page may exceed in height."""
    given = inches(size)
    most = COLUMNS if given is None else min(COLUMNS, max(1, int(given[0] / LEAST_WIDTH)))
    columns = min(most, count)
    lines = -(-count // columns)
    if given is None:
        whole = ((4.3 if count > 1 else 5.4) * columns, (rows or 3.0) * lines + 0.3)
    elif not fits_height(size):
        whole = given
    else:
        whole = (given[0], (rows or (given[1] if columns == 1 else given[0] / columns * 0.9)) * lines)
    figure = PlotFigure(figsize=whole, layout="constrained")
    figure.subplots(lines, columns)
    return figure


def draw(axes: Any, lines: Lines, kind: str, axis: str, members: Sequence[Group], title: str) -> None:
    inches_wide = axes.figure.get_figwidth() / axes.get_subplotspec().get_gridspec().ncols
    said = wrapped(title, int(inches_wide * 72 / letters(7)))
    if kind == "growth":
        draw_along(axes, lines, members, axis, said)
    elif kind == "error":
        draw_errors(axes, lines, members, said)
    elif kind == "final":
        labels = [label for label in reversed(lines.order) if any(label in group.cells for group in members)]
        draw_dots(axes, lines, members, labels, NARROW_LABEL)
        axes.set_title(said, pad=letters(18))
    else:
        draw_curves(axes, lines, members[0], KINDS[kind], said)
