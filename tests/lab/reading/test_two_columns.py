"""Dates, times of day, steps, arms and totals in columns of their own."""

from datetime import timedelta

import pytest

from afterglow.errors import BadFormat, UnknownName
from afterglow.lab.reading.tables import read_steps, read_totals

HOURS = [(day, hour) for day in (23, 24, 25) for hour in range(24)]
TWO_COLUMNS = {
    "german": ("Datum;Uhrzeit;Umsatz", "{day}.02.2026;{hour:02}:00;{total},5"),
    "hours": ("date,hour,revenue", "2026-02-{day},{hour},{total}.5"),
    "hours from 1 to 24": ("date,hour,revenue", "2026-02-{day},{later},{total}.5"),
    "american": ("Date,Time,Id,Revenue", "2/{day}/2026,{half},7,{total}.5"),
    "from and to": ("total,time,date", "{total}.5,{hour:02}:00 - {later:02}:00,2026-02-{day}"),
    "midnights of a spreadsheet": ("date,hour,revenue", "2026-02-{day} 00:00:00,{hour},{total}.5"),
    "year, month and day": ("year,month,day,hour,sales", "2026,2,{day},{hour},{total}.5"),
    "without a header": ("", "{day}.02.2026;{hour}:00;{total},5"),
}


def in_two_columns(form: str) -> list[str]:
    """Three days of hours; the total of an hour counts up from 0.5."""
    return [
        TWO_COLUMNS[form][1].format(
            day=day, hour=hour, later=hour + 1, half=f"{(hour - 1) % 12 + 1}:00 {'AP'[hour // 12]}M", total=place
        )
        for place, (day, hour) in enumerate(HOURS)
    ]


@pytest.mark.parametrize("form", TWO_COLUMNS)
def test_a_date_and_its_time_of_day_are_read_together_in_any_order_of_rows(form: str) -> None:
    header, lines = TWO_COLUMNS[form][0], in_two_columns(form)
    for rows in (lines, lines[::-1], lines[::2] + lines[1::2]):
        found = read_totals("\n".join([header, *rows] if header else rows))
        assert found.values == [place + 0.5 for place in range(len(HOURS))]
        assert found.step == timedelta(hours=1)
        assert any("are read together, as date and time" in note for note in found.notes), found.notes


@pytest.mark.parametrize("named", [None, "Datum", "uhrzeit"])
def test_steps_by_date_and_time_of_day_are_the_same_in_any_order_of_rows(named: str | None) -> None:
    rows = [
        f"{day}.02.2026;{hour:02}:00;{'B' if hour < 12 else 'A'};{place},5" for place, (day, hour) in enumerate(HOURS)
    ]
    plain = read_steps("\n".join(["Datum;Uhrzeit;Variante;Umsatz", *rows]), step=named)
    mixed = read_steps("\n".join(["Datum;Uhrzeit;Variante;Umsatz", *rows[::3], *rows[1::3], *rows[2::3]]), step=named)
    assert (plain.step, plain.arm, plain.total) == (mixed.step, mixed.arm, mixed.total)
    assert (plain.step, plain.total[:2], plain.arm[11:13]) == (list(range(72)), [0.5, 1.5], ["B", "A"])


def test_times_beside_daily_totals_leave_them_daily() -> None:
    rows = [f"2026-02-{day},12:0{day % 7},{day}" for day in range(10, 25)]
    found = read_totals("\n".join(["date,time,sales", *rows]))
    assert (found.step, found.values) == (timedelta(days=1), list(range(10, 25)))


def test_a_time_of_day_that_cant_be_read_beside_its_date_is_named() -> None:
    with pytest.raises(BadFormat, match=r"row 3, column 'time': 'noon' is no time of day, and 'date' has dates more"):
        read_totals("date,time,total\n2026-01-01,11:00,3\n2026-01-01,noon,4\n2026-01-01,13:00,5\n")


def test_days_and_hours_may_be_numbered_but_not_begin_anew() -> None:
    rows = [f"{day},{hour},{place}" for place, (day, hour) in enumerate(HOURS)]
    for lines in (rows, rows[::-1]):
        found = read_totals("\n".join(["day,hour,sales", *lines]))
        assert found.values == list(range(72))
        assert any("'day' and 'hour' are read together, as numbered hours" in note for note in found.notes)
    with pytest.raises(BadFormat, match="has days without their month: 'day' begins anew; write dates such as 2026"):
        read_totals("\n".join(["day,hour,sales", *rows, "1,0,5", "1,1,6"]))
    with pytest.raises(BadFormat, match="row 3, column 'day': '2026-2-30' is no date"):
        read_totals("year,month,day,sales\n2026,2,28,1\n2026,2,30,2\n")


def test_times_that_are_whole_stand_beside_dates_and_times_of_day_need_one() -> None:
    rows = [f"2026-02-{day},2026-02-{day} {hour:02}:00,A,{hour}" for day, hour in HOURS]
    assert read_steps("\n".join(["date,time,arm,total", *rows])).step == list(range(72))
    assert read_steps("\n".join(["date,hour,arm,total", *rows])).total == [hour for _, hour in HOURS]
    with pytest.raises(
        BadFormat, match="row 2, column 'time': '00:00' is a time of day without its date; put the date"
    ):
        read_steps("time,arm,total\n00:00,A,1\n01:00,B,2\n")


def test_rows_are_taken_as_steps_only_with_a_note_and_never_where_times_are_seen() -> None:
    assert read_steps("arm,total\nA,1\nB,2\n").notes == ["no column for the step; steps are the rows in their order"]
    assert read_steps("variant,orders,revenue\nA,7,1\nB,90,2\nA,7,3\n", column="revenue").step == [0, 1, 2]
    with pytest.raises(BadFormat, match=r"'wann' has times that can't be read, such as '3. Feb'; write them as 2026"):
        read_steps("wann,arm,total\n3. Feb,A,1\n4. Feb,B,2\n")
    with pytest.raises(BadFormat, match=r"several columns of times \(von, bis\); name it, such as step='von'"):
        read_steps("von,bis,arm,total\n2026-01-01,2026-01-02,A,1\n2026-01-02,2026-01-03,B,2\n")


def test_step_arm_and_total_can_be_named() -> None:
    text = "von,bis,arm,hue,a,b\n2026-01-01,2026-01-03,x,A,1,2\n2026-01-02,2026-01-05,x,B,3,4\n"
    found = read_steps(text, step="bis", arm_column="hue", column="b")
    assert (found.step, found.arm, found.total) == ([0, 1], ["A", "B"], [2, 4])
    with pytest.raises(UnknownName, match="no column named 'hugh'; the table has von, bis, arm, hue"):
        read_steps(text, step="bis", arm_column="hugh")
