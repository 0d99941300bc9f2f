"""`afterglow export`: an experiment's steps, its log or its verdict as CSV or JSON lines."""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from typer import Option

from afterglow import live
from afterglow.checks import choice
from afterglow.cli import options
from afterglow.errors import BadDatabase
from afterglow.estimation.verdict import Gained, Versus
from afterglow.live.spreadsheet import safe_cell
from afterglow.live.step_table import refuse_long_absence, with_known_total

PAGE = 10_000  # rows at a time
END = 1 << 62  # more steps than any experiment has


def command(
    database: options.Database,
    experiment: options.One,
    what: Annotated[str, Option(metavar="WHAT", help="steps, events or verdict.")] = "steps",
    form: Annotated[str, Option("--format", metavar="FORMAT", help="csv, or jsonl: one JSON object per line.")] = "csv",
    without_missed: Annotated[
        bool, Option("--without-missed", help="Leave missed steps out; the log has each stretch as one record.")
    ] = False,
    damaged: Annotated[bool, Option("--damaged", help="Print it also if it doesn't agree with its log.")] = False,
) -> None:
    """Print the steps, the log or the verdict of an experiment, as CSV or JSON lines."""
    choice("what", what, ("steps", "events", "verdict"))
    choice("format", form, ("csv", "jsonl"))
    with live.open(database, read_only=True) as experiments:
        found = experiments.get(experiment)
        if not damaged:
            refuse_faults(found)
        rows = rows_of(found, what, form == "csv", without_missed)
        if what == "steps" and form == "csv":
            rows = (with_columns(row, found.spec.metrics[1:]) for row in rows)
        if form == "jsonl":
            for row in rows:
                print(json.dumps(row, ensure_ascii=False))
        else:
            write_csv(rows)


def refuse_faults(experiment: live.Experiment) -> None:
    """Refuse steps and records that don't follow from the log: who reads the rows can't see that."""
    if faults := experiment.verify().faults:
        raise BadDatabase(
            f"{experiment.spec.name} doesn't agree with its log: {'; '.join(faults[:3])}",
            kind="not-exported",
            way_out="go back to a backup",
        )


def rows_of(experiment: live.Experiment, what: str, flat: bool, without_missed: bool) -> Iterator[dict[str, Any]]:
    if what == "verdict":
        return iter([verdict_row(experiment, flat)])
    if what == "events":
        return event_rows(experiment)
    if not without_missed:
        refuse_long_absence(experiment)
    return step_rows(experiment, experiment.missed() if without_missed else [])


def event_rows(experiment: live.Experiment) -> Iterator[dict[str, Any]]:
    """The log, read page by page."""
    after = -1
    while page := experiment.events(after, PAGE):
        yield from (row._asdict() for row in page)
        after = page[-1].seq


def step_rows(experiment: live.Experiment, without: Sequence[range]) -> Iterator[dict[str, Any]]:
    """All steps but some, read page by page."""
    first, units = 0, len(experiment.spec.units)
    steps = max(1, PAGE // max(1, units))
    for gap in [*without, range(END, END)]:
        while first < gap.start:
            page = experiment.steps(first, min(steps, gap.start - first))
            if not page:
                return
            rows = [with_known_total(step)._asdict() for step in page]
            yield from rows if units else ({key: row[key] for key in row if key != "unit"} for row in rows)
            first = page[-1].step + 1
        first = gap.stop


def with_columns(row: dict[str, Any], metrics: Sequence[str]) -> dict[str, Any]:
    """The row of a step with a column for each metric, empty while the step is open."""
    known = row.pop("metrics") or {}
    return row | {f"metric_{name}": known.get(name) for name in metrics}


def verdict_row(experiment: live.Experiment, flat: bool) -> dict[str, Any]:
    """The verdict with its summary; `flat`, each number has a column of its own, such as to_control_low."""
    verdict = experiment.verdict()
    made = verdict.to_dict() | {"summary": experiment.summary()}
    if not flat:
        return {"experiment": experiment.name} | made
    for name, row in (("to_control", verdict.to_control), ("to_runner_up", verdict.to_runner_up)):
        made[name] = dict.fromkeys(Versus.__slots__) if row is None else asdict(row)
        percent = made[name].pop("percent") or (None, None, None)
        made[name] |= dict(zip(("percent", "percent_low", "percent_high"), percent, strict=True))
    made["gained"] = dict.fromkeys(Gained.__slots__) if verdict.gained is None else asdict(verdict.gained)
    made["assumes"] = "; ".join(verdict.assumes)
    flattened: dict[str, Any] = {"experiment": experiment.name}
    for name, value in made.items():
        nested = isinstance(value, dict) and name != "chances"
        flattened |= {f"{name}_{key}": one for key, one in value.items()} if nested else {name: value}
    return flattened


def write_csv(rows: Iterator[dict[str, Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow(json.dumps(cell) if isinstance(cell, dict | bool) else safe_cell(cell) for cell in row.values())
