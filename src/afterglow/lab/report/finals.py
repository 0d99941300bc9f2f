"""Final regret of every policy: dots with intervals, and coloured tables."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from afterglow.lab.rendering.log_axes import below, log_ticks
from afterglow.lab.rendering.palette import GREY, RULE
from afterglow.lab.rendering.rounding import percent
from afterglow.lab.rendering.style import blank_figure, dot, dot_axes, heat_table, letters, mark_samples, wrapped
from afterglow.lab.report.groups import NUMERIC, Group
from afterglow.lab.report.growth import column
from afterglow.lab.report.lines import Lines
from afterglow.lab.report.theorem_bounds import bound
from afterglow.worlds.spreads import ADVERSARIAL

WIDE_LABEL, NARROW_LABEL = 30, 22  # letters of a line of a label


def dots(lines: Lines, members: Sequence[Group], title: str, narrow: bool) -> Figure:
    """Final regret of every policy, one mark per spread."""
    labels = [label for label in reversed(lines.order) if any(label in group.cells for group in members)]
    rows = [wrapped(label, NARROW_LABEL if narrow else WIDE_LABEL) for label in labels]
    height = 0.29 * len(rows) + 0.12 * sum(row.count("\n") for row in rows) + (1.15 if title else 0.9)
    figure, axes = blank_figure(4.4 if narrow else 8.2, height)
    draw_dots(axes, lines, members, labels, NARROW_LABEL if narrow else WIDE_LABEL)
    if title:
        axes.set_title(title, wrap=True, pad=letters(18))
    return figure


def draw_dots(
    axes: Any, lines: Lines, members: Sequence[Group], labels: Sequence[str], width: int = WIDE_LABEL
) -> None:
    """The marks, with intervals on the logarithmic scale; a triangle at the edge is a mean of 0."""
    zeros = []
    for place, label in enumerate(labels):
        groups = [group for group in members if label in group.cells]
        found = {group.place["spread"]: lines.groups.drawn_regret(group, label) for group in groups}
        values = [one.value for one in found.values() if one.value > 0]
        if values:
            ends = [min(values), max(values)]
            axes.plot(ends, [place, place], color=RULE, linewidth=3, solid_capstyle="round", zorder=1)
        for spread, one in found.items():
            if one.value > 0:
                dot(axes, one, place, spread)
            else:
                zeros.append(place)
        most = bound(groups[0], label)
        if most is not None and most < groups[0].most:
            axes.plot(most, place, marker="|", markersize=11, markeredgewidth=1.8, color=GREY, zorder=2)
    dot_axes(axes, [wrapped(label, width) for label in labels], members[0].at_random, members[0].place["horizon"])
    for place in zeros:
        below(axes, place, GREY, sideways=True)
    log_ticks(axes.xaxis)


def dot_legend(axes: Sequence[Any], members: Sequence[Group]) -> list[Line2D]:
    """Samples of the marks that these axes have."""
    spreads = list(dict.fromkeys(group.place["spread"] for group in members))
    bounded = any(line.get_marker() == "|" and len(line.get_xdata()) for one in axes for line in one.lines)
    return mark_samples(sorted(spreads, key=lambda spread: spread in ADVERSARIAL), bounded)


def heat(lines: Lines, axis: str, narrow: bool) -> Figure:
    """Policies by the values of an axis: share of random play's regret, averaged over the rest."""
    groups, values = lines.groups, lines.groups.values(axis)
    if axis in NUMERIC:
        values = sorted(values, key=Fraction)
    if axis == "spread":
        values = sorted(values, key=lambda value: value in ADVERSARIAL)
    shares: list[list[float | None]] = []
    for label in lines.order:
        columns = [[group for group in groups.of(label) if group.place[axis] == value] for value in values]
        shares.append([groups.share(label, own).value if own else None for own in columns])
    fit = [standing.label for standing in groups.ranking if not standing.reference]
    bold = [least(lines.order, fit, [row[x] for row in shares]) for x in range(len(values))]
    texts = [["–" if one is None else written(one, narrow) for one in row] for row in shares]
    firsts = [next(group for group in groups.all if group.place[axis] == value) for value in values]
    names = [column(group, axis) for group in firsts]
    benign = sum(value not in ADVERSARIAL for value in values)
    gap = benign if axis == "spread" and 0 < benign < len(values) else None
    return heat_table(shares, texts, lines.order, names, bold, narrow, least=-5.0, gap=gap)


def least(order: Sequence[str], fit: Sequence[str], shares: Sequence[float | None]) -> str:
    """The label of the smallest share, among those that could run live."""
    known = [(share, label) for share, label in zip(shares, order, strict=True) if share is not None and label in fit]
    return min(known)[1] if known else ""


def written(share: float, narrow: bool) -> str:
    return percent(share).replace(" %", "") if narrow else percent(share)
