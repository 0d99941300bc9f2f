"""Best-arm identification: the probability of recommending a wrong arm against the budget of steps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterglow.lab.rendering.log_axes import log_ticks
from afterglow.lab.rendering.rounding import percent
from afterglow.lab.rendering.style import band_line
from afterglow.lab.report.groups import Group, Groups
from afterglow.lab.report.lines import Lines
from afterglow.lab.statistics import LEVEL, Interval, probability_interval, share_interval
from afterglow.lab.study.summaries import best_arms


def error_of(groups: Groups, group: Group, label: str) -> tuple[Interval, int]:
    """The share of a cell's runs that recommend a wrong arm, with its exact interval, and how many runs."""
    wrong = wrong_runs(groups, group, label)
    return probability_interval(int(wrong.sum()), wrong.size, LEVEL), int(wrong.size)


def wrong_runs(groups: Groups, group: Group, label: str) -> Any:
    """Which runs of a cell recommend a wrong arm."""
    cell = group.cells[label]
    return ~np.isin(groups.results.runs_of(cell["cell"])["recommended"], best_arms(cell))


def draw_errors(axes: Any, lines: Lines, members: Sequence[Group], title: str) -> None:
    """Shares of wrong runs with exact intervals; a hollow triangle is the upper end where no run was wrong."""
    members = sorted(members, key=lambda group: int(group.place["horizon"]))
    floor = 1.0
    for label in reversed(lines.order):
        found = [
            (group.place["horizon"], *error_of(lines.groups, group, label)) for group in members if label in group.cells
        ]
        look, points = lines.looks[label], [(x, one) for x, one, _ in found if one.value > 0]
        floor = min([floor, *(one.low for _, one in points), *(one.high / 2 for _, one, _ in found)])
        if points:
            x, y = [x for x, _ in points], [one.value for _, one in points]
            low, high = [one.low for _, one in points], [one.high for _, one in points]
            band_line(axes, x, y, low, high, look, lines.gid(label), lines.known(label), "o")
        for x, one, _ in found:
            if one.value == 0:
                axes.plot(x, one.high, marker="v", markerfacecolor="none", color=look.colour, markersize=5, zorder=3)
    axes.set(xscale="log", yscale="log", xlabel="budget of steps", ylabel="error probability")
    axes.set(ylim=(floor / 1.3, 1.05))
    axes.set_title(title, wrap=True)
    axes.grid(True, which="major")
    log_ticks(axes.yaxis)
    axes.yaxis.set_major_formatter(lambda value, _: percent(value))
    log_ticks(axes.xaxis, places=[group.place["horizon"] for group in members])


@dataclass(frozen=True)
class ErrorRow:
    """A policy's probability of error at the largest budget, averaged over setups that are alike."""

    label: str
    error: Interval
    simple_regret: float
    runs: int
    reference: bool


def error_ranking(groups: Groups) -> list[ErrorRow]:
    """The policies, the smallest probability of error first."""
    rows = []
    for standing in groups.ranking:
        own = [group for group in groups.shared if standing.label in group.cells]
        wrong = [wrong_runs(groups, group, standing.label) for group in own]
        size = min(one.size for one in wrong)
        if len(own) == 1:
            found = probability_interval(int(wrong[0].sum()), size, LEVEL)
        else:
            found = share_interval(np.mean([one[:size] for one in wrong], axis=0), LEVEL)
        lost = [simple_regret(groups, group, standing.label) for group in own]
        rows.append(ErrorRow(standing.label, found, float(np.mean(lost)), size, standing.reference))
    return sorted(rows, key=lambda row: (row.error.value, row.simple_regret))


def not_told_apart(rows: Sequence[ErrorRow]) -> list[str]:
    """Policies whose interval overlaps with that of the first."""
    return [row.label for row in rows[1:] if not row.error.low > rows[0].error.high]


def simple_regret(groups: Groups, group: Group, label: str) -> float:
    """The mean gap of the recommended arm."""
    cell = group.cells[label]
    gaps = max(cell["means"]) - np.array(cell["means"])
    return float(gaps[groups.results.runs_of(cell["cell"])["recommended"]].mean())


def simple_digits(rows: Sequence[ErrorRow]) -> int:
    """The digits after the point that a column of simple regrets needs, so that none of them reads as 0."""
    least = min((row.simple_regret for row in rows if row.simple_regret > 0), default=1.0)
    return min(max(2, math.ceil(-math.log10(least))), 6)
