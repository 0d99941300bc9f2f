"""`afterglow fit`: what recorded steps tell about the arms and about the window."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from afterglow.cli import options
from afterglow.cli.values import count, number_of
from afterglow.policies.checks import number

if TYPE_CHECKING:
    from rich.table import Table

    from afterglow.lab.fit import Fit

Data = Annotated[str, Argument(metavar="DATA.csv", help="A table with step, arm and total in its columns.")]
Window = Annotated[
    str | None,
    Option("--window", metavar="D", help="Steps over which one pull pays; what the data suggest if not set."),
]
Step = Annotated[str | None, Option("--step", metavar="NAME", help="The column of the steps: numbers, or times.")]
Arm = Annotated[str | None, Option("--arm", metavar="NAME", help="The column of the arms.")]
RewardMax = Annotated[
    str | None, Option(metavar="M", help="The most that one pull can bring in all; the largest total if not set.")
]
Folder = Annotated[Path | None, Option("--out", metavar="DIR", help="Where figures go, as SVG and PNG.")]


def command(
    data: Data,
    window: Window = None,
    reward_max: RewardMax = None,
    step: Step = None,
    arm: Arm = None,
    column: options.Column = None,
    decimal: options.Decimal = None,
    zone: options.Zone = None,
    out: Folder = None,
    json: options.Json = False,
) -> None:
    """Fit recorded steps: means, when effects arrive, and whether the window is long enough."""
    steps = None if window is None else count("window", window)
    most = None if reward_max is None else number("reward_max", number_of(reward_max), above=0.0)

    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.lab.csv_tables import read_steps  # noqa: PLC0415
    from afterglow.lab.fit import fit  # noqa: PLC0415

    read = read_steps(Path(data), step=step, arm=arm, column=column, zone=zone, decimal=decimal)
    found = fit(read, steps, most)
    for note in found.notes:
        one_line(f"note: {note}")
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(found.as_data())
    else:
        show(found)
    if out is not None:
        from afterglow.lab.fit_figures import write  # noqa: PLC0415

        write(found, out)
        one_line(f"figures: {out}")


def show(found: "Fit") -> None:
    from afterglow.cli.output import console  # noqa: PLC0415

    screen = console()
    screen.print(f"{found.check.sentence}\n")
    screen.print(means(found))
    screen.print("\nwhat a pull pays above the average arm, and when")
    screen.print(kernels(found))
    screen.print(
        f"\n[dim]{found.steps:,} steps, window {found.window:,}; intervals hold one by one with {found.confidence:.0%} "
        "if effects depend on arm and lag only,\nproved bounds all together for any spread; * not zero[/dim]"
    )


def plain_table(*heads: str) -> "Table":
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    made.add_column(heads[0], no_wrap=True)
    for head in heads[1:]:
        made.add_column(head, justify="right", no_wrap=True)
    return made


def means(found: "Fit") -> "Table":
    """The arms, the best first."""
    from rich.markup import escape  # noqa: PLC0415

    from afterglow.cli.output import amount  # noqa: PLC0415

    made = plain_table("arm", "mean", "interval", "proved", "pulls", "runs")
    for one in sorted(found.means, key=lambda one: -one.mean):
        bounds = "none"
        if one.proved_low is not None and one.proved_high is not None:
            bounds = f"{amount(one.proved_low)} to {amount(one.proved_high)}"
        interval = f"{amount(one.low)} to {amount(one.high)}"
        made.add_row(escape(one.arm), amount(one.mean), interval, bounds, f"{one.pulls:,}", f"{one.runs:,}")
    return made


def kernels(found: "Fit") -> "Table":
    """What a pull pays above the average arm in each group of lags."""
    from rich.markup import escape  # noqa: PLC0415

    from afterglow.cli.output import amount  # noqa: PLC0415

    rows = list(found.kernels.values())
    made = plain_table("steps after", *(escape(arm) for arm in found.kernels))
    for place, lags in enumerate(rows[0]):
        cells = []
        for row in rows:
            excess, low, high = row[place].over_all()
            sure = "*" if low > 0 or high < 0 else " "
            cells.append(f"{'+' if excess >= 0 else ''}{amount(excess)} ± {amount(high - excess)}{sure}")
        made.add_row(lags.text, *cells)
    return made
