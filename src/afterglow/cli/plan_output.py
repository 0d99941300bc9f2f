"""A plan on the terminal: the answer, the recommendation, the figures."""

from typing import Any

from rich.markup import escape
from rich.table import Table

from afterglow.cli.option_names import worded
from afterglow.cli.output import console
from afterglow.lab.plan.answer import Plan, Tried
from afterglow.lab.plan.start import started
from afterglow.lab.plan.text import outlier_text
from afterglow.lab.rendering.durations import lasting, steps_lasting
from afterglow.lab.rendering.rounding import amount, short_percent, to_error, whole_percent
from afterglow.policies.default import IN_SEASON

COLOURS = {"yes": "green", "probably": "green", "gamble": "yellow", "hopeless": "red"}

PROFILE_BEGINS = (
    "the first number of the profile is for the step after the history: begin at that point of the cycle, or give "
    "profile_from to a live experiment"
)

SCHEDULED = (
    "the line `live` has steps on a schedule, and profile_from, the time after the history, for the first number of "
    "the profile (times without a zone are taken as UTC); if you end steps yourself, as with an agent, leave out "
    "both and begin at that point of the cycle"
)


def show(plan: Plan) -> None:
    screen = console()
    colour = COLOURS[plan.verdict]
    screen.print(f"[bold {colour}]{plan.answer[0].upper()}{plan.answer[1:]}.[/bold {colour}]")
    if plan.ending:
        screen.print(f"{plan.ending[0].upper()}{plan.ending[1:]}.")
    screen.print()
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, text in facts(plan):
        table.add_row(label, text)
    screen.print(table)
    screen.print()
    screen.print(compared(plan))
    for note in plan.notes:
        screen.print(f"[dim]note: {escape(worded(note))}[/dim]")
    screen.print(f"[dim]{plan.runs:,} runs a candidate, seed {plan.seed}; ± is a 95 % interval[/dim]")


def facts(plan: Plan) -> list[tuple[str, str]]:
    """The lines below the answer."""
    lines = [("planned", planned(plan)), *past(plan), *promised(plan)]
    lines += [
        ("least bad" if plan.verdict == "hopeless" else "use", used(plan)),
        ("", f"the first arm is kept for {steps_lasting(plan.first_hold, plan.step_seconds)}; "
         f"{plan.switches:.0f} change{'' if round(plan.switches) == 1 else 's'} of arm in all"),
        ("why", plan.why),
        *([("", plan.why_season)] if plan.why_season else []),
        ("verdict", plan.verdicts),
        ("proof", plan.proof),
        ("tested", plan.testing),
        ("lost", f"{amount(plan.lost)}, {whole_percent(plan.lost_share, 1)} of the best arm's total"),
        ("", f"a schedule of all arms to the end loses {amount(plan.lost_by_schedule)}"),
        ("smallest gap", reached(plan.smallest_gap, plan) + f" in {plan.horizon:,} steps"),
        ("shortest run", reached(plan.shortest_horizon, plan, plan.longest_tried) + f" for {short_percent(plan.gap)}"),
        ("rule", f"of thumb: {plan.rule.says}, with {plan.rule.policy}; "
         + ("confirmed" if plan.rule.confirmed else "corrected")
         + f" by simulation (evidence {plan.rule.q:.3g} per arm, proof takes {plan.rule.s:.3g} horizons)"),
    ]  # fmt: skip
    lines += [("would help" if not place else "", text) for place, text in enumerate(plan.advice)]
    begins = [("begin", PROFILE_BEGINS if plan.profile_from is None else SCHEDULED)] if plan.profile else []
    return [*lines, *begins, *((label, escape(code)) for label, code in started(plan))]


def used(plan: Plan) -> str:
    """The policy and its settings."""
    settings = "".join(f" {name}={short(value)}" for name, value in plan.settings.items())
    settings += " (as a share of reward_max)" if "noise" in plan.settings and plan.reward_max != 1 else ""
    if plan.profile is not None:
        return f"[bold]{plan.policy}[/bold]{settings}, told the profile of the cycle of {plan.cycle:,} steps"
    how = ", told a cycle of" if plan.policy == IN_SEASON else ", with holds of whole cycles of"
    season = f"{how} {steps_lasting(plan.season, plan.step_seconds)}" if plan.season > 1 else ""
    return f"[bold]{plan.policy}[/bold]{settings}{season}"


def planned(plan: Plan) -> str:
    """The inputs, in a line."""
    unit = f", reward_max {amount(plan.reward_max)}" if plan.reward_max != 1 else ""
    if plan.cycle > 1:
        unit += f", a cycle of {plan.cycle:,} steps"
        unit += "" if plan.swing is None else f" with amplitude {short_percent(plan.swing)}"
    unit += f", spread {plan.spread}" if plan.spread != "uniform" else ""
    long = f" ({lasting(plan.window, plan.step_seconds)})" if plan.step_seconds else ""
    return (
        f"{plan.arms} arms, window {plan.window:,}{long}, {steps_lasting(plan.horizon, plan.step_seconds)}, "
        f"gap {short_percent(plan.gap)}, mean {amount(plan.mean)}, noise {amount(plan.noise)} per pull{unit}"
    )


def promised(plan: Plan) -> list[tuple[str, str]]:
    """The range of the noise and what it does to the answer."""
    if plan.noise_range is None or plan.found_range is None:
        return []
    low, value, high = plan.noise_range
    worst, best = plan.found_range
    return [
        ("noise", f"{amount(value)} per pull, between {amount(low)} and {amount(high)} (80 %); planned with "
         f"{amount(plan.noise)}"),
        ("", f"the best arm is found in {whole_percent(worst)} of runs at the upper end, {whole_percent(best)} at the "
         "lower end"),
    ]  # fmt: skip


def past(plan: Plan) -> list[tuple[str, str]]:
    """What was read of the history."""
    history = plan.history
    if history is None or plan.read is None:
        return []
    cycle = f"a cycle of {history['season']:,} steps" if history["season"] > 1 else "no cycle"
    cycle += f" with one of {history['inner']:,} inside" if history["inner"] > 1 else ""
    lines = [
        ("history", escape(plan.read)),
        ("", f"level {amount(history['level'])}, noise {amount(history['noise'])}, "
         f"correlation {history['correlation']:.2f}, {cycle}"),
    ]  # fmt: skip
    return lines + ([("outliers", outlier_text(plan.stands_out, plan.found))] if plan.stands_out else [])


def reached(values: dict[str, Any], plan: Plan, longest: int | None = None) -> str:
    """Values by probability, as text."""
    parts = []
    for level, value in values.items():
        if longest is None:
            parts.append(f"none found at {level}" if value is None else f"{short_percent(value)} at {level}")
        else:
            steps = steps_lasting(longest if value is None else value, plan.step_seconds)
            parts.append(f"{'more than ' if value is None else ''}{steps} at {level}")
    return ", ".join(parts)


def short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def compared(plan: Plan) -> Table:
    """The candidates as a table."""
    heads = ("candidate", "best arm found", "tested", "lost", "changes", "first arm kept")
    table = Table(*heads, box=None, header_style="dim")
    for column in table.columns[1:]:
        column.justify = "right"
    for each in ranked(plan):
        title = f"{each.policy} to half" if "until" in each.settings else each.policy
        chosen = (each.policy, each.settings) == (plan.policy, plan.settings)
        name = f"[bold]{title}[/bold]" if chosen else title
        low, high = each.lost_interval
        tested = "" if each.tested is None else whole_percent(each.tested)
        table.add_row(
            name, whole_percent(each.found), tested, " ± ".join(to_error(each.lost, (high - low) / 2)),
            f"{each.switches:.0f}", f"{each.first_hold:,}",
        )  # fmt: skip
    return table


def ranked(plan: Plan) -> list[Tried]:
    """The candidates: those that lose least first; for knowing, those whose test tells most often."""
    if plan.purpose == "knowing":
        return sorted(plan.candidates, key=lambda one: -1.0 if one.tested is None else one.tested, reverse=True)
    return sorted(plan.candidates, key=lambda one: one.lost)
