"""The policies of a study as lines of figures: their order and their strokes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D

from afterglow.lab.rendering.palette import OTHERS, Stroke, strokes
from afterglow.lab.rendering.style import handle, slug
from afterglow.lab.report.groups import Groups

DASHES = {"--": (5.0, 1.5), ":": (1.0, 1.6), "-.": (4.0, 1.5, 1.0, 1.5)}


@dataclass(frozen=True)
class Lines:
    """The groups of a study, the labels of its policies, the best first, and their strokes."""

    groups: Groups
    order: list[str]
    looks: dict[str, Stroke]

    def known(self, label: str) -> bool:
        """Whether a policy has a stroke of its own."""
        return self.looks[label] != OTHERS

    def gid(self, label: str) -> str:
        """The name of a policy's line in a drawing."""
        return f"line-{slug(label if self.known(label) else 'the others')}"

    def legend(self) -> list[tuple[str, Stroke]]:
        """Labels with their lines; those without a line of their own as one."""
        known = [(label, look) for label, look in self.looks.items() if look != OTHERS]
        return known + ([("the others", OTHERS)] if len(known) < len(self.looks) else [])

    def samples(self) -> list[Line2D]:
        """The legend of a separate figure."""
        return [handle(look, label) for label, look in self.legend()]


def lines_of(groups: Groups, style: Mapping[str, Any] | None = None) -> Lines:
    """The lines in the usual strokes, or in those of a style's `axes.prop_cycle`."""
    order = [standing.label for standing in groups.ranking]
    cycle = list((style or {}).get("axes.prop_cycle", ()))
    if not cycle:
        return Lines(groups, order, strokes(order))
    looks = {}
    for place, label in enumerate(order):
        one = cycle[place % len(cycle)]
        dash = DASHES.get(one.get("linestyle", "-"), ())
        if place >= len(cycle):  # the same colours again, with other dashes
            dash = list(DASHES.values())[(place // len(cycle) - 1) % len(DASHES)]
        looks[label] = Stroke(str(one.get("color", "black")), dash, float(one.get("linewidth", 1.5)))
    return Lines(groups, order, looks)
