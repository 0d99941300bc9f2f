"""Data frames and columns are read like the CSV file that has the same rows."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pandas
import polars
import pyarrow
import pytest

from afterglow import fit, plan
from afterglow.errors import BadValue
from afterglow.lab import read_steps, read_totals
from afterglow.lab.plan.past_totals import summarised_history
from afterglow.lab.reading import read_panel

START = datetime(2026, 3, 2, tzinfo=UTC)
HOURS = [START + timedelta(hours=hour) for hour in range(60)]
TOTALS = [100.0 + 10 * (hour % 24) + hour % 7 for hour in range(60)]
COLUMNS: dict[str, list[Any]] = {"when": HOURS, "sales": TOTALS, "variant": Random(3).choices("AB", k=60)}
FRAMES: list[Callable[[dict[str, list[Any]]], Any]] = [
    pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.table, dict,
    lambda columns: pandas.DataFrame(columns).set_index("when"),
    lambda columns: pandas.DataFrame(columns).set_index(pandas.Index(columns["when"], name="when")),
    lambda columns: pandas.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    lambda columns: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
]  # fmt: skip
NAMES = ["pandas", "polars", "lazy", "arrow", "dict", "indexed", "indexed twice", "nullable", "rows"]
EVERY = pytest.mark.parametrize("frame", FRAMES, ids=NAMES)


@EVERY
def test_a_frame_is_read_like_a_file_of_its_rows(frame: Callable[[dict[str, list[Any]]], Any]) -> None:
    steps = read_steps(frame(COLUMNS))
    assert (steps.arm, steps.total) == (COLUMNS["variant"], TOTALS)
    totals = read_totals(frame({"when": HOURS, "sales": [*TOTALS[:-1], None]}))
    assert totals.values[:-1] == TOTALS[:-1]
    assert totals.values[-1] != totals.values[-1]
    assert totals.step == timedelta(hours=1)


@EVERY
def test_regions_side_by_side_are_a_panel(frame: Callable[[dict[str, list[Any]]], Any]) -> None:
    panel = read_panel(frame({"when": HOURS, "north": TOTALS, "south": TOTALS[::-1]}))
    assert panel.units == ["north", "south"]
    assert panel.values[0] == [TOTALS[0], TOTALS[-1]]


def test_fit_and_plan_take_frames() -> None:
    frame = polars.DataFrame(COLUMNS)
    assert fit(frame, window=2).to_dict()["means"] == fit(frame.write_csv(), window=2).to_dict()["means"]
    history = frame.select("when", "sales")
    found = plan(arms=2, window=2, horizon=400, gap=0.2, history=history, runs=20)
    assert found.to_dict()["verdict"]


def test_lists_with_times_need_no_names() -> None:
    pairs = list(zip(HOURS, TOTALS, strict=True))
    totals = read_totals(pairs)
    assert (totals.values, totals.step) == (TOTALS, timedelta(hours=1))
    past = summarised_history(pairs, None, 2, {})
    assert past.read == "60 totals of an hour from column '2', 2 Mar 2026 to 4 Mar 2026 11:00"
    steps = read_steps(list(zip(HOURS, COLUMNS["variant"], TOTALS, strict=True)))
    assert (steps.arm, steps.total) == (COLUMNS["variant"], TOTALS)


def test_a_key_that_a_row_lacks_is_unknown() -> None:
    rows: list[dict[str, Any]] = [{"when": when, "sales": total} for when, total in zip(HOURS, TOTALS, strict=True)]
    del rows[3]["sales"]
    assert [place for place, value in enumerate(read_totals(rows).values) if value != value] == [3]


@pytest.mark.parametrize("made", [pandas.Series, polars.Series])
def test_a_series_is_a_column_of_totals(made: Callable[[list[float | None]], Any]) -> None:
    assert read_totals(made([1.5, 2.5, 4.0])).values == [1.5, 2.5, 4.0]


def test_the_times_of_a_series_are_used_by_a_plan() -> None:
    past = summarised_history(pandas.Series(TOTALS, index=HOURS, name="sales"), None, 2, {})
    assert past.read == "60 totals of an hour from column 'sales', 2 Mar 2026 to 4 Mar 2026 11:00"


@pytest.mark.parametrize("frame", FRAMES[:5], ids=NAMES[:5])
def test_a_row_without_any_value_is_a_step_without_a_total(frame: Callable[[dict[str, list[Any]]], Any]) -> None:
    totals = read_totals(frame({"sales": [1.5, None, 4.0]}))
    assert (totals.values[0], totals.values[2], len(totals.values)) == (1.5, 4.0, 3)


def test_separators_in_names_of_arms_divide_nothing() -> None:
    rows = [(f"over {49 + 10 * (step % 2)};free;fast", total) for step, total in enumerate(TOTALS)]
    assert read_steps(rows).arm == [arm for arm, _ in rows]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (pandas.DataFrame([(1, 2)], columns=["sales", "sales"]), "two columns named 'sales'; drop or rename one"),
        (pyarrow.table([[1], [2]], names=["sales", "sales"]), "the data frame has two columns named 'sales'"),
        (pandas.DataFrame({("a", "sales"): [1]}), "the data frame has 2 rows of column names; give each column one"),
        (polars.DataFrame({"sales": [[1]]}), "column 'sales' of the data frame has cells of type List(Int64); leave"),
        ({"a": [1, 2], "b": [1]}, "columns must be equally long and not empty, got {'a': 2, 'b': 1}"),
        ({}, "columns must be equally long and not empty"),
        (pandas.DataFrame({"sales": []}), "the data frame has no rows"),
        (type("Odd", (), {"columns": ["a"]})(), "a table must be a path, CSV text, a data frame, a dict of c"),
        ([(1, 2.0), (2,)], "rows must be all dicts, or all tuples of the same length, got (2,) as row 2"),
        ([{"a": 1}, (1, 2)], "rows must be all dicts, or all tuples of the same length"),
        ([(1, 2.0), 3.0], "got 3.0 as row 2"),
    ],
)
def test_what_is_no_table_is_refused(source: Any, said: str) -> None:
    with pytest.raises(BadValue) as refused:
        read_totals(source)
    assert said in str(refused.value)
