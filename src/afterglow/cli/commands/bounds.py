"""`afterglow bounds`: a policy's schedule and the bounds on its regret."""

from typing import Any

from afterglow.cli import options
from afterglow.cli.values import assignments, count, numbers
from afterglow.policies.registry import named
from afterglow.theory import bounds

MEANING = {
    "hold": "steps of a phase",
    "log_delta": "log(1/δ), the confidence level",
    "theorem_1_paper": "regret, Theorem 1 as printed",
    "theorem_1_corrected": "regret, Theorem 1 with corrected constants",
    "regret_as_set": "regret, proved for these settings",
    "regret_strict": "regret, proved for level strict",
    "schedule": "pulls of an arm up to each phase",
    "theorem_2_paper": "regret, Theorem 2 as printed",
    "theorem_2_sharper": "regret, Theorem 2 sharpened",
    "auer_ortner": "regret, Auer & Ortner 2010 (window 1)",
    "endgame": "last steps, without tests",
    "log_evidence": "evidence level, in nats",
    "trivial": "regret of the worst arm alone",
}


def command(
    policy: options.Policy,
    arms: options.Arms,
    horizon: options.Horizon,
    window: options.Window,
    settings: options.Settings = None,
    gaps: options.Gaps = None,
    json: options.Json = False,
) -> None:
    """Print a policy's schedule and the theorems' bounds on its regret."""
    found = bounds(
        policy,
        count("arms", arms, 2),
        count("horizon", horizon),
        count("window", window),
        numbers("gaps", gaps) if gaps is not None else None,
        assignments(named(policy), settings or []),
    )
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415

        print_json(found)
    else:
        show(found)


def show(found: dict[str, Any]) -> None:
    from rich.table import Table  # noqa: PLC0415

    from afterglow.cli.output import console  # noqa: PLC0415
    from afterglow.lab.rendering.rounding import amount  # noqa: PLC0415

    gaps = "any gaps" if found["gaps"] is None else "gaps " + ", ".join(f"{gap:g}" for gap in found["gaps"])
    screen = console()
    screen.print(
        f"[bold]{found['policy']}[/bold]  {found['arms']} arms, horizon {found['horizon']:,}, "
        f"window {found['window']:,}, {gaps}\n"
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    table.add_column(style="dim", no_wrap=True)
    for name, meaning in MEANING.items():
        if name in found and not isinstance(found[name], list):
            table.add_row(name, "none" if found[name] is None else amount(found[name]), meaning)
    screen.print(table)
    if "schedule" in found:
        pulls = "  ".join(f"{pulls:,}" for pulls in found["schedule"])
        screen.print(f"schedule  {pulls}  [dim]{MEANING['schedule']}[/dim]")
