"""CSV files as people have them."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as some

from afterglow.errors import BadFormat, BadValue
from afterglow.lab.reading.numbers import plain_values, value
from afterglow.lab.reading.tables import read_steps, read_totals
from afterglow.lab.reading.text import LOOKED_AT, grid, separator_of
from afterglow.lab.reading.times import moment

START = datetime(2026, 2, 27, 22)
AMOUNTS = some.integers(-10_000_000, 10_000_000).map(lambda cents: cents / 100)
DIALECTS = {  # grouping and decimal sign, and the separators that go with them
    "1,234.50": (",", ".", "\t;|"),
    "1234.50": ("", ".", "\t;|,"),
    "1.234,50": (".", ",", "\t;|"),
    "1 234,50": ("\u00a0", ",", "\t;|"),
    "1'234.50": ("'", ".", "\t;|,"),
    "1234,50": ("", ",", "\t;|"),
}
CLOCKS: dict[str, Callable[[datetime], str]] = {
    "iso": lambda time: time.isoformat(),
    "spaced": lambda time: time.strftime("%Y-%m-%d %H:%M"),
    "dotted": lambda time: time.strftime("%d.%m.%Y %H:%M"),
    "american": lambda time: time.strftime("%m/%d/%Y %I:%M %p"),
    "british": lambda time: time.strftime("%d/%m/%Y %H:%M:%S"),
    "worded": lambda time: time.strftime("%d %b %Y %H:%M"),
    "compact": lambda time: time.strftime("%Y%m%dT%H:%M"),
}


def written(value: float, grouping: str, decimal: str) -> str:
    return f"{value:,.2f}".translate({ord(","): grouping, ord("."): decimal})


@given(
    values=some.lists(AMOUNTS, min_size=3, max_size=30),
    dialect=some.sampled_from(sorted(DIALECTS)),
    which=some.integers(0, 3),
    clock=some.sampled_from([None, *CLOCKS]),
    header=some.booleans(),
    encoding=some.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    ending=some.sampled_from(["\n", "\r\n", "\n\n"]),
    quoted=some.booleans(),
)
def test_totals_come_back_from_every_dialect(
    values: list[float],
    dialect: str,
    which: int,
    clock: str | None,
    header: bool,
    encoding: str,
    ending: str,
    quoted: bool,
) -> None:
    grouping, decimal, separators = DIALECTS[dialect]
    separator = separators[which % len(separators)]
    times = [START + step * timedelta(hours=7) for step in range(len(values))]
    bare = clock is None and "," in grouping + decimal and not header  # 1,50 could be two columns
    quote = '"' if quoted or bare or separator == decimal else ""
    cells = [f"{quote}{written(value, grouping, decimal)}{quote}" for value in values]
    lines = (
        cells if clock is None else [CLOCKS[clock](t) + separator + cell for t, cell in zip(times, cells, strict=True)]
    )
    if header:
        lines.insert(0, "total" if clock is None else f"time{separator}total")
    found = read_totals((ending.join(lines) + ending).encode(encoding))
    assert found.values == pytest.approx(values)
    assert found.times == (None if clock is None else times)


UGLY = {
    "totals alone": ("3\n4\n\n5\n", [3, 4, 5]),
    "a header": ("total\n3\n4\n", [3, 4]),
    "decimal commas alone": ("12,5\n13,25\n11\n", [12.5, 13.25, 11]),
    "decimal commas under a header": ("Umsatz\n12,5\n13,25\n", [12.5, 13.25]),
    "decimal commas between commas": ("day,total\n2026-01-01,12,5\n2026-01-02,13\n", [12.5, 13]),
    "step numbers": ("0,4\n1,5\n2,3\n", [4, 5, 3]),
    "money": ("day;sales\n2026-01-01;€ 1.234,50\n2026-01-02;987,00 €\n2026-01-03;-12,30 EUR\n", [1234.5, 987, -12.3]),
    "dollars": ('day,sales\n1/30/2026,"$1,234.50"\n1/31/2026,($3.00)\n', [1234.5, -3]),
    "percent": ("day,rate\n2026-01-01,12.5 %\n2026-01-02,13%\n", [0.125, 0.13]),
    "Indian groups": ('total\n"12,34,567"\n"1,00,000"\n', [1234567, 100000]),
    "an accountant's minus": ("total\n12.5-\n\u22123.5\n", [-12.5, -3.5]),
    "powers of ten": ("total\n1.2E+05\n3e-1\n", [120000, 0.3]),
    "titles, blanks and a sum": ("Sales report\n\nday,sales\n2026-01-01,4\n2026-01-02,5\n\nTotal,9\n", [4, 5]),
    "titles that a spreadsheet pads": (
        "Sales report;;\n;;\nin EUR;;\nday;hour;sales\n01.02.26;0;4,5\n01.02.26;1;5\n",
        [4.5, 5],
    ),
    "a header over one column": ("total;;\n4;;\n5;;\n", [4, 5]),
    "a line for Excel": ("sep=;\nday;total\n2026-01-01;4\n2026-01-02;5\n", [4, 5]),
    "trailing separators": ("day;total;\n2026-01-01;4;\n2026-01-02;5;\n", [4, 5]),
    "other columns": ("shop,day,orders\nA,2026-01-01,4\nA,2026-01-02,5\n", [4, 5]),
    "a plain total beside counts": ("day,orders,total\n2026-01-01,9,4\n2026-01-02,7,5\n", [4, 5]),
    "numbers of rows beside money": ("id,revenue\n7,4.5\n8,5\n9,6\n", [4.5, 5, 6]),
    "newest first": ("2026-01-02,5\n2026-01-01,4\n", [4, 5]),
    "unsorted": ("2026-01-02,5\n2026-01-04,7\n2026-01-01,4\n2026-01-03,6\n", [4, 5, 6, 7]),
    "repeated rows": ("2026-01-01,4\n2026-01-02,5\n2026-01-02,5\n", [4, 5]),
    "parts of a day": ("2026-01-01,4\n2026-01-02,5\n2026-01-02,6\n2026-01-03,1\n", [4, 11, 1]),
    "months": ("2026-01,5\n2026-02,6\n2026-03,7\n", [5, 6, 7]),
    "ends of months": ("2026-01-31,5\n2026-02-28,6\n2026-03-31,7\n", [5, 6, 7]),
    "Unix seconds": ("1767225600,5\n1767229200,6\n", [5, 6]),
    "a clock of 24": ("01.01.2026 23:00;5\n01.01.2026 24:00;6\n", [5, 6]),
    "pipes": ("| day | total |\n| 2026-01-01 | 4 |\n| 2026-01-02 | 5 |\n", [4, 5]),
    "line breaks in quotes": ('"day","total\n(EUR)"\n"2026-01-01","4"\n"2026-01-02","5"\n', [4, 5]),
}


@pytest.mark.parametrize("case", UGLY)
def test_tables_of_real_life_are_read(case: str) -> None:
    text, values = UGLY[case]
    assert read_totals(text).values == pytest.approx(values)


REFUSED = {
    "row 3, column 'total': 'abc' is no number": "day,total\n2026-01-01,4\n2026-01-02,abc\n2026-01-03,4\n",
    "row 3, column 'day': 'yesterday' is no time": "day,total\n2026-01-01,4\nyesterday,5\n2026-01-03,4\n",
    "row 3, column 'day': '2026-02-30' is no time": "day,total\n2026-02-28,4\n2026-02-30,5\n2026-03-01,4\n",
    "row 3, column 'total': '1.5' is no number; the column's decimal sign is ','": "total;x\n1.234,5;a\n1.5;b\n",
    "row 4, column 'total': '1.5' is no number": "total;x\n2,5;a\n1;b\n1.5;b\n",
    "row 2, column 'rate': '5%' is in percent where other rows are not": "rate\n5%\n0.05\n",
    "row 3 has 3 cells where the others have 2": "day,total\n2026-01-01,4\n2026-01-02,4,x\n2026-01-03,4\n",
    "could be the total (a, b); name it, such as column='a'": "a,b\n1,2\n3,7\n1,9\n",
    "could be the total (orders, gmv_eur); name it": "day,orders,gmv_eur\n2026-01-01,4,81.5\n2026-01-02,5,90.1\n",
    "could be the total (total_orders, Umsatz)": "total_orders,Umsatz\n4,81.5\n5,90.1\n4,70.2\n",
    "could be the total (total, sum); name it": "total,sum\n1,2.5\n3,7.5\n1,9.5\n",
    "12:10:00 is not a whole number of steps": "1.1.2026 10:00;4\n1.1.2026 11:00;4\n1.1.2026 12:00;4\n1.1.2026 12:10;",
    "sum events up first": "2026-01-01 00:00,4\n2026-01-01 00:01,4\n2026-01-01 11:00,4\n",
    "must both have an offset or neither": "2026-01-01T00:00Z,4\n2026-01-01T01:00,4\n",
    "has a header and no rows": "day,total\n\n",
    "has no rows": "\n\n",
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cant_be_read_is_named_by_row_and_column(sentence: str) -> None:
    with pytest.raises(BadFormat) as refusal:
        read_totals(REFUSED[sentence])
    assert sentence in str(refusal.value)


def test_ambiguous_decimal_signs_follow_the_caller_or_are_noted() -> None:
    text = "day;total\n2026-01-01;1.234\n2026-01-02;5.678\n"
    guessed = read_totals(text)
    assert guessed.values == [1.234, 5.678]
    assert any("give decimal=','" in note for note in guessed.notes)
    assert read_totals(text, decimal=",").values == [1234, 5678]


def test_gaps_are_unknown_unless_they_are_said_to_be_zero() -> None:
    text = "time,total\n2026-01-01 00:00,1\n2026-01-01 01:00,\n2026-01-01 02:00,3\n2026-01-01 05:00,6\n"
    found = read_totals(text)
    assert found.gaps == [1, 3, 4]
    assert [time.hour for time in found.times or []] == [0, 1, 2, 3, 4, 5]
    assert any("3 steps have no total, in 2 gaps, the first is that of 2026-01-01 01:00:00" in n for n in found.notes)
    assert read_totals(text, missing="zero").values == [1, 0, 3, 0, 0, 6]


def test_gaps_in_months_and_in_numbered_steps_are_found_too() -> None:
    months = read_totals("2026-01,5\n2026-02,6\n2026-04,8\n2026-05,8\n")
    assert (months.step, months.gaps) == ("month", [2])
    assert (months.times or [])[2] == datetime(2026, 3, 1)
    assert read_totals("step,total\n10,1\n11,2\n13,4\n").gaps == [2]


def hours(zone: str, first: datetime, count: int) -> list[datetime]:
    """Consecutive hours as the clocks of a zone show them."""
    return [(first + step * timedelta(hours=1)).astimezone(ZoneInfo(zone)) for step in range(count)]


@pytest.mark.parametrize("first", [datetime(2026, 3, 28, 22, tzinfo=UTC), datetime(2026, 10, 24, 21, tzinfo=UTC)])
def test_a_change_of_the_clocks_is_no_gap_where_offset_or_zone_are_known(first: datetime) -> None:
    times = hours("Europe/Berlin", first, 8)
    text = "".join(f"{time.isoformat()};{place}\n" for place, time in enumerate(times))
    assert read_totals(text).values == list(range(8))
    bare = "".join(f"{time:%d.%m.%Y %H:%M};{place}\n" for place, time in enumerate(times))
    known = read_totals(bare, zone="Europe/Berlin")
    assert known.values == list(range(8))
    assert [time.astimezone(UTC) for time in known.times or []] == [time.astimezone(UTC) for time in times]
    turned = "".join(reversed(bare.splitlines(keepends=True)))
    assert read_totals(turned, zone="Europe/Berlin").values == list(range(8))
    unknown = read_totals(bare)
    assert unknown.values != list(range(8))
    assert "times have no zone; read as they are written" in unknown.notes
    assert unknown.notes[-1] == "if clocks were changed in between, name their zone, such as zone='Europe/Berlin'"


def test_an_hour_that_a_zone_does_not_have_is_named_and_so_is_one_that_comes_twice() -> None:
    spring = "".join(f"2026-03-29 0{hour}:00,{hour}\n" for hour in range(6))
    with pytest.raises(BadValue, match="zone Europe/Berlin has no 2026-03-29 02:00, when its clocks were put forward"):
        read_totals(spring, zone="Europe/Berlin")
    assert read_totals(spring, zone="America/New_York").gaps == []
    autumn = "time,total\n2026-10-25 01:00,1\n2026-10-25 02:00,2\n2026-10-25 02:00,3\n2026-10-25 03:00,4\n"
    assert "1 step has several rows, the first is 2026-10-25 02:00; summed" in read_totals(autumn).notes


@pytest.mark.parametrize("form", ["{}-W{:02d}", "{}W{:02d}", "{}-w{}", "{} W{:02d}", "{}-W{:02d}-1"])
def test_weeks_of_the_year_are_read_across_its_end(form: str) -> None:
    weeks = [(2026, 51), (2026, 52), (2026, 53), (2027, 1), (2027, 3)]
    found = read_totals("week,sales\n" + "\n".join(f"{form.format(*week)},{week[1]}" for week in weeks))
    assert found.step == timedelta(days=7)
    assert found.times is not None
    assert found.times[2:4] == [datetime(2026, 12, 28), datetime(2027, 1, 4)]
    assert found.gaps == [4]
    with pytest.raises(BadFormat, match="is no time"):
        read_totals("week,sales\n2026-W52,1\n2026-W53,1\n2026-W54,2\n")


def test_days_stay_days_when_the_clocks_change() -> None:
    text = "".join(f"2026-{day}T00:00:00{offset},1\n" for day, offset in
                   [("03-28", "+01:00"), ("03-29", "+01:00"), ("03-30", "+02:00"), ("03-31", "+02:00")])  # fmt: skip
    assert read_totals(text).values == [1, 1, 1, 1]


def test_columns_can_be_named_where_they_cant_be_guessed() -> None:
    text = "day,web,shop\n2026-01-01,1,4\n2026-01-02,2,5\n"
    assert read_totals(text, column="shop").values == [4, 5]
    assert read_totals(text, column="2").values == [1, 2]
    with pytest.raises(BadValue, match="no column named 'shpo'; did you mean 'shop'"):
        read_totals(text, column="shpo")


def test_old_windows_files_are_read_with_a_note() -> None:
    found = read_totals("Tag;Umsatz \u20ac\n01.01.2026;1,5\n02.01.2026;2,5\n".encode("cp1252"))
    assert found.values == [1.5, 2.5]
    assert any("Windows-1252" in note for note in found.notes)


def test_a_file_that_isnt_there_or_isnt_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match=r"nowhere\.csv can't be read: no such file"):
        read_totals(tmp_path / "nowhere.csv")
    with pytest.raises(BadFormat, match="is not text; save the table as CSV"):
        read_totals(b"PK\x03\x04\x00\x00\x00\x00\x00\x00")


# Step, arm, total


@pytest.mark.parametrize(
    "text",
    [
        "step,arm,total\n1,A,3.5\n2,A,4\n4,B,5\n",
        "Total;Variant;Hour\n3,5;A;1\n4;a;2\n5;B;4\n",
        "1;A;3,5\n2;A;4\n4;B;5\n",
        "T\tgroup\tRevenue (EUR)\n4\tB\t5\n1\tA\t3,5\n2\tA\t4\n2\tA\t4\n",
    ],
)
def test_steps_arms_and_totals_are_found_by_name_or_place(text: str) -> None:
    found = read_steps(text)
    assert (found.step, found.arm, found.total) == ([1, 2, 4], ["A", "A", "B"], [3.5, 4, 5])
    assert any("1 step has no total" in note for note in found.notes)


def test_steps_may_be_times_and_may_be_left_out() -> None:
    timed = read_steps("hour,price,sales\n2026-01-01 00:00,49,100\n2026-01-01 01:00,59,110\n2026-01-01 03:00,59,9\n")
    assert (timed.step, timed.arm) == ([0, 1, 3], ["49", "59", "59"])
    assert read_steps("arm,total\nA,1\nB,2\n").step == [0, 1]
    assert read_steps("A,1\nB,2\n").arm == ["A", "B"]


def test_an_empty_total_is_unknown_and_an_empty_arm_is_refused() -> None:
    assert math.isnan(read_steps("step,arm,total\n1,A,\n2,B,3\n").total[0])
    with pytest.raises(BadFormat, match="row 2, column 'arm': '' names no arm"):
        read_steps("step,arm,total\n1,,3\n2,B,3\n")


def test_a_step_has_one_arm() -> None:
    with pytest.raises(BadFormat, match="row 3, column 'variant': 'B' can't be: row 2 has 'A' for the same step"):
        read_steps("t,variant,y\n1,A,3\n1,B,3\n")
    with pytest.raises(BadFormat, match=r"has no column for the arm; it has 'step', 'hue', 'total', 'more'"):
        read_steps("step,hue,total,more\n1,A,3,4\n")


def test_expected_totals_that_are_not_used_are_told() -> None:
    text = "step,arm,total,expected\n1,A,3,4\n2,B,3,5\n"
    (note,) = read_steps(text).notes
    assert str(note) == "column 'expected' has expected totals and is not used; expected='expected' takes them out"
    assert read_steps(text, expected="expected").notes == []
    assert read_steps("step,arm,total,expected\n1,A,3,\n2,B,3,\n").notes == []


def test_numbers_of_many_sizes_are_no_arms_unless_named() -> None:
    rows = "".join(f"{step},{40 + step % 25},{step % 7}\n" for step in range(50))
    with pytest.raises(BadFormat, match="has no column for the arm; it has 'time', 'visits', 'revenue'"):
        read_steps(f"time,visits,revenue\n{rows}")
    assert len(set(read_steps(f"time,visits,revenue\n{rows}", arm_column="visits").arm)) == 25
    assert len(set(read_steps(f"time,price,revenue\n{rows}").arm)) == 25
    few = "".join(f"{step},{49 + 10 * (step % 3)},{step % 7}\n" for step in range(50))
    assert set(read_steps(f"time,threshold,revenue\n{few}").arm) == {"49", "59", "69"}


@given(
    rows=some.lists(some.tuples(some.sampled_from(["A", "B b", "c;d"]), AMOUNTS), min_size=2, max_size=20),
    order=some.permutations(["step", "arm", "total"]),
    separator=some.sampled_from(",;\t|"),
    decimal=some.sampled_from(".,"),
)
def test_steps_come_back_in_any_order_of_columns(
    rows: list[tuple[str, float]], order: list[str], separator: str, decimal: str
) -> None:
    lines = [separator.join(name.upper() for name in order)]
    for step, (arm, total) in enumerate(rows):
        cells = {"step": str(step), "arm": f'"{arm}"', "total": f'"{written(total, "", decimal)}"'}
        lines.append(separator.join(cells[name] for name in order))
    found = read_steps("\n".join(lines) + "\n")
    assert found.step == list(range(len(rows)))
    assert found.arm == [arm for arm, _ in rows]
    assert found.total == pytest.approx([total for _, total in rows])


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [(["1", "-2.50", "30"], [1.0, -2.5, 30.0]), (["1", "2-"], None), (["1", ""], None), (["1", "1e3"], None)],
)
def test_columns_of_plain_numbers_are_read_at_once_and_no_others(texts: list[str], numbers: list[float] | None) -> None:
    assert plain_values(texts) == numbers
    if numbers is not None:
        assert numbers == [value(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-02-28", datetime(2026, 2, 28)),
        ("2026-02-28 07:05", datetime(2026, 2, 28, 7, 5)),
        ("2026-02-28T07:05:09", datetime(2026, 2, 28, 7, 5, 9)),
        ("2026-02-28 24:00", datetime(2026, 3, 1)),
        ("٢٠٢٦-02-28", datetime(2026, 2, 28)),
        ("2026-02-30", None),
        ("2026-02-28T25:00", None),
    ],
)
def test_plain_iso_times_are_read_as_all_others(
    text: str, meant: datetime | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment.cache_clear()
    assert moment(text) == meant
    moment.cache_clear()
    monkeypatch.setattr("afterglow.lab.reading.times.PLAIN", re.compile("(?!)"))  # without the shorter way
    assert moment(text) == meant
    moment.cache_clear()


@pytest.mark.parametrize(("late", "totals"), [(3, 2 * LOOKED_AT), (LOOKED_AT + 5, 2 * LOOKED_AT)])
def test_the_separator_is_that_of_the_first_rows(late: int, totals: int) -> None:
    rows = [f"{step};a,b|c;{step % 7}" if step == late else f"{step};a;{step % 7}" for step in range(totals)]
    found = grid("step;arm;total\n" + "\n".join(rows))
    assert (found.separator, len(found.rows)) == (";", totals + 1)
    assert found.rows[late + 1][1] == "a,b|c"


def test_rows_beyond_those_looked_at_do_not_change_the_separator() -> None:
    first = [f"{step};a;{step % 7}" for step in range(LOOKED_AT)]
    other = [f"{step},a,{step % 7},x" for step in range(LOOKED_AT + 10)]
    assert separator_of("\n".join(first + other)) == ";"
    assert separator_of("\n".join(first[: LOOKED_AT // 4] + other)) == ","
