"""The figures of a comparison, drawn with Matplotlib: for pages as SVG, for papers as SVG and PNG."""

import io
import math
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from afterglow.lab.compare import ADVERSARIAL, Cell, Comparison
from afterglow.lab.palette import BLUE, GREY, INK, ORANGE, PAPER, PINK, RED, RULE, STROKES, stroke
from afterglow.policies.student import student_quantile

STYLE: Any = {
    "axes.edgecolor": GREY, "axes.facecolor": "none", "axes.labelcolor": INK, "axes.linewidth": 0.7,
    "axes.spines.right": False, "axes.spines.top": False, "axes.titlelocation": "left", "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.titlecolor": INK, "figure.facecolor": "none", "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "grid.color": RULE, "grid.linewidth": 0.6,
    "svg.fonttype": "none", "svg.hashsalt": "afterglow", "text.color": INK, "xtick.color": GREY,
    "xtick.labelcolor": INK, "xtick.labelsize": 8.5, "ytick.color": GREY, "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}  # fmt: skip
MARKS = {"hoard": ("^", ORANGE, 0.2), "handicap": ("s", RED, 0.0), "chameleon": ("D", PINK, -0.2)}  # and how far up
BENIGN_MARK = ("o", BLUE, 0.0)


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


def svg(figure: Figure) -> str:
    """A figure as SVG on a clear ground, the same bytes every time."""
    text = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def png(figure: Figure) -> bytes:
    """A figure as PNG on white."""
    image = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(image, format="png", metadata={"Software": None}, dpi=200, facecolor="white")
    return image.getvalue()


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
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(short))
        axis.set_minor_formatter(NullFormatter())
        axis.set_tick_params(which="minor", length=0)
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
    dash = (0, look.dash) if look.dash else "-"
    known = label in STROKES
    gid = f"line-{slug(label if known else 'the others')}"
    axes.plot(t, mean, color=look.colour, linewidth=look.width, linestyle=dash, zorder=3 if known else 2, gid=gid)
    if known:
        axes.fill_between(t, low, high, color=look.colour, alpha=0.22, linewidth=0, zorder=2.5)


def ceiling(axes: Any, bound: float, horizon: int, widest: float, colour: str) -> None:
    """A bound at the horizon holds before it too, and no regret is above t times the widest gap."""
    knee = min(bound / widest, horizon)
    axes.plot([1, knee], [widest, knee * widest], color=GREY, linewidth=0.6, zorder=1)
    if knee < horizon:
        axes.plot([knee, horizon], [bound, bound], color=colour, linewidth=1.1, linestyle=(0, (5, 2, 1, 2)), zorder=1.5)


def dots(comparison: Comparison, narrow: bool) -> Figure:
    """Final regret of each policy under each spread, with intervals; the best in the worst case on top."""
    ranking = comparison.ranking()[::-1]
    figure, axes = sheet(4.4 if narrow else 8.2, 0.29 * len(ranking) + 0.9)
    for place, standing in enumerate(ranking):
        row = comparison.row(standing.entry.label)
        values = [cell.regret.mean for cell in row]
        axes.plot([min(values), max(values)], [place, place], color=RULE, linewidth=3, solid_capstyle="round", zorder=1)
        for cell in row:
            mark, colour, up = MARKS.get(cell.spread, BENIGN_MARK)
            axes.errorbar(
                cell.regret.mean, place + up, xerr=cell.half_width, fmt=mark, color=colour, elinewidth=1.1,
                markerfacecolor=colour if cell.spread in MARKS else PAPER, markersize=4.6, markeredgewidth=1.1,
                zorder=3,
            )  # fmt: skip
        if standing.bound is not None:
            axes.plot(standing.bound, place, marker="|", markersize=11, markeredgewidth=1.8, color=GREY, zorder=2)
    axes.axvline(comparison.study.random_play, color=GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
    axes.annotate(
        "at random", (comparison.study.random_play, 1), xycoords=("data", "axes fraction"), xytext=(0, 4),
        textcoords="offset points", ha="center", fontsize=8, color=GREY,
    )  # fmt: skip
    axes.set_yticks(range(len(ranking)), [standing.entry.label for standing in ranking])
    axes.set(xscale="log", ylim=(-0.7, len(ranking) - 0.3), xlabel=f"regret after {comparison.study.horizon:,} steps")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x", which="major")
    axes.xaxis.set_major_formatter(FuncFormatter(short))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_tick_params(which="minor", length=0)
    return figure


def heat(comparison: Comparison, narrow: bool) -> Figure:
    """Policies by spreads, the darker the more regret; the least of each column in bold."""
    study, ranking = comparison.study, comparison.ranking()
    labels = [standing.entry.label for standing in ranking]
    rows = [[comparison.cell(label, spread).regret.mean for spread in study.spreads] for label in labels]
    logs = [[math.log10(max(value, 1.0)) for value in row] for row in rows]
    figure, axes = sheet(4.6 if narrow else 8.2, 0.27 * len(labels) + (1.0 if narrow else 0.75))
    low, high = min(map(min, logs)), max(map(max, logs))
    axes.pcolormesh(logs, cmap="YlGnBu", vmin=low - 0.1, vmax=high, edgecolors=PAPER, linewidth=1)
    for y, (label, row) in enumerate(zip(labels, rows, strict=True)):
        for x, value in enumerate(row):
            dark = (logs[y][x] - low) / (high - low or 1.0) > 0.55
            best = comparison.best(study.spreads[x]) == label
            text = brief(value) if narrow else f"{value:,.0f}"
            axes.text(
                x + 0.5, y + 0.52, text, ha="center", va="center", fontsize=7.5 if narrow else 8.5,
                color="#ffffff" if dark else "#111111", fontweight="bold" if best else "normal",
            )  # fmt: skip
    axes.axvline(sum(spread not in ADVERSARIAL for spread in study.spreads), color=PAPER, linewidth=5)
    axes.set(ylim=(len(labels), 0))
    axes.set_yticks([y + 0.5 for y in range(len(labels))], labels)
    turn: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if narrow else {}
    axes.set_xticks([x + 0.5 for x in range(len(study.spreads))], study.spreads, **turn)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure


def sheet(width: float, height: float) -> tuple[Figure, Any]:
    """A figure with one pair of axes, laid out to fit."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def slug(label: str) -> str:
    """A label as part of an element's name."""
    return label.replace(" ", "-")


def short(value: float, _: object = None) -> str:
    """1, 10, … 1,000, 10k, 1M."""
    return brief(value) if value >= 10_000 else f"{value:,g}"


def brief(value: float) -> str:
    """Three digits or fewer with k or M, for narrow places."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f}".removesuffix(".0") + unit if scaled < 10 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"
