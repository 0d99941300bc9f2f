"""`ResultTable`: rows of plain data, with a caption that defines the intervals."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill
from typing import Any

from afterglow.errors import MissingExtra
from afterglow.lab.study.result_table.html import page
from afterglow.lab.study.result_table.latex import latex

PLACE = (
    "label", "arms", "rewards", "spread", "baseline", "window", "horizon", "told_window", "told_horizon", "season",
    "engine", "seed",
)  # fmt: skip  # what a cell is
PLACES = ("a", "b", "laws", "told", *PLACE)
WIDTH = 100  # of a caption


@dataclass(frozen=True)
class ResultTable:
    """Rows of plain data. Printed, values that are the same in every row are above the table."""

    rows: list[dict[str, Any]]
    caption: str

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.rows[number]

    def to_pandas(self) -> Any:
        """As a pandas data frame (extra `tables`)."""
        return library("pandas").DataFrame(self.rows)

    def to_polars(self) -> Any:
        """As a Polars data frame (extra `tables`)."""
        return library("polars").DataFrame(self.rows, infer_schema_length=None)

    def to_latex(self, caption: str = "", label: str = "") -> str:
        """As a LaTeX table for the package booktabs; its caption says what the intervals are unless one is given."""
        columns = self.columns()
        texts = [[figure(row[name]) for name in columns] for row in self.rows]
        head = self.head()
        said = caption or f"{head + '. ' if head else ''}{self.caption[:1].upper()}{self.caption[1:]}."
        return latex(columns, self.rows, texts, head, said, label)

    def hidden(self, name: str) -> bool:
        """Whether a column is redundant."""
        usual = {"told_horizon": True, "engine": "auto", "season": 1, "baseline": "", "seed": 1, "told": 1}
        if name == "told_window":
            return all(row[name] == row.get("window") for row in self.rows)
        return name == "cell" or (name in usual and all(row[name] == usual[name] for row in self.rows))

    def common(self) -> dict[str, Any]:
        """The identifying columns that are the same in every row."""
        first = self.rows[0] if self.rows else {}
        same = [name for name in PLACES if name in first and all(row[name] == first[name] for row in self.rows)]
        return {name: first[name] for name in same if not self.hidden(name)} if len(self.rows) > 1 else {}

    def columns(self) -> list[str]:
        """The columns that are shown."""
        first = self.rows[0] if self.rows else {}
        return [name for name in first if name not in self.common() and not self.hidden(name)]

    def head(self) -> str:
        """The values that are the same in every row, as text."""
        return ", ".join(f"{name} {figure(value)}" for name, value in self.common().items())

    def __str__(self) -> str:
        columns = self.columns()
        cells = [[figure(row[name]) for name in columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        left = [all(isinstance(row[name], str) for row in self.rows) for name in columns]
        lines = [aligned(row, widths, left) for row in [columns, *cells]]
        return "\n".join([line for line in (self.head(),) if line] + lines + ["", fill(self.caption, WIDTH)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = self.columns()
        texts = [[figure(row[name]) for name in columns] for row in self.rows]
        return page(self.head(), columns, self.rows, texts, self.caption)


def aligned(cells: list[str], widths: list[int], left: list[bool]) -> str:
    placed = zip(cells, widths, left, strict=True)
    texts = [cell.ljust(width) if flush else cell.rjust(width) for cell, width, flush in placed]
    return "  ".join(texts).rstrip()


def figure(value: Any) -> str:
    """A value as text, with four significant digits."""
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else value
    if isinstance(value, list):
        return " ".join(figure(one) for one in value)
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == 0 or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def library(name: str) -> Any:
    """pandas or Polars, if it is there."""
    from importlib import import_module  # noqa: PLC0415

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(f"a table for {name}", "tables") from None
