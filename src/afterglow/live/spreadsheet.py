"""Cells of CSV files for spreadsheets, which run a text as a formula if it begins like one."""

from afterglow.checks import number_of

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(cell: object) -> object:
    """A cell; a text that begins like a formula and is no number gets an apostrophe before it.

    >>> safe_cell("=1+1"), safe_cell("-5 %"), safe_cell("-5"), safe_cell(-5.0), safe_cell("A")
    ("'=1+1", "'-5 %", '-5', -5.0, 'A')
    """
    if isinstance(cell, str) and cell.startswith(FORMULA) and isinstance(number_of(cell), str):
        return f"'{cell}"
    return cell
