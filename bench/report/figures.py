"""What an item of the bench found: figures with their goals, a table, notes. Plain data, so that JSON holds it."""

from dataclasses import dataclass, field
from typing import Any

from bench.report.timing import Time


@dataclass(frozen=True)
class Figure:
    """One measured number. Ratios of work on one core are taken in CPU time, with the wall's beside them."""

    what: str
    measured: float
    unit: str  # ×, s, ms, …
    at_least: float | None = None
    at_most: float | None = None
    wall: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.at_least is not None:
            return self.measured >= self.at_least
        return self.measured <= self.at_most if self.at_most is not None else None

    def cells(self) -> list[str]:
        goal, verdict = "", {True: "met", False: "not met", None: ""}[self.met]
        if self.at_least is not None or self.at_most is not None:
            sign, bound = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
            goal = f"{sign} {bound:,g} {self.unit}".strip()
        wall = "" if self.wall is None else f"{digits(self.wall)} {self.unit}".strip()
        return [self.what, goal, f"{digits(self.measured)} {self.unit}".strip(), wall, verdict]


BUSY = 0.7  # load from which a page says so
COLUMNS = ["what", "goal", "measured", "by the wall clock", ""]


@dataclass(frozen=True)
class Item:
    """All that one item of the bench has to say."""

    name: str
    title: str
    figures: list[Figure]
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    load: float = 0.0  # processes that wanted to run before the bench began

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Item":
        return cls(**plain | {"figures": [Figure(**figure) for figure in plain["figures"]]})

    def markdown(self, level: int = 2) -> str:
        parts = [f"{'#' * level} {self.title}"]
        if self.figures:
            parts.append(table(COLUMNS, [figure.cells() for figure in self.figures]))
        if self.rows:
            parts.append(table(self.columns, self.rows))
        busy = f"The machine was busy: {self.load:.1f} processes wanted to run before the bench began."
        return "\n\n".join(parts + self.notes + [busy] * (self.load > BUSY)) + "\n"


def faster(what: str, slow: Time, fast: Time, at_least: float | None = None) -> Figure:
    """How many times faster the second is."""
    return Figure(what, slow.cpu / fast.cpu, "×", at_least=at_least, wall=slow.wall / fast.wall)


def digits(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table that also reads well on a terminal."""
    lines = [columns, *rows]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(columns))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    padded.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in padded)
