"""The exact test of a schedule on the terminal."""

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from afterglow.lab.rendering.rounding import signed

if TYPE_CHECKING:
    from rich.console import Console

    from afterglow.lab.fit.design_test import DesignTest


def show_test(screen: "Console", found: "DesignTest") -> None:
    """The p-value, what it rests on, and every pair."""
    test = found.test
    screen.print(f"[bold]{escape(found.sentence)}[/bold]")
    pairs = Table("arms", "difference", "exact interval", "p", "corrected", box=None, header_style="dim")
    for column in pairs.columns[1:]:
        column.justify = "right"
    for one in test.pairs:
        interval = "" if one.low is None or one.high is None else f"{signed(one.low)} to {signed(one.high)}"
        names = escape(f"{one.arm} - {one.other}")
        pairs.add_row(names, signed(one.difference), interval, f"{one.p:.2g}", f"{one.holm:.2g}")
    screen.print(pairs)
    screen.print(f"[dim]{found.basis}[/dim]\n")
