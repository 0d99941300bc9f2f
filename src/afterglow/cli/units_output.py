"""Plans and fits of several units on the terminal."""

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from afterglow.cli.messages import one_line
from afterglow.cli.option_names import worded
from afterglow.cli.output import console, print_json
from afterglow.cli.progress import progress
from afterglow.errors import BadValue, argument
from afterglow.lab.fit.panel import UnitsFit, fit_units
from afterglow.lab.plan.start import in_service
from afterglow.lab.plan.units_plan import UnitsPlan, plan_units
from afterglow.lab.rendering.rounding import short_percent, whole_percent

ANSWERS = {
    "yes": ("green", "Yes: the best arm is found in {found} of the runs"),
    "probably": ("green", "Probably: the best arm is found in {found} of the runs"),
    "gamble": ("yellow", "A gamble: the best arm is found in {found} of the runs"),
    "hopeless": ("red", "Hopeless: the best arm is found in {found} of the runs, little more than by guessing"),
}


def print_plan(asked: dict[str, Any], json: bool) -> None:
    """Plan, and print."""
    with progress() as show_progress:
        found = plan_units(**asked, progress=lambda done, what: show_progress(done, what, ""))
    for note in found.notes:
        one_line(f"note: {worded(note)}")
    if json:
        print_json(found.to_dict())
    else:
        show_plan(found)


def show_plan(plan: UnitsPlan) -> None:
    screen = console()
    colour, answer = ANSWERS[plan.verdict]
    screen.print(f"[bold {colour}]{answer.format(found=whole_percent(plan.found))}.[/bold {colour}]\n")
    noise = plan.noise
    lines = [
        ("planned", f"{plan.arms} arms, {plan.units} units, window {plan.window:,}, {plan.horizon:,} steps, "
         f"gap {short_percent(plan.gap)} of the level"),
        ("noise", f"own {short_percent(noise.own)} of a unit's level, correlation {noise.own_correlation:.2f}; "
         f"common {short_percent(noise.common)}, correlation {noise.common_correlation:.2f}"),
        ("shared", noise.sentence),
        ("use", "[bold]panel-elimination[/bold]"),
        ("smallest gap", "none below 50 %" if plan.smallest_gap is None
         else f"{short_percent(plan.smallest_gap)}, found in 80 % of the runs"),
        ("in Python", escape(plan.code)),
        ("live", escape(plan.live)),
        ("client", escape(in_service(plan.live))),
    ]  # fmt: skip
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    for label, text in lines:
        grid.add_row(label, text)
    screen.print(grid)
    table = Table("candidate", "best arm found", "lost, of uniform play", "ends tested", box=None, header_style="dim")
    for each in plan.candidates:
        lost = f"{whole_percent(each.lost)} ± {short_percent(2 * each.lost_error)}"
        tested = "-" if each.tested is None else f"{round(each.tested * each.tested_runs)} of {each.tested_runs} runs"
        table.add_row(each.name, whole_percent(each.found), lost, tested)
    screen.print()
    screen.print(table)
    screen.print(
        f"[dim]{plan.runs:,} runs a candidate, seed {plan.seed}; ± is a 95 % interval; tested: the exact test has "
        f"p <= 5 %\ncrossover: all arms to the middle, then the best (commit={plan.horizon // 2})[/dim]"
    )


def print_fit(data: Path, unit: str, window: int | None, reading: dict[str, Any], json: bool) -> None:
    """Fit, and print."""
    if window is None:
        raise BadValue(f"{argument('window')} is needed with {argument('unit')}: the steps over which one pull pays")
    found = fit_units(data, window, unit=unit, **reading)
    for note in found.notes:
        one_line(f"note: {worded(note)}")
    if json:
        print_json(found.to_dict())
    else:
        show_fit(found)


def show_fit(found: UnitsFit) -> None:
    screen = console()
    screen.print(f"{found.window_sentence}\n")
    table = Table("difference", "share of the level", "interval", box=None, header_style="dim")
    for one in found.differences:
        mark = " *" if one.clear else ""
        name = f"{escape(one.arm)} - {escape(one.than)}"
        table.add_row(name, f"{one.difference:+.2%}{mark}", f"{one.low:+.2%} to {one.high:+.2%}")
    screen.print(table)
    show_by_unit(found)
    alike = "can't be tested with these steps" if found.alike is None else f"p = {found.alike:.2g}"
    steps = ", ".join(f"{escape(arm)} {count:,}" for arm, count in found.unit_steps.items())
    screen.print(
        f"\n[dim]all units react alike: {alike}\nwashed unit-steps: {steps}; {found.confidence:.0%} intervals, all "
        "pairs together,\nassuming that effects are the same share of every unit's level and noise is independent from "
        "batch to batch; * not zero[/dim]"
    )


def show_by_unit(found: UnitsFit) -> None:
    """The table unit x arm, or why there is none."""
    screen = console()
    others = [arm for arm in found.arms if arm != found.best]
    if all(row[arm] is None for row in found.by_unit.values() for arm in others):
        screen.print(
            "\ndifferences can't be told by unit: units moved through the arms in a fixed pattern, in which what one "
            "unit does\nand what all share in these steps look alike; the differences above are not affected"
        )
        return
    screen.print(f"\ndifference to {escape(found.best)}, by unit")
    columns = Table("unit", *(escape(arm) for arm in found.arms), box=None, header_style="dim")
    for unit, row in found.by_unit.items():
        columns.add_row(escape(unit), *("-" if row[arm] is None else f"{row[arm]:+.2%}" for arm in found.arms))
    screen.print(columns)
