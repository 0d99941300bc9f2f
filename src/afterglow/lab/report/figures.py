"""The figures of a study: regret curves, growth along an axis, final regret, heat maps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from afterglow.lab.rendering.palette import GREY, OTHERS, RULE, Stroke, strokes
from afterglow.lab.rendering.rounding import percent
from afterglow.lab.rendering.style import (
    STYLE,
    band_line,
    blank_figure,
    ceiling,
    dot,
    dot_axes,
    heat_table,
    short,
    short_ticks,
    slug,
)
from afterglow.lab.report import one_run
from afterglow.lab.report.groups import Group, Groups, picked
from afterglow.lab.report.theorem_bounds import bound, lower_bound
from afterglow.lab.statistics import LEVEL, band_of_mean
from afterglow.worlds.spreads import ADVERSARIAL

PANELS = 9  # of a kind on a page
NUMERIC = {"horizon": "steps", "window": "window", "told": "window given, as a multiple of the true one"}
WORDS = {"spread": "spread", "rewards": "rewards", "baseline": "baseline"} | NUMERIC
DASHES = (0, (5, 2, 1, 2))
DOTTED = (0, (1, 2))


@dataclass(frozen=True)
class Drawn:
    """A figure with its kind, title, description and caption."""

    figure: Figure
    kind: str  # log, linear, share, along, dots, heat or one-run
    title: str
    description: str
    caption: str = ""


class Gallery:
    """All figures of a study."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.order = [standing.label for standing in groups.ranking]
        self.looks = strokes(self.order)
        self.made: dict[str, Drawn] = {}
        self.picture: one_run.RunPicture | None = None
        self.no_picture: list[tuple[str, str]] = []  # labels without a picture, and their files
        with matplotlib.rc_context(STYLE):
            self.over_time()
            self.along_axes()
            self.finals()
            self.tables()
        self.one_run()

    def keep(self, name: str, drawn: Drawn) -> None:
        self.made[slug(name)] = drawn

    @property
    def panels(self) -> list[Group]:
        """The groups of longest horizon; shorter ones are in the figure of growth along it."""
        longest: dict[Any, Group] = {}
        for group in self.groups.all:
            other = longest.get(group.without("horizon"))
            if other is None or other.place["horizon"] < group.place["horizon"]:
                longest[group.without("horizon")] = group
        return list(longest.values())

    def over_time(self) -> None:
        for number, group in enumerate(picked(self.panels, PANELS), 1):
            title = self.groups.title(group, "horizon")
            for kind in ("log", "linear", "share"):
                figure = over_time(self, group, kind, title)
                what = "share of the steps on the best arm" if kind == "share" else "regret"
                axes = "; both axes logarithmic" if kind == "log" else ""
                caption = group.arrival if "spread" in self.groups.varying and kind != "share" else ""
                drawn = Drawn(figure, kind, title, f"{what} over time, {title}{axes}", caption)
                self.keep(f"{kind}-{number}", drawn)

    def along_axes(self) -> None:
        for axis, what in NUMERIC.items():
            if len(self.groups.values(axis)) < 3:
                continue
            rest: dict[Any, list[Group]] = {}
            for group in self.groups.all:
                rest.setdefault(group.without(axis), []).append(group)
            several = [members for members in rest.values() if len(members) > 1]
            for number, members in enumerate(picked(several, PANELS), 1):
                title = self.groups.title(members[0], axis)
                figure = along(self, members, axis, title)
                drawn = Drawn(figure, "along", title, f"final regret against {what}, {title}")
                self.keep(f"along-{axis}-{number}", drawn)

    def finals(self) -> None:
        rest: dict[Any, list[Group]] = {}
        for group in self.groups.all:
            rest.setdefault(group.without("spread"), []).append(group)
        shown = picked(list(rest.values()), PANELS)
        for number, members in enumerate(shown, 1):
            title = self.groups.title(members[0], "spread") if len(shown) > 1 else ""
            text = f"final regret of every policy with intervals, {title or 'spread by spread'}"
            wide = len(shown) == 1
            self.keep(f"dots-{number}", Drawn(dots(self, members, title, not wide), "dots", title, text))
            if wide:
                self.keep(f"dots-{number}-narrow", Drawn(dots(self, members, title, True), "dots", title, text))

    def tables(self) -> None:
        for axis in [axis for axis in WORDS if axis in self.groups.varying] or ["spread"]:
            if len(self.groups.values(axis)) > 14:
                continue
            for narrow in (False, True):
                text = f"policy by {WORDS[axis]}: regret as a share of that of random play, darker for more"
                drawn = Drawn(heat(self, axis, narrow), "heat", WORDS[axis], text)
                self.keep(f"heat-{axis}{'-narrow' if narrow else ''}", drawn)

    def one_run(self) -> None:
        """The first run of the best policy, with the true window and possible leakage, a short one if any."""
        for label in self.order:
            group = min(self.groups.of(label), key=dullness)
            if group.cells[label]["file"]:
                self.no_picture.append((label, group.cells[label]["file"]))
            title = self.groups.title(group)
            self.picture = one_run.picture_of(group.cells[label], title)
            if self.picture is not None:
                for name, narrow in (("one-run", False), ("one-run-narrow", True)):
                    text = f"one run of {label}: arms held, totals and leakage"
                    self.keep(name, Drawn(one_run.draw(self.picture, narrow), "one-run", title, text))
                return


def dullness(group: Group) -> tuple[bool, bool, int, float]:
    """Sort key for the picture of one run: true window, leakage, few steps, a window that is a small part of them."""
    place = group.place
    steps = min(place["horizon"], one_run.MOST_STEPS)
    nothing_leaks = place["spread"] == "immediate" or place["window"] == 1
    return place["told"] != "1", nothing_leaks, steps, abs(math.log(60 * place["window"] / steps))


def over_time(gallery: Gallery, group: Group, kind: str, title: str) -> Figure:
    """Regret, or the share of the best arm, with pointwise bands of the mean."""
    figure, axes = blank_figure(4.3, 3.2)
    horizon, widest = group.place["horizon"], max(group.gaps) or 1.0
    ends = []
    for label in reversed([label for label in gallery.order if label in group.cells]):
        marks, regret, share = gallery.groups.results.curves_of(group.cells[label]["cell"])
        known = gallery.looks[label] != OTHERS
        values = share if kind == "share" else regret
        mean, low, high = banded(values)
        shown = mean > 0 if kind == "log" else np.full(mean.size, True)
        floor = mean / 10 if kind == "log" else np.full(mean.size, -math.inf)
        band_line(
            axes, marks[shown], mean[shown], np.maximum(low, floor)[shown], high[shown], gallery.looks[label],
            f"line-{slug(label if known else 'the others')}", known,
        )  # fmt: skip
        ends.append(mean[-1])
        most = bound(group, label) if kind == "log" else None
        if most is not None:
            ceiling(axes, most, horizon, widest, gallery.looks[label].colour)
    if kind == "share":
        axes.set(xscale="log", xlim=(min(10, horizon / 10), horizon), ylim=(0, 1.02), ylabel="share of the best arm")
        axes.yaxis.set_major_formatter(lambda value, _: percent(value))
    elif kind == "log":
        axes.set(xscale="log", yscale="log", xlim=(horizon**0.4, horizon), ylabel="regret")
        axes.set(ylim=(max(min(ends) / 30, 0.1), 1.3 * horizon * widest))
        draw_lower_bound(axes, group)
        short_ticks(axes.yaxis)
    else:
        axes.plot([0, horizon], [0, group.at_random], color=GREY, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
        axes.set(xlim=(0, horizon), ylim=(0, 1.08 * min(max(ends), group.at_random)), ylabel="regret")
        short_ticks(axes.yaxis)
    axes.set(xlabel="step")
    axes.set_title(title, wrap=True)
    axes.grid(True, which="major")
    short_ticks(axes.xaxis)
    return figure


def draw_lower_bound(axes: Any, group: Group) -> None:
    """The bound of Lai & Robbins, where it applies and is below the largest possible regret."""
    steps = np.unique(np.geomspace(2, group.place["horizon"], 60).astype(np.int64))
    least = [(int(step), lower_bound(group, int(step))) for step in steps]
    shown = [(step, value) for step, value in least if value and value <= max(group.gaps) * step]
    if shown:
        axes.plot(*zip(*shown, strict=True), color=GREY, linewidth=1.0, linestyle=DOTTED, zorder=1.2)


def banded(values: Any) -> tuple[Any, Any, Any]:
    """Mean, low and high; a single run has no band."""
    if values.shape[0] < 2:
        return values[0], values[0], values[0]
    band = band_of_mean(values, LEVEL)
    return band.value, band.low, band.high


def along(gallery: Gallery, members: Sequence[Group], axis: str, title: str) -> Figure:
    """Final regret against an axis, with intervals; dash-dotted the bounds."""
    figure, axes = blank_figure(4.3, 3.2)
    members = sorted(members, key=lambda group: Fraction(group.place[axis]))
    for label in reversed(gallery.order):
        groups = [group for group in members if label in group.cells]
        found = [gallery.groups.regret(group, label) for group in groups]
        points = [(at(s, axis), one) for s, one in zip(groups, found, strict=True) if one.value > 0]
        if not points:
            continue
        look, known = gallery.looks[label], gallery.looks[label] != OTHERS
        x, y = [x for x, _ in points], [one.value for _, one in points]
        low = [max(one.low, one.value / 10) if one.low == one.low else one.value for _, one in points]
        high = [one.high if one.high == one.high else one.value for _, one in points]
        band_line(axes, x, y, low, high, look, f"line-{slug(label if known else 'the others')}", known, "o")
        draw_bounds(axes, groups, label, axis, look)
    ceilings = [(at(group, axis), group.most) for group in members]
    axes.plot(*zip(*ceilings, strict=True), color=GREY, linewidth=0.6, zorder=1)
    axes.set(xscale="log", yscale="log", xlabel=NUMERIC[axis], ylabel="final regret")
    axes.set_title(title, wrap=True)
    axes.grid(True, which="major")
    short_ticks(axes.xaxis, axes.yaxis)
    if axis != "horizon":
        axes.set_xticks([at(group, axis) for group in members], [column(group, axis) for group in members])
    return figure


def draw_bounds(axes: Any, groups: Sequence[Group], label: str, axis: str, look: Stroke) -> None:
    """A policy's bounds along an axis, where they are below the regret of the worst arm."""
    known = [(group, bound(group, label)) for group in groups]
    told = [(at(group, axis), most) for group, most in known if most is not None and most < group.most]
    if told:
        axes.plot(*zip(*told, strict=True), color=look.colour, linewidth=1.1, linestyle=DASHES, marker="_", zorder=1.5)


def at(group: Group, axis: str) -> float:
    return float(Fraction(group.place[axis]))


def column(group: Group, axis: str) -> str:
    """A value of an axis, briefly."""
    value = group.place[axis]
    return short(value) if axis == "horizon" else f"×{value}" if axis == "told" else str(value)


def dots(gallery: Gallery, members: Sequence[Group], title: str, narrow: bool) -> Figure:
    """Final regret of every policy, one mark per spread."""
    labels = [label for label in reversed(gallery.order) if any(label in group.cells for group in members)]
    figure, axes = blank_figure(4.4 if narrow else 8.2, 0.29 * len(labels) + (1.15 if title else 0.9))
    for place, label in enumerate(labels):
        groups = [group for group in members if label in group.cells]
        found = {group.place["spread"]: gallery.groups.regret(group, label) for group in groups}
        values = [max(one.value, 0.1) for one in found.values()]
        axes.plot([min(values), max(values)], [place, place], color=RULE, linewidth=3, solid_capstyle="round", zorder=1)
        for spread, one in found.items():
            half = min(one.high - one.value, 0.9 * one.value) if one.high == one.high else 0.0
            dot(axes, max(one.value, 0.1), half, place, spread)
        most = bound(groups[0], label)
        if most is not None and most < groups[0].most:
            axes.plot(most, place, marker="|", markersize=11, markeredgewidth=1.8, color=GREY, zorder=2)
    dot_axes(axes, labels, members[0].at_random, members[0].place["horizon"])
    if title:
        axes.set_title(title, wrap=True, pad=18)
    return figure


def heat(gallery: Gallery, axis: str, narrow: bool) -> Figure:
    """Policies by the values of an axis: share of random play's regret, averaged over the rest."""
    groups, values = gallery.groups, gallery.groups.values(axis)
    if axis in NUMERIC:
        values = sorted(values, key=Fraction)
    if axis == "spread":
        values = sorted(values, key=lambda value: value in ADVERSARIAL)
    shares: list[list[float | None]] = []
    for label in gallery.order:
        columns = [[group for group in groups.of(label) if group.place[axis] == value] for value in values]
        shares.append([groups.share(label, own).value if own else None for own in columns])
    fit = [label for label in gallery.order if not groups.ranking[gallery.order.index(label)].reference]
    bold = [least(gallery.order, fit, [row[x] for row in shares]) for x in range(len(values))]
    texts = [["–" if one is None else written(one, narrow) for one in row] for row in shares]
    firsts = [next(group for group in groups.all if group.place[axis] == value) for value in values]
    names = [column(group, axis) for group in firsts]
    benign = sum(value not in ADVERSARIAL for value in values)
    gap = benign if axis == "spread" and 0 < benign < len(values) else None
    return heat_table(shares, texts, gallery.order, names, bold, narrow, least=-5.0, gap=gap)


def least(order: Sequence[str], fit: Sequence[str], shares: Sequence[float | None]) -> str:
    """The label of the smallest share, among those that could run live."""
    known = [(share, label) for share, label in zip(shares, order, strict=True) if share is not None and label in fit]
    return min(known)[1] if known else ""


def written(share: float, narrow: bool) -> str:
    return percent(share).replace(" %", "") if narrow else percent(share)


def legend(gallery: Gallery) -> list[tuple[str, Stroke]]:
    """Labels with their lines; those without a line of their own as one."""
    known = [(label, look) for label, look in gallery.looks.items() if look != OTHERS]
    return known + ([("the others", OTHERS)] if len(known) < len(gallery.looks) else [])
