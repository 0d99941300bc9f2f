"""Who wins where on a grid of two axes: a table of winners, and the same in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from afterglow.lab.report.groups import SAID, Groups, span
from afterglow.lab.report.growth import ALONG, Winner

TWO = 2  # axes of a table


@dataclass(frozen=True)
class Won:
    """How many places a policy wins, and where: empty if its places are no band across the grid."""

    label: str
    places: int
    where: str


@dataclass(frozen=True)
class WinnerGrid:
    """Winners by two axes: rows along the second, columns along the first."""

    across: str
    down: str
    columns: list[str]
    rows: list[tuple[str, list[Winner | None]]]
    won: list[Won]  # the policy of most places first


def winner_grid(groups: Groups, found: Sequence[Winner]) -> WinnerGrid | None:
    """The table of winners; None unless two axes of numbers vary."""
    if len(groups.focus) != TWO or not found:
        return None
    values = [sorted({one.at[axis] for one in found}, key=Fraction) for axis in range(TWO)]
    known = {one.at: one for one in found}
    across, down = groups.focus
    rows = [(shown(down, low), [known.get((value, low)) for value in values[0]]) for low in values[1]]
    return WinnerGrid(
        ALONG[across], ALONG[down], [shown(across, value) for value in values[0]], rows,
        won(groups.focus, values, found),
    )  # fmt: skip


def shown(axis: str, value: Any) -> str:
    return f"×{value}" if axis == "told" else f"{value:,}"


def won(axes: Sequence[str], values: Sequence[list[Any]], found: Sequence[Winner]) -> list[Won]:
    """How many places each policy wins, and in which band of one axis if it wins all of it and nothing else."""
    own: dict[str, set[tuple[Any, ...]]] = {}
    for one in found:
        own.setdefault(one.label, set()).add(one.at)
    known = {one.at for one in found}
    made = [Won(label, len(its), band(axes, values, its, known)) for label, its in own.items()]
    return sorted(made, key=lambda one: -one.places)


def band(
    axes: Sequence[str], values: Sequence[list[Any]], its: set[tuple[Any, ...]], known: set[tuple[Any, ...]]
) -> str:
    """The values of one axis where these are all places that there are; empty if they are no such band."""
    if len(its) == 1:
        (only,) = its
        return "at " + " and ".join(SAID[axis].format(value) for axis, value in zip(axes, only, strict=True))
    for number, axis in enumerate(axes):
        there = [value for value in values[number] if any(place[number] == value for place in its)]
        first, last = values[number].index(there[0]), values[number].index(there[-1])
        whole = {place for place in known if place[number] in there}
        if its == whole and its != known and last - first + 1 == len(there):
            low, high = SAID[axis].format(there[0]), SAID[axis].format(there[-1])
            return f"at {low}" if low == high else span(low, high)
    return ""
