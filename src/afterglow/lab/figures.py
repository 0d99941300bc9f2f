"""The figures of a comparison, drawn with Matplotlib: for pages as SVG, for papers as SVG and PDF."""

from typing import Any

import matplotlib
from matplotlib.figure import Figure

from afterglow.lab.compare import ADVERSARIAL, Cell, Comparison
from afterglow.lab.drawing import (
    STYLE,
    band_line,
    brief,
    ceiling,
    dot,
    dot_axes,
    heat_table,
    sheet,
    short_ticks,
    slug,
)  # fmt: skip
from afterglow.lab.palette import GREY, RULE, STROKES, stroke
from afterglow.policies.student import student_quantile


def figures(comparison: Comparison) -> dict[str, Figure]:
    """Every figure by name; those that are wide come for narrow screens too."""
    made: dict[str, Figure] = {}
    with matplotlib.rc_context(STYLE):
        for spread in comparison.study.spreads:
            made[f"curves-{spread}"] = curves(comparison, spread)
        for name, draw in (("dots", dots), ("heat", heat)):
            made[name] = draw(comparison, False)
            made[f"{name}-narrow"] = draw(comparison, True)
    return made


def curves(comparison: Comparison, spread: str) -> Figure:
    """Regret over time under one spread, with the bounds of the policies that have one."""
    figure, axes = sheet(4.3, 3.35)
    study = comparison.study
    order = sorted(study.entries, key=lambda entry: list(STROKES).index(entry.label) if entry.label in STROKES else -1)
    for entry in order:
        line(axes, comparison.cell(entry.label, spread), entry.label)
        bound = comparison.bound(entry)
        if bound is not None:
            ceiling(axes, bound, study.horizon, max(study.world.gaps), stroke(entry.label).colour)
    axes.set(xscale="log", yscale="log", xlim=(study.horizon / 1000, study.horizon), title=spread)
    axes.set(xlabel="step", ylabel="regret", ylim=(study.horizon / 10_000, 1.3 * study.horizon * max(study.world.gaps)))
    axes.grid(True, which="major")
    short_ticks(axes.xaxis, axes.yaxis)
    return figure


def line(axes: Any, cell: Cell, label: str) -> None:
    """A mean and its interval, where it is above 0."""
    points = [(t, at.mean, at.se) for t, at in zip(cell.t, cell.curve, strict=True) if at.mean > 0]
    if not points:
        return
    t, mean, se = zip(*points, strict=True)
    look, factor = stroke(label), student_quantile(0.95, cell.runs - 1)
    low = [max(m - factor * s, m / 10) for m, s in zip(mean, se, strict=True)]
    high = [m + factor * s for m, s in zip(mean, se, strict=True)]
    known = label in STROKES
    band_line(axes, t, mean, low, high, look, f"line-{slug(label if known else 'the others')}", known)


def dots(comparison: Comparison, narrow: bool) -> Figure:
    """Final regret of each policy under each spread, with intervals; the best in the worst case on top."""
    ranking = comparison.ranking()[::-1]
    figure, axes = sheet(4.4 if narrow else 8.2, 0.29 * len(ranking) + 0.9)
    for place, standing in enumerate(ranking):
        row = comparison.row(standing.entry.label)
        values = [cell.regret.mean for cell in row]
        axes.plot([min(values), max(values)], [place, place], color=RULE, linewidth=3, solid_capstyle="round", zorder=1)
        for cell in row:
            dot(axes, cell.regret.mean, cell.half_width, place, cell.spread)
        if standing.bound is not None:
            axes.plot(standing.bound, place, marker="|", markersize=11, markeredgewidth=1.8, color=GREY, zorder=2)
    labels = [standing.entry.label for standing in ranking]
    dot_axes(axes, labels, comparison.study.random_play, comparison.study.horizon)
    return figure


def heat(comparison: Comparison, narrow: bool) -> Figure:
    """Policies by spreads, the darker the more regret; the least of each column in bold."""
    study, ranking = comparison.study, comparison.ranking()
    labels = [standing.entry.label for standing in ranking]
    rows = [[comparison.cell(label, spread).regret.mean for spread in study.spreads] for label in labels]
    texts = [[brief(value) if narrow else f"{value:,.0f}" for value in row] for row in rows]
    bold = [comparison.best(spread) for spread in study.spreads]
    benign = sum(spread not in ADVERSARIAL for spread in study.spreads)
    return heat_table(rows, texts, labels, study.spreads, bold, narrow, gap=benign)
