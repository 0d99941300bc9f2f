"""`afterglow policies`: list all policies."""

from inspect import Parameter
from typing import Any

from afterglow.cli import options
from afterglow.policies.policy import Policy
from afterglow.policies.registry import named, names, round_names, round_policy
from afterglow.policies.rounds import RoundPolicy


def command(json: options.Json = False) -> None:
    """List all policies: what each does, what it needs, its guarantee and its source."""
    described = [describe(named(name)) for name in names()] + [describe(round_policy(name)) for name in round_names()]
    if json:
        from afterglow.cli.output import print_json  # noqa: PLC0415  Rich is loaded when there is something to print

        print_json(described)
    else:
        show(described)


def describe(policy: Policy[Any, Any] | RoundPolicy[Any, Any]) -> dict[str, Any]:
    """A policy as plain data."""
    parameters = policy.parameters()
    return {
        "name": policy.name,
        "summary": policy.summary,
        "needs": policy.needs(),
        "settings": {name: default(parameters[name]) for name in policy.options()},
        "guarantee": policy.guarantee,
        "source": policy.source,
        "simulation_only": isinstance(policy, Policy) and policy.privileged,
        "units": isinstance(policy, RoundPolicy),
    }


def default(parameter: Parameter) -> Any:
    """The default of a setting; None also where there is none."""
    return None if parameter.default is Parameter.empty else parameter.default


def show(described: list[dict[str, Any]]) -> None:
    from rich.table import Table  # noqa: PLC0415

    from afterglow.cli.output import console  # noqa: PLC0415

    screen = console()
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for policy in described:
        table.add_row(policy["name"], policy["summary"])
        below = Table.grid(padding=(0, 2))
        for label, text in facts(policy):
            below.add_row(f"[dim]{label}[/dim]", f"[dim]{text}[/dim]")
        table.add_row("", below)
        table.add_row()
    screen.print(table)
    screen.print("[dim]settings in brackets are optional: `afterglow simulate --set key=value`[/dim]")


def facts(policy: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines below a policy's name."""
    optional = [name for name in policy["settings"] if name not in policy["needs"]]
    knows = ", ".join(policy["needs"]) or "nothing"
    settings = f" \\[{', '.join(optional)}]" if optional else ""
    return [("needs", knows + settings), ("guarantee", policy["guarantee"]), ("source", policy["source"])]
