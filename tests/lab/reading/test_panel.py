"""Tables of several units."""

import math

import pytest

from afterglow.errors import AfterglowError
from afterglow.lab.reading import read_panel

LONG = """time;Region;Umsatz
01.03.2026 10:00;north;1.200,50
01.03.2026 11:00;south;801,00
01.03.2026 10:00;south;790,00
01.03.2026 12:00;north;1.190,00
"""


def test_rows_of_units_are_put_in_the_order_of_time_and_what_is_missing_is_unknown() -> None:
    found = read_panel(LONG, column="Umsatz")
    assert found.units == ["north", "south"]
    assert [[-1 if math.isnan(one) else one for one in row] for row in found.values] == [
        [1200.5, 790.0],
        [-1, 801.0],
        [1190.0, -1],
    ]


def test_a_column_for_each_unit_is_read_too() -> None:
    found = read_panel("day,north,south,note\n2026-03-01,12,8,x\n2026-03-02,11,,y\n2026-03-04,10,9,z\n")
    assert found.units == ["north", "south"]
    assert len(found.values) == 4
    assert math.isnan(found.values[1][1])


def test_arms_are_read_where_they_are_asked_for() -> None:
    text = "step,shop,arm,total\n0,a,X,1\n0,b,Y,2\n1,a,X,3\n1,b,X,4\n"
    found = read_panel(text, unit="shop", arms=True)
    assert found.arms == [["X", "Y"], ["X", "X"]]


@pytest.mark.parametrize(
    ("text", "given", "sentence"),
    [
        ("day,total\n1,2\n2,3\n", {}, "must have a column of units, or a column for each of two units at least"),
        ("day,region,total\n1,n,2\n2,n,3\n", {}, "must have at least 2 units, column 'region' has ['n']"),
        ("day,n,s\n1,2,2\n2,3,3\n", {"unit": "regon"}, "no column named 'regon'"),
        ("day,n,s\n1,2,2\n2,3,3\n", {"arms": True}, "has no column of units"),
        ("day,unit,total\n1,n,2\n1,s,x\n", {}, "is no number"),
        ("a,b,c\nx,y,z\n", {}, "has no column of times or steps"),
        ("step,unit,arm,total\n0,a,X,1\n0,a,Y,1\n0,b,X,2\n", {"arms": True}, "a has another arm in the same step"),
    ],
)
def test_what_is_no_panel_is_refused(text: str, given: dict[str, str], sentence: str) -> None:
    with pytest.raises(AfterglowError) as refusal:
        read_panel(text, **given)  # type: ignore[arg-type]
    assert sentence in str(refusal.value)
