"""Regret, or the share of the best arm, over the steps of a setup."""

import math
from typing import Any

import numpy as np

from afterglow.lab.rendering.log_axes import log_ticks
from afterglow.lab.rendering.palette import GREY
from afterglow.lab.rendering.rounding import percent
from afterglow.lab.rendering.style import band_line, ceiling, short_ticks
from afterglow.lab.report.groups import Group
from afterglow.lab.report.lines import Lines
from afterglow.lab.report.theorem_bounds import bound, lower_bound
from afterglow.lab.statistics import LEVEL, band_of_mean

DOTTED = (0, (1, 2))


def draw_curves(axes: Any, lines: Lines, group: Group, kind: str, title: str) -> None:
    """One line a policy with the pointwise band of its mean; `kind` is log, linear or share."""
    horizon, widest = group.place["horizon"], max(group.gaps) or 1.0
    ends = []
    for label in reversed([label for label in lines.order if label in group.cells]):
        marks, regret, share = lines.groups.results.curves_of(group.cells[label]["cell"])
        mean, low, high = banded(share if kind == "share" else regret, kind == "log")
        shown = mean > 0 if kind == "log" else np.full(mean.size, True)
        band_line(
            axes, marks[shown], mean[shown], low[shown], high[shown], lines.looks[label], lines.gid(label),
            lines.known(label),
        )  # fmt: skip
        ends.append(mean[-1])
        most = bound(group, label) if kind == "log" else None
        if most is not None:
            ceiling(axes, most, horizon, widest, lines.looks[label].colour)
    axes.set(xlabel="step")
    axes.set_title(title, wrap=True)
    axes.grid(True, which="major")
    limit_axes(axes, group, kind, ends)


def limit_axes(axes: Any, group: Group, kind: str, ends: list[float]) -> None:
    """Scales, limits and ticks; on logarithmic axes the lower bound, on linear ones random play."""
    horizon, widest = group.place["horizon"], max(group.gaps) or 1.0
    if kind == "share":
        axes.set(xscale="log", xlim=(min(10, horizon / 10), horizon), ylim=(0, 1.02), ylabel="share of the best arm")
        axes.yaxis.set_major_formatter(lambda value, _: percent(value))
        log_ticks(axes.xaxis)
    elif kind == "log":
        positive = [end for end in ends if end > 0]
        axes.set(xscale="log", yscale="log", xlim=(horizon**0.4, horizon), ylabel="regret")
        axes.set(ylim=(max(min(positive, default=3.0) / 30, 0.1), 1.3 * horizon * widest))
        draw_lower_bound(axes, group)
        log_ticks(axes.xaxis, axes.yaxis)
    else:
        axes.plot([0, horizon], [0, group.at_random], color=GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
        top = 1.08 * min(max(ends), group.at_random)
        axes.set(xlim=(0, horizon), ylim=(0, top or 1.0), ylabel="regret")
        short_ticks(axes.xaxis, axes.yaxis)


def draw_lower_bound(axes: Any, group: Group) -> None:
    """The bound of Lai & Robbins, where it applies and is below the largest possible regret."""
    steps = np.unique(np.geomspace(2, group.place["horizon"], 60).astype(np.int64))
    least = [(int(step), lower_bound(group, int(step))) for step in steps]
    shown = [(step, value) for step, value in least if value and value <= max(group.gaps) * step]
    if shown:
        axes.plot(*zip(*shown, strict=True), color=GREY, linewidth=1.0, linestyle=DOTTED, zorder=1.2)


def banded(values: Any, log: bool) -> tuple[Any, Any, Any]:
    """Mean, low and high; a single run has no band."""
    if values.shape[0] < 2:
        return values[0], values[0], values[0]
    band = band_of_mean(values, LEVEL, log=log)
    return band.value, band.low, band.high


def dullness(group: Group, most_steps: int) -> tuple[bool, bool, int, float]:
    """Sort key for the picture of one run: true window, leakage, few steps, a window that is a small part of them."""
    place = group.place
    steps = min(place["horizon"], most_steps)
    nothing_leaks = place["spread"] == "immediate" or place["window"] == 1
    return place["told"] != "1", nothing_leaks, steps, abs(math.log(60 * place["window"] / steps))
