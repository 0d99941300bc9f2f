"""Results grouped for a report, and the ranking of policies over the groups.

A group is a setup without the policy: rewards, spread, window, horizon and what the policies are given. Its scale is
the regret of random play, so that regret in groups of any size can be averaged as a share of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import groupby
from typing import Any

import numpy as np

from afterglow.lab.statistics import LEVEL, Interval, difference_interval, log_interval, mean_interval
from afterglow.lab.study.result_table.table import PLACE
from afterglow.lab.study.results import Results
from afterglow.lab.study.summaries import best_arms
from afterglow.worlds.spreads import NAMES

Row = dict[str, Any]
AXES = (
    "rewards", "baseline", "spread", "window", "told", "horizon", "told_horizon", "season", "engine", "seed",
)  # fmt: skip
SAID = {
    "rewards": "rewards {}", "spread": "{}", "window": "window {:,}", "told": "window given ×{}",
    "horizon": "{:,} steps",
    "season": "season {}", "seed": "seed {}", "baseline": "baseline {}", "engine": "engine {}",
    "told_horizon": "horizon given: {}",
}  # fmt: skip
NUMERIC = ("horizon", "window", "told")  # axes along which regret grows: a study that varies one asks how
SAME_REWARDS = ("step", "hold")  # engines in which run r has the same rewards for every policy
LONG = 24  # maximum length of rewards in a title


@dataclass(frozen=True)
class Group:
    """One setup: its columns, and the rows of its cells by label."""

    place: Row
    cells: dict[str, Row]

    @property
    def gaps(self) -> list[float]:
        means = next(iter(self.cells.values()))["means"]
        return [round(max(means) - mean, 15) for mean in means]

    @property
    def at_random(self) -> float:
        """Regret of random play."""
        return float(self.place["horizon"] * math.fsum(self.gaps) / len(self.gaps)) or 1.0

    @property
    def most(self) -> float:
        """Regret of always playing the worst arm, the largest possible."""
        return float(self.place["horizon"] * max(self.gaps))

    @property
    def arrival(self) -> str:
        """When a reward arrives, as text; empty for a user's spread."""
        known = {name.partition(":")[0]: text for name, text in NAMES.items()}
        text = known.get(self.place["spread"].partition(":")[0], "")
        return text.partition(" (")[0].partition(";")[0]

    def without(self, *axes: str) -> tuple[Any, ...]:
        """The columns other than these, shared by groups that differ only in them."""
        return tuple(value for name, value in self.place.items() if name not in axes)

    def said(self, axes: Sequence[str]) -> str:
        """A description by the given axes."""
        return ", ".join(SAID[axis].format(self.place[axis]) for axis in axes if self.place[axis] != "")


@dataclass(frozen=True)
class Standing:
    """A policy in the ranking."""

    label: str
    share: Interval  # of random play's regret, averaged over the groups that all share
    worst: Group
    worst_regret: Interval
    best_arm: float  # share of steps on it, averaged
    found: float  # how often it was recommended at the end, averaged
    needs: str
    reference: bool  # sees each pull's own reward

    @property
    def worst_share(self) -> Interval:
        """The largest share of random play's regret."""
        scale, regret = self.worst.at_random, self.worst_regret
        return Interval(regret.value / scale, regret.low / scale, regret.high / scale)


class Groups:
    """The groups of a study, and statistics over them."""

    def __init__(self, results: Results, cells: list[Row] | None = None) -> None:
        self.results = results
        found: dict[Any, Group] = {}
        brief = brief_rewards(results.cells)
        for cell in results.longest(results.played() if cells is None else cells):
            place = place_of(cell) | {"rewards": brief[cell["rewards"]]}
            found.setdefault(tuple(place.values()), Group(place, {})).cells[cell["label"]] = cell
        self.all = list(found.values())
        self.labels = [label for label in results.labels if any(label in group.cells for group in self.all)]
        self.varying = [axis for axis in AXES if len(self.values(axis)) > 1]

    def values(self, axis: str) -> list[Any]:
        """The values of an axis, in the order of the study."""
        return list(dict.fromkeys(group.place[axis] for group in self.all))

    def title(self, group: Group, *but: str) -> str:
        return group.said([axis for axis in self.varying if axis not in but]) or group.said(("spread", "window"))

    def regret(self, group: Group, label: str) -> Interval:
        """Mean regret of a cell with its interval."""
        return mean_interval(self.results.runs_of(group.cells[label]["cell"])["regret"], LEVEL)

    def drawn_regret(self, group: Group, label: str) -> Interval:
        """Mean regret of a cell with its interval on a logarithmic axis."""
        return log_interval(self.results.runs_of(group.cells[label]["cell"])["regret"], LEVEL)

    def of(self, label: str) -> list[Group]:
        return [group for group in self.all if label in group.cells]

    @cached_property
    def focus(self) -> list[str]:
        """The axes of numbers that vary: what the study asks is how regret depends on them."""
        return [axis for axis in NUMERIC if axis in self.varying]

    @cached_property
    def places(self) -> list[tuple[Any, ...]]:
        """The combinations of the focus axes, the smallest first."""
        found = {tuple(group.place[axis] for axis in self.focus) for group in self.all}
        return sorted(found, key=lambda place: [Fraction(value) for value in place])

    def at(self, place: tuple[Any, ...]) -> list[Group]:
        """The groups of one combination of the focus axes, which are alike."""
        return [group for group in self.all if tuple(group.place[axis] for axis in self.focus) == place]

    @cached_property
    def end(self) -> tuple[Any, ...] | None:
        """Where policies are ranked: the largest place with all of them and the true window; None without one."""
        told = self.focus.index("told") if "told" in self.focus else None
        true = [place for place in self.places if told is None or place[told] == "1"] or self.places
        whole = [place for place in true if set().union(*(group.cells for group in self.at(place))) >= set(self.labels)]
        return whole[-1] if whole else None

    @cached_property
    def shared(self) -> list[Group]:
        """The groups at the end of the focus axes that have every policy; all there, if there are none."""
        alike = self.all if self.end is None else self.at(self.end)
        return [group for group in alike if len(group.cells) == len(self.labels)] or alike

    def share(self, label: str, groups: Sequence[Group]) -> Interval:
        """Regret as a share of random play's, averaged over groups run by run, with the interval of its mean."""
        return mean_interval(self.shares(label, groups)[1], LEVEL)

    def shares(self, label: str, groups: Sequence[Group]) -> tuple[Any, Any]:
        """The runs that all groups have, and the regret of each as a share of random play's."""
        runs = [self.results.runs_of(group.cells[label]["cell"]) for group in groups]
        common = reduce(np.intersect1d, [one["run"] for one in runs])
        parts = [
            one["regret"][np.isin(one["run"], common)] / group.at_random
            for one, group in zip(runs, groups, strict=True)
        ]
        return common, np.mean(parts, axis=0)

    def behind(self, label: str, first: str, among: Sequence[Group] | None = None) -> Interval:
        """Difference of two policies' shares of random play's regret.

        Run by run where both have the same rewards; else by Welch's interval.
        """
        alike = self.shared if among is None else among
        groups = [[group for group in alike if one in group.cells] for one in (label, first)]
        (runs, own), (others, least) = (self.shares(one, its) for one, its in zip((label, first), groups, strict=True))
        paired = groups[0] == groups[1] and all(group.place["engine"] in SAME_REWARDS for group in groups[0])
        _, left, right = np.intersect1d(runs, others, assume_unique=True, return_indices=True)
        if paired and left.size:
            return mean_interval(own[left] - least[right], LEVEL)
        return difference_interval(own, least, LEVEL)

    @cached_property
    def ranking(self) -> list[Standing]:
        """The policies, the least average share first."""
        return sorted((self.standing(label) for label in self.labels), key=lambda one: one.share.value)

    def standing(self, label: str) -> Standing:
        groups = [group for group in self.shared if label in group.cells]
        worst = max(groups, key=lambda group: self.regret(group, label).value / group.at_random)
        cells = [group.cells[label] for group in groups]
        runs = [self.results.runs_of(cell["cell"]) for cell in cells]
        best = [
            one["pulls"][:, best_arms(cell)].sum(axis=1).mean() / cell["horizon"]
            for one, cell in zip(runs, cells, strict=True)
        ]
        hits = [np.isin(one["recommended"], best_arms(cell)).mean() for one, cell in zip(runs, cells, strict=True)]
        return Standing(
            label, self.share(label, groups), worst, self.regret(worst, label), float(np.mean(best)),
            float(np.mean(hits)), cells[0]["needs"], cells[0]["privileged"],
        )  # fmt: skip


def place_of(cell: Row) -> Row:
    """The columns of a cell's group, with the given window as a multiple of the true one."""
    told = str(Fraction(cell["told_window"], cell["window"]))
    return {name: cell[name] for name in PLACE if name not in ("label", "told_window")} | {"told": told}


def span(first: str, last: str) -> str:
    """From one place to another, with a common unit once.

    >>> span("1,000 steps", "4,000 steps"), span("window 2", "window 8"), span("2 steps, window 4", "9 steps, window 4")
    ('from 1,000 to 4,000 steps', 'from window 2 to 8', 'from 2 steps, window 4 to 9 steps, window 4')
    """
    if ", " not in first and first.endswith(" steps") and last.endswith(" steps"):
        return f"from {first.removesuffix(' steps')} to {last}"
    if ", " not in first and first.startswith("window ") and last.startswith("window "):
        return f"from {first} to {last.removeprefix('window ').removeprefix('given ')}"
    return f"from {first} to {last}"


def brief_rewards(cells: Sequence[Row]) -> dict[str, str]:
    """Short names of reward laws: their means, where the laws are long and the means distinguish them.

    >>> laws = "normal:0.38,0.1 2×normal:0.4,0.1"
    >>> brief_rewards([{"rewards": laws, "means": [0.38, 0.4, 0.4]}])
    {'normal:0.38,0.1 2×normal:0.4,0.1': '0.38 2×0.4'}
    """
    full = {cell["rewards"]: cell["rewards"] for cell in cells}
    groups = {cell["rewards"]: groupby(f"{mean:.3g}" for mean in cell["means"]) for cell in cells}
    counted = {laws: [(text, len(list(same))) for text, same in group] for laws, group in groups.items()}
    means = {
        laws: " ".join(text if times == 1 else f"{times}×{text}" for text, times in parts)
        for laws, parts in counted.items()
    }
    return means if max(map(len, full)) > LONG and len(set(means.values())) == len(full) else full


def picked(things: Sequence[Any], most: int) -> list[Any]:
    """At most so many of them, evenly from the first to the last.

    >>> picked(range(10), 4)
    [0, 3, 6, 9]
    """
    if len(things) <= most:
        return list(things)
    return [things[round(number * (len(things) - 1) / (most - 1))] for number in range(most)]
