"""The report page of a plan: the answer, two curves, the candidates, how to reproduce it."""

import math
import shlex
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from afterglow.lab.plan.planner import Plan
from afterglow.lab.plan.start import started
from afterglow.lab.plan.text import literal, outlier_text
from afterglow.lab.plan.verdict import LEVELS
from afterglow.lab.rendering.durations import lasting, steps_lasting
from afterglow.lab.rendering.html import placed, render, written
from afterglow.lab.rendering.palette import BLUE, GREY, INK
from afterglow.lab.rendering.rounding import amount, short_percent, whole_percent
from afterglow.lab.rendering.style import STYLE, short, svg
from afterglow.lab.versions import versions

DESCRIBED = {
    "gaps": "probability that the best arm is found, by the size of the gap",
    "horizons": "probability that the best arm is found, by the number of steps",
}


def write(plan: Plan, folder: Path) -> Path:
    """Write the page and `plan.json`; the path of the page."""
    return written(folder, page(plan), "plan.json", plan.to_json())


def page(plan: Plan) -> str:
    """The page as self-contained HTML."""
    drawn = {name: svg(figure) for name, figure in figures(plan).items()}
    return render(
        "plan.html",
        plan=plan,
        candidates=sorted(plan.candidates, key=lambda each: each.lost),
        percent=whole_percent,
        amount=amount,
        share=short_percent,
        lasting=lambda steps: steps_lasting(steps, plan.step_seconds),
        outlier_text=outlier_text,
        svg=placed(drawn, DESCRIBED),
        legend=[],
        call=call(plan),
        start=dict(started(plan)),
        unit=unit_of(plan),
        versions=versions(),
    )


def figures(plan: Plan) -> dict[str, Figure]:
    """The curves of the two searches."""
    gaps, horizons = [(100 * gap, found) for gap, found in plan.gap_curve], plan.horizon_curve
    of = f"gap in % of the mean total, {amount(plan.mean)}, after {plan.horizon:,} steps"
    each = "" if plan.step_seconds is None else f" of {lasting(1, plan.step_seconds)}"
    by = f"steps{each}, for a gap of {100 * plan.gap:.2g} %, {amount(plan.gap * plan.mean)} per step"
    return {
        "gaps": curve(gaps, 100 * plan.gap, 1 / plan.arms, of, False),
        "horizons": curve(horizons, plan.horizon, 1 / plan.arms, by, True),
    }


def unit_of(plan: Plan) -> str:
    """In which unit the amounts of the page are."""
    column = (plan.source or {}).get("column")
    named = "the unit of the totals" if column is None else f"the unit of the column “{column}”"
    return named if plan.step_seconds is None else f"{named}; a step is {lasting(1, plan.step_seconds)}"


def curve(points: Any, planned: float, guess: float, label: str, counts: bool) -> Figure:
    """Probability of finding the best arm over a logarithmic axis, with lines for the plan and for guessing."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 2.9), layout="constrained")
        axes = figure.add_subplot()
        for level in LEVELS.values():
            axes.axhline(100 * level, color=GREY, linewidth=0.7, linestyle=(0, (2, 2)), zorder=0)
        axes.axhline(100 * guess, color=GREY, linewidth=0.7, zorder=0)
        axes.axvline(planned, color=INK, linewidth=0.9, zorder=1)
        axes.annotate(
            "planned", (planned, 1), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
            ha="center", fontsize=8, color=INK,
        )  # fmt: skip
        values = [value for value, _ in points]
        axes.plot(values, [100 * found for _, found in points], color=BLUE, marker="o", markersize=3.4, linewidth=1.6)
        axes.set(xscale="log", ylim=(0, 103), yticks=[0, 50, 80, 95], xlabel=label, ylabel="best arm found, %")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(short if counts else lambda value, _: f"{value:g}"))
        label_guessing_line(axes, planned, guess)
    return figure


def label_guessing_line(axes: Axes, planned: float, guess: float) -> None:
    """Label the line of guessing on the side away from the planned value."""
    low, high = (math.log(limit) for limit in axes.get_xlim())
    left = math.log(planned) > (low + high) / 2
    axes.annotate(
        "guessing", (0 if left else 1, 100 * guess), xycoords=("axes fraction", "data"),
        xytext=(2 if left else -2, -10), ha="left" if left else "right", textcoords="offset points", fontsize=8,
        color=GREY,
    )  # fmt: skip


def call(plan: Plan) -> str:
    """The command that makes this plan; a history that is not a file must be written to one first."""
    parts = ["afterglow", "plan", "--arms", plan.arms, "--window", plan.window, "--horizon", plan.horizon]
    parts += ["--gap", literal(plan.gap)]
    if plan.history is None:
        parts += ["--mean", literal(plan.mean)] + (["--noise", literal(plan.noise)] if plan.noise_known else [])
        parts += ["--season", plan.cycle, "--swing", literal(plan.swing)] if plan.cycle > 1 else []
    else:
        source = plan.source or {"file": "totals.csv"}
        parts += ["--history", source["file"]]
        parts += [part for name, value in source.items() if name != "file" for part in (f"--{name}", value)]
        parts += ["--season", plan.cycle]
    parts += ["--reward-max", literal(plan.reward_max)] if plan.reward_max != 1 else []
    parts += ["--spread", plan.spread] if plan.spread != "uniform" else []
    parts += ["--for", plan.purpose] if plan.purpose != "earning" else []
    return shlex.join(str(part) for part in [*parts, "--runs", plan.runs, "--seed", plan.seed])
