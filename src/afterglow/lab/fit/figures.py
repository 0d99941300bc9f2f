"""The figures of a fit: kernels, means, differences, and a timeline of arms and totals.

The SVGs have colours for light and dark screens; the PNGs are on white.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from afterglow.lab.fit.fitting import Fit
from afterglow.lab.rendering.palette import BLUE, GREEN, GREY, ORANGE, PAPER, PINK, RED, SKY, VARIABLES
from afterglow.lab.rendering.style import STYLE, png, svg
from afterglow.lab.rendering.svg import with_variables

COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY)
DARK = {
    "ink": "#e8e9ec", "grey": "#8d939f", "pale": "#565c68", "rule": "#31353d", "page": "#14161a", "blue": "#4aa8ea",
    "sky": "#9ad6f8", "green": "#2cc59b", "orange": "#f0b03f", "red": "#ff8140", "pink": "#e08fbd",
}  # fmt: skip
WIDE, NARROW = 7.2, 4.6  # inches: a figure on its own, and half of a page
MOST_POINTS = 2000  # of the timeline; longer ones are averaged


def write(fit: Fit, folder: Path) -> list[Path]:
    """Save every figure as SVG and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in figures(fit).items():
        paths += [folder / f"{name}.svg", folder / f"{name}.png"]
        paths[-2].write_text(adaptive(svg(figure)), encoding="utf-8")
        paths[-1].write_bytes(png(figure))
    return paths


def figures(fit: Fit, width: float = WIDE) -> dict[str, Figure]:
    """Every figure by name."""
    made = {"differences": differences, "kernels": kernels, "means": means, "timeline": timeline}
    with matplotlib.rc_context(STYLE):
        return {name: draw(fit, width) for name, draw in made.items()}


def adaptive(drawn: str) -> str:
    """An SVG whose colours follow the screen's light or dark mode."""
    drawn = with_variables(drawn)
    light = " ".join(f"--{variable}: {colour};" for colour, variable in VARIABLES.items())
    dark = " ".join(f"--{variable}: {colour};" for variable, colour in DARK.items())
    style = f"<style>svg {{ {light} }} @media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}</style>"
    return re.sub(r"(<svg[^>]*>)", lambda match: match[1] + "\n " + style, drawn, count=1)


def colour_of(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def kernels(fit: Fit, width: float) -> Figure:
    """Each arm's excess over the average arm in each group of lags, with bands, one panel per arm."""
    arms = list(fit.kernels)
    figure = Figure(figsize=(width, 0.5 + 1.25 * len(arms)), layout="constrained")
    panels = figure.subplots(len(arms), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for place, (arm, axes) in enumerate(zip(arms, panels, strict=True)):
        row = fit.kernels[arm]
        edges = np.arange(len(row) + 1) - 0.5
        excess, low, high = [list(part) for part in zip(*(lags.over_all() for lags in row), strict=True)]
        axes.axhline(0, color=GREY, linewidth=0.7)
        axes.fill_between(
            edges, [*low, low[-1]], [*high, high[-1]], step="post", color=colour_of(place), alpha=0.22, linewidth=0
        )
        axes.stairs(excess, edges, baseline=None, color=colour_of(place), linewidth=1.8)
        axes.set_title(arm, color=colour_of(place))
        axes.grid(True, axis="y")
    groups = next(iter(fit.kernels.values()))
    panels[-1].set_xticks(range(len(groups)), [lags.text for lags in groups])
    panels[-1].set(xlabel="steps after the pull", xlim=(-0.5, len(groups) - 0.5))
    figure.supylabel(f"more than the average arm ({fit.confidence:.0%} bands)", fontsize=9)
    return figure


def means(fit: Fit, width: float) -> Figure:
    """Means: the estimate with its interval, and the proved bounds as a thin line."""
    figure = Figure(figsize=(width, 0.75 + 0.42 * len(fit.means)), layout="constrained")
    axes = figure.add_subplot()
    for place, one in enumerate(fit.means):
        if one.proved_low is not None and one.proved_high is not None:
            axes.plot([one.proved_low, one.proved_high], [place, place], color=colour_of(place), linewidth=1, alpha=0.6)
        axes.plot([one.low, one.high], [place, place], color=colour_of(place), linewidth=5, solid_capstyle="butt")
        axes.plot(one.mean, place, marker="o", color=colour_of(place), markersize=6, markeredgecolor=PAPER)
    name_rows(axes, [one.arm for one in fit.means])
    line = ", line: proved" if any(one.proved_low is not None for one in fit.means) else ""
    bars = f"; bar: {fit.confidence:.0%} interval if effects depend on arm and lag only{line}" if width == WIDE else ""
    axes.set_xlabel(f"average per pull{bars}")
    return figure


def name_rows(axes: Axes, names: list[str]) -> None:
    """A row for each name, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set(ylim=(len(names) - 0.5, -0.5))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x")


def differences(fit: Fit, width: float) -> Figure:
    """Differences to the reference arm with intervals; filled dots where 0 is outside."""
    rows, order = fit.differences, [one.arm for one in fit.means]
    figure = Figure(figsize=(width, 0.75 + 0.42 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(0, color=GREY, linewidth=0.9)
    for place, one in enumerate(rows):
        colour = colour_of(order.index(one.arm))
        sure = one.low > 0 or one.high < 0
        axes.plot([one.low, one.high], [place, place], color=colour, linewidth=5, solid_capstyle="butt")
        axes.plot(
            one.difference, place, marker="o", color=colour if sure else PAPER, markersize=8, markeredgecolor=colour
        )
    name_rows(axes, [f"{one.arm} − {one.than}" for one in rows])
    bars = f"; simultaneous {fit.confidence:.0%} intervals; filled dot: not zero" if width == WIDE else ""
    axes.set_xlabel(f"difference of averages per pull{bars}")
    return figure


def timeline(fit: Fit, width: float) -> Figure:
    """Totals over time, and below them the arm in play."""
    recorded = fit.recorded
    figure = Figure(figsize=(width, 3.0), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(5, 0.22 * len(recorded.names) + 0.4))
    size = -(-len(recorded) // MOST_POINTS)
    at, totals = thinned(recorded.total, size)
    upper.plot(recorded.first + at, totals, color=GREY, linewidth=0.8)
    upper.set_ylabel("total" if size == 1 else f"total, mean of {size}")
    upper.grid(True, axis="y")
    draw_arms(lower, fit)
    lower.set(xlabel="step", xlim=(recorded.first - 0.5, recorded.first + len(recorded) - 0.5))
    return figure


def thinned(values: Any, size: int) -> tuple[Any, Any]:
    """(places, means) of groups of values; not a number where one is unknown."""
    groups = [values[start : start + size] for start in range(0, len(values), size)]
    return np.arange(len(groups)) * size + (size - 1) / 2, np.array([group.mean() for group in groups])


def draw_arms(axes: Any, fit: Fit) -> None:
    """The arm in play, a bar for each run."""
    recorded = fit.recorded
    edges = np.flatnonzero(np.concatenate([[True], recorded.arm[1:] != recorded.arm[:-1], [True]]))
    for place in range(len(recorded.names)):
        runs = [(i, j - i) for i, j in pairwise(edges) if recorded.arm[i] == place]
        bars = [(recorded.first + start - 0.5, length) for start, length in runs]
        axes.broken_barh(bars, (place - 0.36, 0.72), facecolors=colour_of(place), linewidth=0)
    axes.set_yticks(range(len(recorded.names)), recorded.names)
    axes.set_ylim(len(recorded.names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
