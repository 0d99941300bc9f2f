"""The list of all experiments."""

from hashlib import sha256
from typing import NamedTuple

from starlette.responses import Response

from afterglow.live import Decision, Experiment
from afterglow.live.domain.spec import Spec
from afterglow.live.domain.status import Status
from afterglow.service.dashboard.rendering import HEADERS
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import problem_of

PAGE_SIZE = 100  # experiments on one page
RECENT = 30.0  # seconds for which a grade in the list may be used: computing a hundred takes seconds


class OverviewRow(NamedTuple):
    """One experiment; only its name and `error` where it can't be read."""

    name: str
    spec: Spec | None = None
    status: Status | None = None
    decision: Decision | None = None
    error: str = ""


def overview(visit: Visit) -> Response:
    names = [name for name in sorted(visit.dashboard.experiments.names()) if visit.token and visit.token.knows(name)]
    after = visit.request.query_params.get("after", "")
    remaining = [name for name in names if name > after]
    rows = sorted((row(visit, name) for name in remaining[:PAGE_SIZE]), key=urgency)
    following = remaining[PAGE_SIZE - 1] if len(remaining) > PAGE_SIZE else ""
    listed = [(one.name, one.status, one.decision, one.error) for one in rows]
    seen = sha256(repr(listed).encode()).hexdigest()[:16]
    if visit.partial:
        if visit.request.query_params.get("seen") == seen:
            return Response(status_code=204, headers=HEADERS)
        return visit.page("overview_rows.html", rows=rows, seen=seen, after=after)
    return visit.page("overview.html", rows=rows, seen=seen, after=after, following=following, total=len(names))


def row(visit: Visit, name: str) -> OverviewRow:
    """The row of an experiment; one that can't be read is listed with its error."""
    try:
        experiment: Experiment = visit.dashboard.experiments.get(name)
        return OverviewRow(name, experiment.spec, experiment.status(RECENT), experiment.decision())
    except Exception as failure:  # any error: the other rows must be shown
        return OverviewRow(name, error=problem_of(failure).detail)


def urgency(row: OverviewRow) -> int:
    """Sort key: experiments with an alarm first, ended ones last."""
    if row.status is None or row.status.alarm:
        return 0
    return 2 if row.status.phase == "over" else 1
