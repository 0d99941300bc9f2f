"""Theorem bounds on the regret of policies, with the measured regret."""

import json
import math
from dataclasses import dataclass

from afterglow.errors import AfterglowError
from afterglow.lab.report.groups import Group, Groups, Row
from afterglow.lab.statistics import Interval
from afterglow.theory import bounds, lai_robbins

THEOREMS = {
    "theorem_1_paper": "Theorem 1 of Garg & Akash, as printed",
    "theorem_1_corrected": "Theorem 1 with corrected constants",
    "theorem_2_paper": "Theorem 2 of Garg & Akash, as printed",
    "theorem_2_sharper": "Theorem 2, sharpened",
    "regret_as_set": "proved for these settings",
}

KNOW_MEANS = ("handicap", "chameleon")  # spreads that depend on which arm is the best


@dataclass(frozen=True)
class TheoremBound:
    """A bound on a policy's regret, and the measured regret in a group."""

    label: str
    theorem: str  # its name in `afterglow.theory.bounds`
    bound: float
    regret: Interval
    group: Group

    @property
    def text(self) -> str:
        return THEOREMS[self.theorem]

    @property
    def ratio(self) -> float:
        return self.bound / self.regret.value

    @property
    def empty(self) -> bool:
        """Whether the bound is larger than the regret of always playing the worst arm."""
        return self.bound > self.group.most


def theorem_bounds_of(groups: Groups) -> list[TheoremBound]:
    """Every bound of every policy in the group where the regret is closest to it, the best policy first.

    Bounds that are not smaller than another of the same cell are left out.
    """
    found: dict[tuple[str, str], list[TheoremBound]] = {}
    for label in (standing.label for standing in groups.ranking):
        for group in groups.of(label):
            regret, least = groups.regret(group, label), math.inf
            for theorem, most in bounds_of(group, label).items() if regret.value > 0 else ():
                if most < 0.99 * least:
                    found.setdefault((label, theorem), []).append(TheoremBound(label, theorem, most, regret, group))
                    least = most
    return [min(each, key=lambda one: (one.empty, one.ratio)) for each in found.values()]


def bound(group: Group, label: str) -> float | None:
    """The bound shown in figures: that of the theorem for the policy with its settings."""
    return next(iter(bounds_of(group, label).values()), None)


def lower_bound(group: Group, step: int) -> float | None:
    """The bound of Lai & Robbins at a step; None where it does not apply."""
    cell = next(iter(group.cells.values()))
    yes_no = all(law.startswith("bernoulli:") for law in cell["laws"])
    if not yes_no or group.place["spread"] in KNOW_MEANS or group.place["baseline"]:
        return None
    return lai_robbins(cell["means"], step)


def bounds_of(group: Group, label: str) -> dict[str, float]:
    """All bounds on the regret of a cell by their theorem, where its assumptions hold."""
    cell = group.cells[label]
    options = json.loads(cell["options"])
    theorems = {
        "phased-ucb": (f"theorem_1_{options.get('constants', 'paper')}", "regret_as_set"),
        "phased-elimination": ("theorem_2_paper", "theorem_2_sharper"),
        "trim-ucb": ("regret_as_set",),
    }
    if cell["policy"] not in theorems or not assumed(cell):
        return {}
    try:
        known = bounds(cell["policy"], cell["arms"], cell["horizon"], cell["told_window"], group.gaps, options)
    except AfterglowError:
        return {}
    return {name: known[name] for name in theorems[cell["policy"]] if known.get(name) is not None}


def assumed(cell: Row) -> bool:
    """Whether a cell meets the assumptions of the theorems: a built-in policy with the true window, no baseline."""
    told = cell["told_horizon"] and cell["told_window"] >= cell["window"]
    return told and not cell["file"] and not cell["baseline"] and cell["season"] == 1
