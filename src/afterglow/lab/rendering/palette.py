"""Colours and strokes of policies and spreads, from the colour-blind safe palette of Okabe & Ito.

Figures are drawn in the light colours. On a page every colour is a variable of the style sheet, which has other values
for dark screens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

INK, GREY, PALE, RULE, PAPER = "#1d1f24", "#767b85", "#b9bdc6", "#dfe1e6", "#fefefe"
BLUE, SKY, GREEN, ORANGE, RED, PINK = "#0072b2", "#3fa7e0", "#009e73", "#d98e00", "#cc4f00", "#b8578c"
VARIABLES = {
    INK: "ink", GREY: "grey", PALE: "pale", RULE: "rule", PAPER: "page", BLUE: "blue", SKY: "sky",
    GREEN: "green", ORANGE: "orange", RED: "red", PINK: "pink",
}  # fmt: skip


@dataclass(frozen=True)
class Stroke:
    """Colour, dash and width of a policy's line."""

    colour: str
    dash: tuple[float, ...] = ()
    width: float = 1.5


STROKES = {
    "thrift-ucb": Stroke(BLUE, width=2.2),
    "trim-ucb": Stroke(BLUE, (5, 1.5)),
    "lean-ucb": Stroke(INK, width=1.8),
    "leak-ucb": Stroke(SKY),
    "washout-ucb": Stroke(GREEN),
    "phased-ucb paper": Stroke(RED),
    "phased-ucb corrected": Stroke(ORANGE),
    "phased-elimination": Stroke(PINK),
    "ucb1": Stroke(INK, (1, 1.6)),
    "attributed-ucb": Stroke(GREY, (4, 2)),
}
OTHERS = Stroke(PALE, width=0.8)
FREE = sorted(STROKES.values(), key=lambda look: look.colour in (SKY, INK))  # close to blue, and to dotted ink


def strokes(labels: Sequence[str]) -> dict[str, Stroke]:
    """A stroke for each label: its own if it has one, else a free one; the first label always gets one.

    >>> strokes(["trim-ucb", "phased-ucb constants=paper"])["phased-ucb constants=paper"] == STROKES["phased-ucb paper"]
    True
    """
    usual = {label: label.replace("constants=", "") for label in labels}
    own = {label: STROKES[name] for label, name in usual.items() if name in STROKES}
    free = [look for look in FREE if look not in own.values()]
    rest = [label for label in labels if label not in own]
    found = own | dict(zip(rest, free, strict=False))
    if rest and rest[0] == labels[0] and not free:
        found[labels[0]] = found.pop([label for label in labels if label in own][-1])
    return {label: found.get(label, OTHERS) for label in labels}
