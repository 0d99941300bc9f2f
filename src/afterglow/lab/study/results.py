"""`Results` of a study: tables for other tools, and summaries with intervals.

>>> from tempfile import mkdtemp
>>> from afterglow.lab.study.study import Study
>>> study = Study(policies=["trim-ucb", "ars-ucb"], worlds=[{"rewards": [0.9, 0.5], "window": 4}],
...               horizon=[1000, 2000, 4000], runs=20)
>>> results = study.run(mkdtemp())
>>> results.complete, len(results.cells), results.seed
(True, 6, 1)
>>> results.paired("trim-ucb", "ars-ucb")[0]["runs"]
20
"""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from afterglow.checks import choice
from afterglow.errors import BadFormat, BadValue, UnknownName, argument
from afterglow.lab.statistics import Band, Numbers, band_of_mean, band_of_runs
from afterglow.lab.study import summaries
from afterglow.lab.study.folder import JOURNAL, finished, question_in
from afterglow.lab.study.journal import described, stretches
from afterglow.lab.study.result_table.table import PLACE, ResultTable, library
from afterglow.lab.study.tables import (
    CURVES,
    RUNS,
    TABLES,
    curves_table,
    read,
    runs_table,
    slices,
    stored_sources,
    table_metadata,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from afterglow.lab.rendering.paper import Size, Style

NOT_PLACE = [
    "cell", "options", "settings", "checkpoints", "laws", "means", "best", "runs", "needs", "privileged", "file",
]  # fmt: skip


class Results:
    """The results in a folder, complete or not; read when it is opened."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.complete = finished(self.folder)
        journal = self.folder / JOURNAL
        if self.folder.suffix == ".toml" and self.folder.is_file():
            sentence = f"{folder} is a study; give the folder of its results, which `afterglow run` prints at its end"
            raise BadValue(sentence, kind="no-results", field="folder")
        if not self.complete and not journal.exists():
            raise BadValue(
                f"{folder} has no results; `afterglow run STUDY.toml --out {quote(str(folder))}` writes some",
                kind="no-results",
                field="folder",
            )
        if not (self.folder / "cells.parquet").exists():
            sentence = f"nothing of {folder} is run yet; run `afterglow run` for longer"
            raise BadValue(sentence, kind="no-results", field="folder")
        said = table_metadata(self.folder / "runs.parquet") if self.complete else described(journal)
        if not self.complete and table_metadata(self.folder / "cells.parquet") != said:
            sentence = f"{folder} was stopped while it was extended; run `afterglow run` again"
            raise BadValue(sentence, kind="no-results", field="folder")
        self.question = question_in(self.folder)
        self.study: dict[str, Any] = said["study"] | ({"question": self.question} if self.question else {})
        self.versions: dict[str, str] = said["versions"]
        self.seed: Any = self.study["seed"]
        self.objective: str = self.study.get("objective", "regret")
        self._cells = read(self.folder / "cells.parquet")
        if "file" not in self._cells.column_names:
            raise BadFormat(f"{folder} has results of an earlier Afterglow, which stored less; run the study again")

    @cached_property
    def sources(self) -> dict[str, str]:
        """The source of your own policies, spreads and reward laws, by file, as it was when they were run."""
        return stored_sources(self.folder / "cells.parquet")

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """One row for each cell, as plain data."""
        rows: list[dict[str, Any]] = self._cells.to_pylist()
        return rows

    @cached_property
    def labels(self) -> list[str]:
        """The policies with their settings, as the tables call them."""
        return list(dict.fromkeys(row["label"] for row in self.cells))

    @cached_property
    def _stored(self) -> tuple[Any, Any]:
        """Runs and curves."""
        if self.complete:
            return read(self.folder / "runs.parquet"), read(self.folder / "curves.parquet")
        batches = [batch for _, batch, _ in stretches(self.folder / JOURNAL)]
        runs = [runs_table(batch) for batch in batches]
        marks = [self.cells[batch.column("cell")[0].as_py()]["checkpoints"] for batch in batches]
        curves = [curves_table(batch, steps) for batch, steps in zip(batches, marks, strict=True)]
        if not batches:
            return RUNS.empty_table(), CURVES.empty_table()
        order = [("cell", "ascending"), ("run", "ascending")]
        return pa.concat_tables(runs).sort_by(order), pa.concat_tables(curves).sort_by([*order, ("t", "ascending")])

    def table(self, name: str) -> Any:
        """`cells`, `runs` or `curves` as an Arrow table; rows of the last two have the columns of their cell."""
        choice("table", name, TABLES)
        if name == "cells":
            return self._cells
        own = self._stored[TABLES.index(name) - 1]
        place = self._cells.drop_columns(NOT_PLACE)
        facts = place.take(own["cell"])
        for column in reversed(facts.column_names):
            own = own.add_column(1, column, facts[column])
        return own

    def to_pandas(self, table: str = "runs") -> Any:
        """A table as a pandas data frame (extra `tables`)."""
        library("pandas")
        return self.table(table).to_pandas()

    def to_polars(self, table: str = "runs") -> Any:
        """A table as a Polars data frame (extra `tables`)."""
        return library("polars").from_arrow(self.table(table))

    @cached_property
    def _columns(self) -> dict[int, dict[str, Any]]:
        """The runs of each cell as arrays."""
        runs = self._stored[0].combine_chunks()
        found: dict[int, dict[str, Any]] = {}
        for cell, rows in slices(runs["cell"].to_numpy()):
            part = runs.slice(rows.start, rows.stop - rows.start)
            found[cell] = {name: part[name].to_numpy() for name in RUNS.names if name != "pulls"}
            arms = self.cells[cell]["arms"]
            found[cell]["pulls"] = pc.list_flatten(part["pulls"]).to_numpy().reshape(-1, arms)
        return found

    def runs_of(self, cell: int) -> dict[str, Any]:
        """The runs of a cell, one array for each column, in the order of the runs."""
        if cell not in self._columns:
            named = argument("cell")
            raise BadValue(f"{named} must be one that has runs, got {cell}; the study has {len(self.cells)}")
        return self._columns[cell]

    def curves_of(self, cell: int) -> tuple[Numbers, Numbers, Numbers]:
        """(steps, regret, share of the best arm): the last two with one row for each run of a cell."""
        curves, rows = self._stored[1], self._curve_rows[cell]
        part = curves.slice(rows.start, rows.stop - rows.start)
        marks = np.array(self.cells[cell]["checkpoints"], float)
        regret, share = (part[name].to_numpy().reshape(-1, marks.size) for name in ("regret", "share"))
        return marks, regret, share

    @cached_property
    def _curve_rows(self) -> dict[int, slice]:
        return dict(slices(self._stored[1]["cell"].to_numpy()))

    def played(self) -> list[dict[str, Any]]:
        """The cells that have runs."""
        return [row for row in self.cells if row["cell"] in self._columns]

    def chosen(self, place: dict[str, Any]) -> list[dict[str, Any]]:
        """The cells that have runs and match the given columns."""
        known = (*PLACE, "runs")
        for name in place:
            if name not in known:
                raise UnknownName("column", name, known, f"cells have {', '.join(known)}", field=name)
        found = [row for row in self.played() if all(row[name] == value for name, value in place.items())]
        if not found:
            said = ", ".join(f"{name} = {value!r}" for name, value in place.items())
            sentence = f"no cell with runs has {said or 'anything yet'}; the labels are {', '.join(self.labels)}"
            raise BadValue(sentence, kind="no-results", field=next(iter(place), ""))
        return found

    def longest(self, cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """One cell for each combination: where `runs` is a list, the one with most runs, which includes the others."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for cell in sorted(cells, key=lambda row: -self.runs_of(row["cell"])["run"].size):
            found.setdefault(tuple(cell[name] for name in PLACE), cell)
        return sorted(found.values(), key=lambda row: int(row["cell"]))

    def summary(self, level: float = 0.95, interval: str = "student", **place: Any) -> ResultTable:
        """For each cell: mean regret with its interval, the median, how often the best arm was played and found.

        The interval is Student's, or with "log" that of the logarithm of the mean, as on logarithmic axes.
        """
        choice("interval", interval, ("student", "log"))
        return summaries.summary(self, self.chosen(place), level, interval)

    def error_probability(self, level: float = 0.95, **place: Any) -> ResultTable:
        """How probably the arm recommended at the end is not the best, and how much worse it is on average."""
        return summaries.error_probability(self, self.chosen(place), level)

    def answer(self) -> ResultTable:
        """What the study's objective asks: `summary()`, or `error_probability()` for the best arm."""
        return self.error_probability() if self.objective == "best-arm" else self.summary()

    def to_latex(self, caption: str = "", label: str = "") -> str:
        """The answer as a LaTeX table; every other result table has the same method."""
        return self.answer().to_latex(caption, label)

    def plot(
        self,
        kind: str | None = None,
        along: str | None = None,
        size: "Size | None" = None,
        style: "Style | None" = None,
        **place: Any,
    ) -> "Figure":
        """Draw a figure with its legend: `regret`, `linear`, `share`, `growth` along an axis, `final` or `error`.

        Left out, `kind` is what the study asks. `size` is `column`, `page`, `slide` or (width, height) in inches;
        `style` a Matplotlib style: a name, a file or settings. `place` chooses cells, as in `summary`.
        """
        drawing = import_module("afterglow.lab.report.plot")  # when it is used: reports are made of studies
        figure: Figure = drawing.plot(self, kind, along, size, style, place)
        return figure

    def merge(self, *others: "Results | str | Path", out: str | Path) -> "Results":
        """Write the results of several studies to the folder `out` as one; the same cells have their runs once."""
        from afterglow.lab.study.merge import merge  # noqa: PLC0415

        merge([self, *(one if isinstance(one, Results) else Results(one) for one in others)], Path(out))
        return Results(out)

    def paired(self, a: str, b: str, level: float = 0.95, **place: Any) -> ResultTable:
        """Regret of `a` less that of `b` in the same runs, with the interval of its mean, and who wins how often.

        Where they differ in their number of runs, it is those that both have.
        """
        for field, label in (("a", a), ("b", b)):
            if label not in self.labels:
                known = ", ".join(self.labels)
                raise UnknownName("policy", label, self.labels, f"the study has {known}", field=field)
        first, second = (self.longest(self.chosen({"label": label} | place)) for label in (a, b))
        return summaries.paired(self, first, second, level)

    def rate(self, along: str = "horizon", level: float = 0.95, **place: Any) -> ResultTable:
        """The exponent of mean regret in `horizon`, `window` or `arms`, all else being the same."""
        choice("along", along, ("horizon", "window", "arms"))
        return summaries.rate(self, self.longest(self.chosen(place)), along, level)

    def quantiles(
        self, q: float | Sequence[float] = (0.05, 0.5, 0.95), level: float = 0.95, **place: Any
    ) -> ResultTable:
        """Quantiles of the runs' regret, with intervals that hold whatever its law is."""
        return summaries.quantiles(self, self.chosen(place), q if isinstance(q, Sequence) else [q], level)

    def best_found(self, level: float = 0.95, **place: Any) -> ResultTable:
        """How probably the arm recommended at the end is the best."""
        return summaries.best_found(self, self.chosen(place), level)

    def time_to_best(self, share: float = 0.95, level: float = 0.95, **place: Any) -> ResultTable:
        """From which checkpoint on a run plays the best arm in at least `share` of the steps between checkpoints."""
        return summaries.time_to_best(self, self.chosen(place), share, level)

    def band(self, cell: int, of: str = "mean", level: float = 0.95, simultaneous: bool = False) -> Band:
        """The regret curve of a cell with the band of its `mean`, or of its `runs`."""
        choice("of", of, ("mean", "runs"))
        curves = self.curves_of(cell)[1]
        return (band_of_mean if of == "mean" else band_of_runs)(curves, level, simultaneous)

    def bands(self, of: str = "mean", level: float = 0.95, simultaneous: bool = False, **place: Any) -> ResultTable:
        """Regret at every checkpoint with its band, for each cell."""
        return summaries.bands(self, self.chosen(place), of, level, simultaneous)

    def runs_done(self) -> tuple[int, int]:
        """How many runs there are, and how many there will be."""
        done = sum(part["run"].size for part in self._columns.values())
        return int(done), self.runs_planned

    @property
    def runs_planned(self) -> int:
        """How many runs the study has when it is complete."""
        return sum(row["runs"] for row in self.cells)

    def __repr__(self) -> str:
        done, total = self.runs_done()
        state = "complete" if self.complete else f"{done:,} of {total:,} runs so far"
        return (
            f"<Results of {self.study['name']}: {len(self.cells):,} cells, {total:,} runs, seed {self.seed}, {state}>"
        )

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415

        shown = self.answer()._repr_html_() if self.played() else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{shown}"
