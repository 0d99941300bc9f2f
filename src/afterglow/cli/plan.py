"""`afterglow plan`: will my experiment work?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from afterglow.cli import options
from afterglow.cli.values import count, number_of
from afterglow.errors import BadValue

if TYPE_CHECKING:
    from afterglow.lab.plan import Plan

Gap = Annotated[str, Option(metavar="G", help="How much better the best arm is, relative to the mean: 0.05 or 5%.")]
Mean = Annotated[str | None, Option(metavar="M", help="Mean total of a step today; half of --reward-max unless set.")]
Noise = Annotated[
    str | None, Option(metavar="SD", help="Standard deviation of one pull's reward; the largest possible unless set.")
]
Swing = Annotated[
    str | None, Option(metavar="S", help="Half the height of that cycle, relative to the mean; 0.2 unless set.")
]
History = Annotated[
    Path | None, Option(metavar="FILE.csv", help="Past totals, which tell mean, noise and season themselves.")
]
Missing = Annotated[
    str | None, Option(metavar="nan|zero", help="What a step without a total is: not known (nan), or 0 (zero).")
]
RewardMax = Annotated[
    str | None, Option(metavar="R", help="The most that one pull can bring; 1, or read from the history, unless set.")
]
Out = Annotated[Path | None, Option(metavar="DIR", help="Also write a page to read and plan.json there.")]


def command(
    arms: options.Arms,
    window: options.Window,
    horizon: options.Horizon,
    gap: Gap,
    mean: Mean = None,
    noise: Noise = None,
    season: options.Season = None,
    swing: Swing = None,
    history: History = None,
    column: options.Column = None,
    decimal: options.Decimal = None,
    zone: options.Zone = None,
    missing: Missing = None,
    reward_max: RewardMax = None,
    spread: options.Spread = None,
    runs: options.Runs = "600",
    seed: options.Seed = "1",
    threads: options.Threads = None,
    out: Out = None,
    json: options.Json = False,
) -> None:
    """Simulate an experiment before it starts: will the best arm be found, and at what price?"""
    given: dict[str, Any] = {
        "arms": count("arms", arms, 2),
        "window": count("window", window),
        "horizon": count("horizon", horizon),
        "gap": share("gap", gap),
        "mean": amount_of("mean", mean),
        "noise": amount_of("noise", noise),
        "season": None if season is None else count("season", season),
        "swing": None if swing is None else share("swing", swing),
        "reward_max": amount_of("reward_max", reward_max),
        "spread": spread or "uniform",
        "runs": count("runs", runs, 2),
        "seed": count("seed", seed, 0),
        "threads": None if threads is None else count("threads", threads),
    }

    from afterglow.cli.progress import progress  # noqa: PLC0415
    from afterglow.lab.plan import plan  # noqa: PLC0415  Numba takes a second to load

    reading = {"column": column, "decimal": decimal, "zone": zone, "missing": missing}
    said = {name: value for name, value in reading.items() if value is not None}
    with progress() as tell:
        found = plan(**given, history=history, reading=said, progress=tell)
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(found.as_dict())
    else:
        show(found)
    if out is not None:
        from afterglow.cli.messages import one_line  # noqa: PLC0415
        from afterglow.lab.plan_page import write  # noqa: PLC0415

        one_line(f"report: {write(found, out)}")


def share(name: str, text: str) -> float:
    """A share as a number or in percent."""
    percent = text.strip().endswith("%")
    value = amount_of(name, text.strip().removesuffix("%"))
    return (value or 0.0) / (100 if percent else 1)


def amount_of(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    value = number_of(text.strip())
    if isinstance(value, str):
        raise BadValue(f"{name} must be a number, got {text!r}")
    return float(value)


def show(plan: "Plan") -> None:
    from rich.table import Table  # noqa: PLC0415

    from afterglow.cli.output import console  # noqa: PLC0415

    screen = console()
    colour = {"yes": "green", "probably": "green", "gamble": "yellow", "hopeless": "red"}[plan.verdict]
    screen.print(f"[bold {colour}]{plan.answer[0].upper()}{plan.answer[1:]}.[/bold {colour}]\n")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in facts(plan):
        table.add_row(label, text)
    screen.print(table)
    screen.print()
    screen.print(compared(plan))
    for note in plan.notes:
        screen.print(f"[dim]note: {note}[/dim]")
    screen.print(f"[dim]{plan.runs:,} runs a candidate, seed {plan.seed}[/dim]")


def facts(plan: "Plan") -> list[tuple[str, str]]:
    """The lines below the answer."""
    from rich.markup import escape  # noqa: PLC0415

    from afterglow.cli.output import amount  # noqa: PLC0415

    settings = "".join(f" {name}={short(value)}" for name, value in plan.settings.items())
    settings += " (as a share of reward_max)" if "noise" in plan.settings and plan.reward_max != 1 else ""
    whole = f", counting whole cycles of {plan.season:,} steps" if plan.season > 1 else ""
    lines = [
        ("planned", planned(plan)),
        ("least bad" if plan.verdict == "hopeless" else "use", f"[bold]{plan.policy}[/bold]{settings}{whole}"),
        ("", escape(plan.agent)),
        ("", f"first hold {plan.first_hold:,} steps, changes of arm in all: {plan.switches:.0f}"),
        ("why", plan.why),
        ("lost", f"{amount(plan.lost)}, {plan.lost_share:.1%} of what the best arm brings".replace("%", " %")),
        ("", f"a fixed rotation to the end loses {amount(plan.lost_by_rotation)}"),
        ("smallest gap", reached(plan.smallest_gap, "") + f" in {plan.horizon:,} steps"),
        ("shortest run", reached(plan.shortest_horizon, " steps", plan.longest_tried) + f" for {percent(plan.gap)}"),
        ("rule", f"q = {plan.rule.q:.3g}: {plan.rule.says}; s = {plan.rule.s:.3g}: {plan.rule.policy}, "
         + ("confirmed" if plan.rule.confirmed else "corrected by simulation")),
    ]  # fmt: skip
    if plan.history:
        lines.insert(1, ("history", past(plan.history)))
    return lines + [("would help" if not place else "", text) for place, text in enumerate(plan.advice)]


def planned(plan: "Plan") -> str:
    """What was asked, in a line."""
    from afterglow.cli.output import amount  # noqa: PLC0415

    unit = f", reward_max {amount(plan.reward_max)}" if plan.reward_max != 1 else ""
    if plan.season > 1:
        unit += f", a cycle of {plan.season:,} steps"
        unit += "" if plan.swing is None else f" that swings by {percent(plan.swing)}"
    unit += f", spread {plan.spread}" if plan.spread != "uniform" else ""
    return (
        f"{plan.arms} arms, window {plan.window:,}, {plan.horizon:,} steps, gap {percent(plan.gap)}, "
        f"mean {amount(plan.mean)}, noise of one pull {amount(plan.noise)}{unit}"
    )


def past(history: dict[str, Any]) -> str:
    """What the history told."""
    from afterglow.cli.output import amount  # noqa: PLC0415

    cycle = f"a cycle of {history['season']} steps" if history["season"] > 1 else "no cycle"
    missing = f", {history['missing']:,} missing" if history["missing"] else ""
    return (
        f"{history['steps']:,} totals{missing}: level {amount(history['level'])}, noise {amount(history['noise'])}, "
        f"correlation {history['correlation']:.2f}, {cycle}"
    )


def reached(values: dict[str, Any], unit: str, longest: int | None = None) -> str:
    """Values by probability."""
    parts = []
    for level, value in values.items():
        if value is None:
            parts.append(f"none found at {level}" if longest is None else f"more than {longest:,}{unit} at {level}")
        else:
            parts.append(f"{value:,}{unit} at {level}" if unit else f"{percent(value)} at {level}")
    return ", ".join(parts)


def percent(value: float) -> str:
    return f"{100 * value:.2g} %"


def short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def compared(plan: "Plan") -> Any:
    """The candidates as a table."""
    from rich.table import Table  # noqa: PLC0415

    from afterglow.lab.rounding import to_error  # noqa: PLC0415

    table = Table("candidate", "best arm found", "lost", "changes", "first hold", box=None, header_style="dim")
    for column in table.columns[1:]:
        column.justify = "right"
    for each in sorted(plan.candidates, key=lambda one: one.lost):
        name = f"[bold]{each.policy}[/bold]" if each.policy == plan.policy else each.policy
        table.add_row(
            name, f"{each.found:.0%}".replace("%", " %"), " ± ".join(to_error(each.lost, each.lost_error)),
            f"{each.switches:.0f}", f"{each.first_hold:,}",
        )  # fmt: skip
    return table
