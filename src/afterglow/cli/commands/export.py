"""`afterglow export`: an experiment's steps or its log as CSV or JSON lines."""

import csv
import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

from typer import Option

from afterglow import live
from afterglow.checks import choice
from afterglow.cli import options
from afterglow.live.follower import Step

PAGE = 10_000  # rows at a time


def command(
    database: options.Database,
    experiment: options.One,
    what: Annotated[str, Option(metavar="WHAT", help="steps or events.")] = "steps",
    form: Annotated[str, Option("--format", metavar="FORMAT", help="csv, or jsonl: one JSON object per line.")] = "csv",
) -> None:
    """Print the steps or the log of an experiment, as CSV or JSON lines."""
    choice("what", what, ("steps", "events"))
    choice("format", form, ("csv", "jsonl"))
    with live.open(database, read_only=True) as experiments:
        rows = pages(experiments.get(experiment), what)
        if form == "jsonl":
            for row in rows:
                print(json.dumps(row, ensure_ascii=False))
        else:
            write_csv(rows)


def pages(experiment: live.Experiment, what: str) -> Iterator[dict[str, Any]]:
    """All rows, read page by page."""
    done = 0
    while True:
        page: list[Any]
        if what == "steps":
            page = [with_known_total(step) for step in experiment.steps(done, PAGE)]
        else:
            page = experiment.events(done - 1, PAGE)
        yield from (row._asdict() for row in page)
        done += len(page)
        if len(page) < PAGE:
            return


def with_known_total(step: Step) -> Step:
    """The step, without its total if that is unknown: missed steps and steps void without a report have 0."""
    unknown = step.role == "missed" or (step.void and not step.total)
    return step._replace(total=None) if unknown else step


def write_csv(rows: Iterator[dict[str, Any]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow(json.dumps(cell) if isinstance(cell, dict | bool) else cell for cell in row.values())
