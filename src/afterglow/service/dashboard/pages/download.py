"""Download the steps of an experiment as CSV, with times."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from itertools import chain, islice
from typing import Any

from starlette.responses import Response, StreamingResponse

from afterglow.live import Experiment
from afterglow.live.spreadsheet import safe_cell
from afterglow.live.step_table import TimedStep, refuse_long_absence, timed_steps
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.visit import Visit
from afterglow.service.views import moment

ROWS = 1000  # of a part of the response
TIMES = ("begins", "ends")
PLAIN = tuple(name for name in TimedStep._fields if name != "metrics")  # the last is the unit


def steps_csv(visit: Visit) -> Response:
    """All steps; sent in parts, so that a million of them need little memory."""
    experiment = visit.experiment()
    refuse_long_absence(experiment)
    headers = HEADERS | {"Content-Disposition": f'attachment; filename="{experiment.name}-steps.csv"'}
    parts = written(experiment)
    first = next(parts)  # an error is a page as long as nothing was sent
    return StreamingResponse(chain([first], parts), media_type="text/csv; charset=utf-8", headers=headers)


def written(experiment: Experiment) -> Iterator[str]:
    """Lines of the file, in parts; each metric that a guard watches has a column."""
    metrics = experiment.spec.metrics[1:]
    plain = PLAIN if experiment.spec.units else PLAIN[:-1]
    head = text([[*plain, *(safe_cell(f"metric_{name}") for name in metrics)]])
    steps = timed_steps(experiment)
    while rows := list(islice(steps, ROWS)):
        yield head + text(
            [*(cell(name, getattr(row, name)) for name in plain), *((row.metrics or {}).get(name) for name in metrics)]
            for row in rows
        )
        head = ""
    if head:
        yield head


def cell(name: str, value: Any) -> object:
    if name in TIMES:
        return "" if value is None else moment(value)
    return json.dumps(value) if isinstance(value, bool) else safe_cell(value)


def text(rows: Any) -> str:
    made = StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    return made.getvalue()
