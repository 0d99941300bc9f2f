"""`afterglow fit`: means, differences and lag kernels of arms from recorded steps, and a test of the window."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from afterglow.checks import number, number_of
from afterglow.cli import options
from afterglow.cli.values import count
from afterglow.errors import BadValue, argument

if TYPE_CHECKING:
    from rich.table import Table

    from afterglow.lab.fit.fitting import Fit

Data = Annotated[Path, Argument(metavar="FILE.csv", help="A table with step, arm and total in its columns.")]
Window = Annotated[
    str | None,
    Option("--window", metavar="D", help="Steps over which one pull pays; default: what the data suggest."),
]
ArmColumn = Annotated[str | None, Option("--arm-column", metavar="NAME", help="The column of the arms.")]
Arm = Annotated[str | None, Option("--arm", metavar="NAME", hidden=True)]  # as it was called before
RewardMax = Annotated[
    str | None, Option(metavar="M", help="Maximum reward of one pull; with --window, for proved bounds.")
]
Season = Annotated[
    str | None, Option(metavar="P", help="Length of a cycle in steps, such as 24; its phases are estimated too.")
]
Against = Annotated[str | None, Option(metavar="ARM", help="The arm to compare the others with; default: the best.")]
Folder = Annotated[
    Path | None, Option("--out", metavar="DIR", help="Also write a report page, fit.json and figures to this folder.")
]
Design = Annotated[
    str | None,
    Option(metavar="blocks|coin", help="Test the schedule: each arm once in every K turns, or each turn drawn alone."),
]
Turns = Annotated[str | None, Option(metavar="N", help="Steps of a turn of the schedule, with --design.")]
PriorsFile = Annotated[
    Path | None,
    Option("--priors", metavar="FILE", help="Also write effects by lag, mean and sd: .csv, or .json with carry-over."),
]
Unit = Annotated[
    str | None, Option("--unit", metavar="NAME", help="The column of the units: compare arms between units.")
]
Expected = Annotated[
    str | None, Option(metavar="NAME", help="A column of expected totals, by which those of the test are adjusted.")
]


PRIORS = (".csv", ".json")


def command(
    data: Data,
    window: Window = None,
    reward_max: RewardMax = None,
    season: Season = None,
    against: Against = None,
    step: options.Step = None,
    arm_column: ArmColumn = None,
    column: options.Column = None,
    decimal: options.Decimal = None,
    zone: options.Zone = None,
    design: Design = None,
    turns: Turns = None,
    expected: Expected = None,
    unit: Unit = None,
    priors: PriorsFile = None,
    out: Folder = None,
    json: options.Json = False,
    arm: Arm = None,
) -> None:
    """Fit recorded steps: means, differences between arms, when effects arrive, whether the window is long enough."""
    if arm is not None:
        raise BadValue("--arm is called --arm-column here: it names the column of the arms", field="arm_column")
    steps = None if window is None else count("window", window)
    cycle = None if season is None else count("season", season)
    long = None if turns is None else count("turns", turns)
    most = None if reward_max is None else number("reward_max", number_of(reward_max), above=0.0)

    from afterglow.cli.messages import one_line  # noqa: PLC0415
    from afterglow.cli.option_names import worded  # noqa: PLC0415
    from afterglow.lab.fit.fitting import fit  # noqa: PLC0415

    if out is not None:
        from afterglow.lab.fit import figures, page  # noqa: PLC0415  needs the extra `lab`: said before the fit
    said = {"step": step, "arm_column": arm_column, "column": column, "decimal": decimal, "zone": zone}
    reading = {name: value for name, value in said.items() if value is not None}
    if unit is not None:
        others = {"reward_max": most, "against": against, "design": design, "expected": expected, "out": out}
        others["priors"] = priors
        refuse_with_units(others | {"season": season, "turns": turns})
        from afterglow.cli.units_output import print_fit  # noqa: PLC0415

        print_fit(data, unit, steps, reading, json)
        return
    if priors is not None and priors.suffix not in PRIORS:
        raise BadValue(f"{argument('priors')} must end with .csv or .json, got {str(priors)!r}")
    found = fit(
        data, steps, most, season=cycle, against=against, reading=reading, design=design, turns=long, expected=expected
    )
    for note in found.notes:
        one_line(f"note: {worded(note)}")
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(found.to_dict())
    else:
        show(found)
    if priors is not None:
        made = found.priors()
        priors.write_text(made.to_csv() if priors.suffix == ".csv" else made.to_json() + "\n", encoding="utf-8")
        one_line(f"priors: {priors}")
    if out is not None:
        figures.write(found, out)
        one_line(f"report: {page.write(found, out)}")


def refuse_with_units(others: Mapping[str, object]) -> None:
    """Refuse options that a fit of several units doesn't have."""
    for name, value in others.items():
        if value is not None:
            raise BadValue(f"{argument(name)} is for one total, not for a fit of several units; leave it out")


def show(found: "Fit") -> None:
    from rich.markup import escape  # noqa: PLC0415

    from afterglow.cli.output import console  # noqa: PLC0415

    screen = console()
    screen.print(f"[bold]{escape(found.verdict.sentence)}[/bold]\n")
    if found.test is not None:
        from afterglow.cli.design_output import show_test  # noqa: PLC0415

        show_test(screen, found.test)
    screen.print(f"{found.check.sentence}\n")
    if found.expected is not None:
        slope = found.expected
        screen.print(f"totals follow what was expected by {slope.slope:.2f} ({slope.low:.2f} to {slope.high:.2f})\n")
    screen.print(means(found))
    than = escape(found.differences[0].than)
    screen.print(f"\naverage per pull, compared with {than}")
    screen.print(differences(found))
    screen.print("\nreward per pull above the average arm, by steps after the pull")
    screen.print(kernels(found))
    screen.print(f"\n[dim]{assumed(found)}[/dim]")


def assumed(found: "Fit") -> str:
    """The assumptions of the figures."""
    cycle = f", season {found.season:,}" if found.season > 1 else ""
    more = " and the season adds the same to all arms" if found.season > 1 else ""
    if any(one.proved_low is not None for one in found.means):
        more += (
            ";\nproved bounds are simultaneous and valid for any spread, if an arm's expected reward, given all that "
            "happened\nbefore, is its mean"
        )
    return (
        f"{found.steps:,} steps, window {found.window:,}{cycle}; {found.confidence:.0%} intervals, simultaneous for "
        f"differences, individual for the others,\nassuming that effects depend on arm and lag only{more}; * not zero"
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

    from afterglow.lab.rendering.rounding import amount  # noqa: PLC0415

    proved = any(one.proved_low is not None for one in found.means)
    made = plain_table("arm", "mean", "interval", *(["proved"] if proved else []), "pulls", "runs")
    for one in sorted(found.means, key=lambda one: -one.mean):
        bounds = ["none"] if proved else []
        if one.proved_low is not None and one.proved_high is not None:
            bounds = [f"{amount(one.proved_low)} to {amount(one.proved_high)}"]
        interval = f"{amount(one.low)} to {amount(one.high)}"
        made.add_row(escape(one.arm), amount(one.mean), interval, *bounds, f"{one.pulls:,}", f"{one.runs:,}")
    return made


def differences(found: "Fit") -> "Table":
    """How the arms differ from one of them."""
    from rich.markup import escape  # noqa: PLC0415

    from afterglow.lab.rendering.rounding import signed  # noqa: PLC0415

    made = plain_table("arms", "difference", "interval")
    for one in found.differences:
        sure = "*" if one.low > 0 or one.high < 0 else " "
        interval = f"{signed(one.low)} to {signed(one.high)}{sure}"
        made.add_row(escape(f"{one.arm} - {one.than}"), signed(one.difference), interval)
    return made


def kernels(found: "Fit") -> "Table":
    """Reward per pull above the average arm in each group of lags."""
    from rich.markup import escape  # noqa: PLC0415

    from afterglow.lab.rendering.rounding import amount, signed  # noqa: PLC0415

    rows = list(found.kernels.values())
    made = plain_table("steps after", *(escape(arm) for arm in found.kernels))
    for place, lags in enumerate(rows[0]):
        cells = []
        for row in rows:
            excess, low, high = row[place].over_all()
            sure = "*" if low > 0 or high < 0 else " "
            cells.append(f"{signed(excess)} ± {amount(high - excess)}{sure}")
        made.add_row(lags.text, *cells)
    return made
