"""`afterglow schedule`: write a randomised schedule to take away."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

from typer import Option

from afterglow.cli import options
from afterglow.cli.values import count
from afterglow.errors import BadValue, argument

Variants = Annotated[str, Option(metavar="A,B,…", help="Names of the variants, separated by commas.")]
Hold = Annotated[str | None, Option(metavar="N", help="Counted steps of a turn; default: the window.")]
Until = Annotated[str | None, Option(metavar="N", help="The step by which the schedule ends; default: the horizon.")]
Starts = Annotated[str | None, Option(metavar="TIME", help="Time of the first step, such as 2027-01-04T00:00.")]
Step = Annotated[str | None, Option(metavar="LENGTH", help="Length of a step: 15m, 1h, 1d; with --starts.")]
Out = Annotated[Path | None, Option(metavar="FILE.csv", help="The file to write; default: print it.")]
LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d|w)")
UNITS = {"s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def command(
    variants: Variants,
    window: options.Window,
    horizon: options.Horizon,
    season: options.Season = None,
    hold: Hold = None,
    until: Until = None,
    seed: options.Seed = "1",
    starts: Starts = None,
    step: Step = None,
    out: Out = None,
) -> None:
    """Write a randomised schedule, each variant once in every block, for an experiment that runs elsewhere."""
    from afterglow.lab.schedule import as_csv, schedule  # noqa: PLC0415

    turns = schedule(
        [name.strip() for name in variants.split(",")],
        count("window", window),
        count("horizon", horizon),
        1 if season is None else count("season", season),
        hold=None if hold is None else count("hold", hold),
        until=None if until is None else count("until", until),
        seed=count("seed", seed, 0),
    )
    if (starts is None) != (step is None):
        raise BadValue(f"{argument('starts')} and {argument('step')} are given together, or neither of them")
    text = as_csv(turns, None if starts is None else time_of(starts), None if step is None else length_of(step))
    if out is None:
        print(text, end="")
        return
    try:
        with out.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        raise BadValue(f"{argument('out')} must be a new file, {out} exists; totals in it would be lost") from None
    from afterglow.cli.messages import one_line  # noqa: PLC0415

    steps = turns[-1].first + turns[-1].steps
    one_line(
        f"{turns[-1].block:,} blocks, {len(turns):,} turns of {turns[0].steps:,} steps, {steps:,} steps in all: {out}"
    )


def time_of(text: str) -> datetime:
    """A time in ISO 8601."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadValue(f"{argument('starts')} must be a time such as 2027-01-04T00:00, got {text!r}") from None


def length_of(text: str) -> timedelta:
    """A length of time such as 15m, 1h or 1d."""
    found = LENGTH.fullmatch(text.strip())
    seconds = float(found[1]) * UNITS[found[2]] if found else 0.0
    if seconds <= 0:
        raise BadValue(f"{argument('step')} must be a length such as 15m, 1h or 1d, got {text!r}")
    return timedelta(seconds=seconds)
