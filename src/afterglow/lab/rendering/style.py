"""Common parts of figures: style, file formats with reproducible bytes, axes, marks, short numbers."""

import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullLocator

from afterglow.lab.rendering.palette import BLUE, GREY, INK, ORANGE, PAPER, PINK, RED, RULE, Stroke

LETTERS = 9.0  # points
STYLE: Any = {
    "axes.edgecolor": GREY, "axes.facecolor": "none", "axes.labelcolor": INK, "axes.linewidth": 0.7,
    "axes.spines.right": False, "axes.spines.top": False, "axes.titlelocation": "left", "axes.titlesize": 10,
    "axes.titleweight": "bold", "axes.titlecolor": INK, "figure.facecolor": "none", "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"], "font.size": LETTERS, "grid.color": RULE, "grid.linewidth": 0.6,
    "svg.fonttype": "none", "svg.hashsalt": "afterglow", "text.color": INK, "xtick.color": GREY,
    "xtick.labelcolor": INK, "xtick.labelsize": 8.5, "ytick.color": GREY, "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}  # fmt: skip
PLAIN: Mapping[str, Any] = {}
MARKS = {"hoard": ("^", ORANGE, 0.2), "handicap": ("s", RED, 0.0), "chameleon": ("D", PINK, -0.2)}  # and how far up
BENIGN_MARK = ("o", BLUE, 0.0)


def with_style(style: Mapping[str, Any]) -> Any:
    """Our style, with other settings over it; titles and ticks keep their proportion to another size of letters."""
    factor = float(style.get("font.size", LETTERS)) / LETTERS
    sizes = {name: factor * STYLE[name] for name in ("axes.titlesize", "xtick.labelsize", "ytick.labelsize")}
    return {**STYLE, **sizes, **style}


def letters(points: float) -> float:
    """A size of letters in proportion to the style in use, given for the usual one."""
    return points * float(matplotlib.rcParams["font.size"]) / LETTERS


def svg(figure: Figure, style: Mapping[str, Any] = PLAIN) -> str:
    """A figure as SVG with a transparent background and reproducible bytes."""
    text = io.StringIO()
    with matplotlib.rc_context(with_style(style)):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return numbered(text.getvalue())


def numbered(drawn: str) -> str:
    """Parts named by their place: Matplotlib names them by digests of numbers whose last digits its layout varies.

    >>> numbered('<use href="#m0123456789"/><path id="m0123456789"/>')
    '<use href="#n0"/><path id="n0"/>'
    """
    names = dict.fromkeys(re.findall(r'\bid="(\w*[0-9a-f]{10})"', drawn))
    places = {name: f"n{place}" for place, name in enumerate(names)}
    return re.sub(r'(?<=[#"])\w*[0-9a-f]{10}(?=[)"])', lambda found: places.get(found[0], found[0]), drawn)


def png(figure: Figure, style: Mapping[str, Any] = PLAIN) -> bytes:
    """A figure as PNG on white."""
    image = io.BytesIO()
    with matplotlib.rc_context(with_style(style)):
        figure.savefig(image, format="png", metadata={"Software": None}, dpi=200, facecolor="white")
    return image.getvalue()


def pdf(figure: Figure, style: Mapping[str, Any] = PLAIN) -> bytes:
    """A figure as PDF, with fonts as text; without a date."""
    file = io.BytesIO()
    with matplotlib.rc_context(with_style({"pdf.fonttype": 42, **style})):
        figure.savefig(file, format="pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None})
    return file.getvalue()


def save(
    figures: dict[str, Figure], folder: Path, formats: Sequence[str], style: Mapping[str, Any] = PLAIN
) -> list[Path]:
    """Every figure in every format; those drawn again for narrow screens are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, figure in figures.items():
        for kind in formats if not name.endswith("-narrow") else ():
            path = folder / f"{name}.{kind}"
            path.write_bytes(MADE[kind](figure, style))
            made.append(path)
    return made


def svg_bytes(figure: Figure, style: Mapping[str, Any] = PLAIN) -> bytes:
    return svg(figure, style).encode()


MADE = {"svg": svg_bytes, "pdf": pdf, "png": png}


def band_line(
    axes: Any, x: Any, y: Any, low: Any, high: Any, look: Stroke, gid: str, band: bool = True, mark: str = ""
) -> None:
    """A line in a policy's stroke, with its band."""
    dash = (0, look.dash) if look.dash else "-"
    axes.plot(
        x, y, color=look.colour, linewidth=look.width, linestyle=dash, zorder=3 if band else 2, gid=gid, marker=mark,
        markersize=3.2,
    )  # fmt: skip
    if band:
        axes.fill_between(x, low, high, color=look.colour, alpha=0.22, linewidth=0, zorder=2.5)


def handle(look: Stroke, label: str) -> Line2D:
    """A sample of a line for the legend of a separate figure."""
    dash: Any = (0, look.dash) if look.dash else "-"
    return Line2D([], [], color=look.colour, linewidth=look.width, linestyle=dash, label=label)


def short_ticks(*all_axes: Any) -> None:
    """Numbers such as 10k at the powers of ten alone."""
    for axis in all_axes:
        axis.set_major_formatter(FuncFormatter(short))
        axis.set_minor_locator(NullLocator())


def dot(axes: Any, found: Any, place: float, spread: str) -> None:
    """A mean and its interval, in the mark of its spread; NaN ends are those of a single run."""
    mark, colour, up = MARKS.get(spread, BENIGN_MARK)
    known = found.high == found.high
    ends = [[found.value - found.low], [found.high - found.value]] if known else [[0.0], [0.0]]
    axes.errorbar(
        found.value, place + up, xerr=ends, fmt=mark, color=colour, elinewidth=1.1,
        markerfacecolor=colour if spread in MARKS else PAPER, markersize=4.6, markeredgewidth=1.1, zorder=3,
    )  # fmt: skip


def mark_samples(spreads: Sequence[str], bounded: bool) -> list[Line2D]:
    """The legend of a dot plot: the marks of its spreads, and of bounds; empty where all marks are alike."""
    marks: dict[Any, list[str]] = {}
    for spread in spreads:
        marks.setdefault(MARKS.get(spread, BENIGN_MARK)[:2], []).append(spread)
    made = [
        Line2D([], [], marker=mark, color=colour, linewidth=0, markersize=4.6, label=", ".join(names),
               markerfacecolor=PAPER if mark == BENIGN_MARK[0] else colour)
        for (mark, colour), names in marks.items()
    ]  # fmt: skip
    if bounded:
        made.append(Line2D([], [], marker="|", color=GREY, linewidth=0, markersize=9, markeredgewidth=1.8,
                           label="bound of its theorem"))  # fmt: skip
    return made if len(made) > 1 else []


def dot_axes(axes: Any, labels: Sequence[str], at_random: float, horizon: int) -> None:
    """Axes of a dot plot: labels from the bottom up, and a line for random play."""
    axes.axvline(at_random, color=GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
    axes.annotate(
        "at random", (at_random, 1), xycoords=("data", "axes fraction"), xytext=(0, 4), textcoords="offset points",
        ha="center", fontsize=letters(8), color=GREY,
    )  # fmt: skip
    axes.set_yticks(range(len(labels)), labels)
    axes.set(xscale="log", ylim=(-0.7, len(labels) - 0.3), xlabel=f"regret after {horizon:,} steps")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x", which="major")


def heat_table(
    values: Sequence[Sequence[float | None]], texts: Sequence[Sequence[str]], labels: Sequence[str],
    columns: Sequence[str], bold: Sequence[str], narrow: bool, least: float = 0.0, gap: int | None = None,
) -> Figure:  # fmt: skip
    """A heat map with numbers, coloured by logarithm; `bold` is the label in bold for each column."""
    logs = [[math.nan if one is None else math.log10(max(one, 10**least)) for one in row] for row in values]
    crowded = narrow or max(map(len, columns)) * len(columns) > 80
    above = 0.45 + 0.045 * max(map(len, columns)) if crowded else 0.75
    rows = [wrapped(label) for label in labels]
    longer = 0.1 * sum(row.count("\n") for row in rows)
    figure, axes = blank_figure(4.6 if narrow else 8.2, 0.27 * len(labels) + above + longer)
    known = [value for row in logs for value in row if not math.isnan(value)]
    low, high = min(known), max(known)
    mesh = axes.pcolormesh(
        logs, cmap="YlGnBu", vmin=low - 0.1, vmax=max(high, low + 0.1), edgecolors=PAPER, linewidth=1
    )
    for y, label in enumerate(labels):
        for x, text in enumerate(texts[y]):
            ink = GREY if math.isnan(logs[y][x]) else readable(mesh.to_rgba(logs[y][x]))
            axes.text(
                x + 0.5, y + 0.52, text, ha="center", va="center", fontsize=letters(7.5 if narrow else 8.5), color=ink,
                fontweight="bold" if bold[x] == label else "normal",
            )  # fmt: skip
    if gap is not None:
        axes.axvline(gap, color=PAPER, linewidth=5)
    axes.set(ylim=(len(labels), 0))
    axes.set_yticks([y + 0.5 for y in range(len(labels))], rows)
    turn: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if crowded else {}
    axes.set_xticks([x + 0.5 for x in range(len(columns))], columns, **turn)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    for side in axes.spines.values():
        side.set_visible(False)
    return figure


def readable(colour: Sequence[float]) -> str:
    """White or black, whichever has the larger contrast to a colour."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    light = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return "#ffffff" if 1.05 / (light + 0.05) > (light + 0.05) / 0.056 else "#111111"


def ceiling(axes: Any, bound: float, horizon: int, widest: float, colour: str) -> None:
    """Draw a bound: it holds before the horizon too, and regret is at most t times the largest gap."""
    knee = min(bound / widest, horizon)
    axes.plot([1, knee], [widest, knee * widest], color=GREY, linewidth=0.6, zorder=1)
    if knee < horizon:
        axes.plot([knee, horizon], [bound, bound], color=colour, linewidth=1.1, linestyle=(0, (5, 2, 1, 2)), zorder=1.5)


class PlotFigure(Figure):
    """A Matplotlib figure that shows itself in notebooks; `savefig` writes it as any format."""

    def _repr_svg_(self) -> str:
        return svg(self)


def blank_figure(width: float, height: float) -> tuple[Figure, Any]:
    """A figure with one pair of axes, laid out to fit."""
    figure = PlotFigure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def wrapped(label: str, width: int = 30) -> str:
    """A long label in several lines."""
    return "\n".join(wrap(label, width)) or label


def slug(label: str) -> str:
    """A text as part of an element's or a file's name."""
    return re.sub(r"[^\w.+-]+", "-", label).strip("-")


def short(value: float, _: object = None) -> str:
    """1, 10, … 1,000, 10k, 1M."""
    return brief(value) if value >= 10_000 else f"{value:,g}"


def brief(value: float) -> str:
    """Three digits or fewer with k, M or G, for narrow places."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f}".removesuffix(".0") + unit if scaled < 10 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"
