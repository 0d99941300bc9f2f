"""How regret grows along an axis: fitted curves, exponents, and who wins where."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from afterglow.errors import BadValue
from afterglow.lab.rendering.log_axes import below, log_ticks
from afterglow.lab.rendering.palette import GREY, Stroke
from afterglow.lab.rendering.style import band_line, short
from afterglow.lab.report.groups import Group, Groups
from afterglow.lab.report.lines import Lines
from afterglow.lab.report.theorem_bounds import bound
from afterglow.lab.statistics import LEVEL, Interval

ALONG = {"horizon": "steps", "window": "window", "told": "window given, as a multiple of the true one"}
DASHES = (0, (5, 2, 1, 2))
FITTED = (0, (1, 1.2))
LEAST_POINTS = 3  # of a fitted curve
DRAWN_WITHIN = 2.0  # the largest ratio between a mean and a fitted curve that is drawn


@dataclass(frozen=True)
class FittedGrowth:
    """A curve through the mean regrets along an axis: a power of it, or a line in its logarithm."""

    power: bool
    factor: float  # of the power, or at 1
    slope: float  # the exponent, or per unit of the logarithm
    misfit: float  # the largest ratio between a mean and the curve

    @property
    def fits(self) -> bool:
        """Whether it is close enough to be drawn."""
        return self.misfit <= DRAWN_WITHIN

    def value(self, x: Any) -> Any:
        return self.factor * x**self.slope if self.power else self.factor + self.slope * np.log(x)

    def text(self, what: str) -> str:
        """The formula.

        >>> FittedGrowth(True, 3.12, 0.25, 1.0).text("steps"), FittedGrowth(False, -3, 8.4, 1.0).text("steps")
        ('3.1 · steps^0.25', '−3 + 8.4 · ln steps')
        """
        first = f"{self.factor:.2g}".replace("-", "−")
        return f"{first} · {what}^{self.slope:.2f}" if self.power else f"{first} + {self.slope:.2g} · ln {what}"


def fitted(x: Any, means: Any, logarithmic: bool) -> FittedGrowth | None:
    """The curve of the smaller misfit; a line in the logarithm only if asked for; None for too few or zero means."""
    if x.size < LEAST_POINTS or np.any(means <= 0):
        return None
    slope, start = np.polyfit(np.log(x), np.log(means), 1)
    curves = [FittedGrowth(True, math.exp(start), float(slope), 0.0)]
    if logarithmic:
        rise, first = np.polyfit(np.log(x), means, 1)
        curves += [FittedGrowth(False, float(first), float(rise), 0.0)] if rise > 0 else []
    found = []
    for curve in curves:
        guess = curve.value(x)
        if np.all(guess > 0):
            misfit = float(np.exp(np.abs(np.log(means / guess)).max()))
            found.append(FittedGrowth(curve.power, curve.factor, curve.slope, misfit))
    return min(found, key=lambda one: one.misfit)


def draw_along(axes: Any, lines: Lines, members: Sequence[Group], axis: str, title: str) -> None:
    """Final regret against an axis with intervals; dotted the fitted curve if it fits, dash-dotted the bounds."""
    members = sorted(members, key=lambda group: Fraction(group.place[axis]))
    zeros: list[tuple[float, str]] = []
    for label in reversed(lines.order):
        groups = [group for group in members if label in group.cells]
        found = [(at(group, axis), lines.groups.drawn_regret(group, label)) for group in groups]
        look = lines.looks[label]
        zeros += [(x, look.colour) for x, one in found if not one.value > 0]
        points = [(x, one) for x, one in found if one.value > 0]
        if points:
            draw_points(axes, lines, label, points, axis)
            draw_bounds(axes, groups, label, axis, look)
    ceilings = [(at(group, axis), group.most) for group in members]
    axes.plot(*zip(*ceilings, strict=True), color=GREY, linewidth=0.6, zorder=1)
    axes.set(xscale="log", yscale="log", xlabel=ALONG[axis], ylabel="final regret")
    axes.set_title(title, wrap=True)
    axes.grid(True, which="major")
    for x, colour in zeros:
        below(axes, x, colour)
    log_ticks(axes.yaxis)
    named = {at(group, axis): column(group, axis) for group in members}
    log_ticks(axes.xaxis, places=list(named))
    axes.xaxis.set_major_formatter(lambda value, _: named.get(value, short(value)))


def draw_points(axes: Any, lines: Lines, label: str, points: list[tuple[float, Interval]], axis: str) -> None:
    """A policy's means along an axis, the band of their intervals, and the fitted curve."""
    look = lines.looks[label]
    x, y = np.array([x for x, _ in points]), np.array([one.value for _, one in points])
    low = [one.low if one.low == one.low else one.value for _, one in points]
    high = [one.high if one.high == one.high else one.value for _, one in points]
    band_line(axes, x, y, low, high, look, lines.gid(label), lines.known(label), "o")
    curve = fitted(x, y, axis == "horizon") if lines.known(label) else None
    if curve is not None and curve.fits:
        steps = np.geomspace(x.min(), x.max(), 40)
        axes.plot(steps, curve.value(steps), color=look.colour, linewidth=0.9, linestyle=FITTED, zorder=1.8)


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


@dataclass(frozen=True)
class Winner:
    """The policy of smallest regret at one place of the focus axes, averaged over setups that are alike."""

    place: str
    at: tuple[Any, ...]  # the values of the focus axes
    label: str
    share: Interval
    regret: Interval | None  # where there is one setup
    tied: list[str]
    setups: int


def winners(groups: Groups) -> list[Winner]:
    """Who has the smallest regret where, from the smallest place to the largest; references are left out."""
    fit = {one.label for one in groups.ranking if not one.reference} or set(groups.labels)
    found = []
    for place in groups.places if groups.focus else ():
        alike = groups.at(place)
        shares = {
            label: own for label in groups.labels if label in fit and (own := [g for g in alike if label in g.cells])
        }
        if not shares:
            continue
        ranked = sorted(shares, key=lambda label: groups.share(label, shares[label]).value)
        first = ranked[0]
        tied = [label for label in ranked[1:] if not groups.behind(label, first, alike).low > 0]
        only = alike[0] if len(alike) == 1 else None
        found.append(
            Winner(
                alike[0].said(groups.focus),
                place,
                first,
                groups.share(first, shares[first]),
                groups.drawn_regret(only, first) if only else None,
                tied,
                len(alike),
            )
        )
    return found


def succession(found: Sequence[Winner]) -> list[tuple[str, str, str]]:
    """(label, first place, last place) of every policy that wins, in turn."""
    turns: list[tuple[str, str, str]] = []
    for one in found:
        if turns and turns[-1][0] == one.label:
            turns[-1] = (one.label, turns[-1][1], one.place)
        else:
            turns.append((one.label, one.place, one.place))
    return turns


def growth(groups: Groups) -> list[dict[str, Any]]:
    """The exponents of regret in horizon and window, one row per policy: a value, or the range over setups."""
    found = []
    for along in ("horizon", "window"):
        rows: dict[str, list[dict[str, Any]]] = {}
        try:
            for row in groups.results.rate(along, LEVEL):
                if row["exponent"] is not None and row["points"] >= LEAST_POINTS:
                    rows.setdefault(row["label"], []).append(row)
        except BadValue:
            continue
        for standing in groups.ranking:
            own = rows.get(standing.label)
            if own:
                values = [row["exponent"] for row in own]
                only = own[0] if len(own) == 1 else None
                text = formula(groups, standing.label, along) if only else ""
                span = {"least": min(values), "most": max(values), "formula": text}
                found.append({"along": along, "label": standing.label, "only": only, "places": len(own)} | span)
    return found


def formula(groups: Groups, label: str, axis: str) -> str:
    """The fitted curve of a policy's only line, with its misfit."""
    points = sorted((at(group, axis), groups.regret(group, label).value) for group in groups.of(label))
    curve = fitted(np.array([x for x, _ in points]), np.array([y for _, y in points]), axis == "horizon")
    return "" if curve is None else f"{curve.text(ALONG[axis])}, within {100 * (curve.misfit - 1):.0f} %"
