"""Close steps manually; read steps and the log, page by page."""

import math
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from afterglow.errors import BadValue, argument
from afterglow.live import Experiment
from afterglow.live.experiment import Totals
from afterglow.live.past_steps import Step
from afterglow.service.api import event_models, models
from afterglow.service.api.base_models import MOST
from afterglow.service.api.dependencies import Reads, Reports
from afterglow.service.api.openapi import answers
from afterglow.service.event_views import event_view
from afterglow.service.views import current_view, step_view

router = APIRouter(prefix="/v1/experiments/{name}", tags=["steps"])
After = Annotated[int, Query(ge=-1, le=MOST, description="`next` of the page before.")]
ROWS = 1000  # of an answer
Limit = Annotated[int, Query(ge=1, le=1000)]
Number = Annotated[int, Path(ge=0, le=MOST)]


@router.post(
    "/steps/{step}",
    response_model=models.Closed,
    summary="Close a step manually",
    responses=answers("unknown-experiment", "step-closed", "out-of-turn", "horizon-reached"),
)
async def close_step(name: str, step: Number, asked: models.Total, call: Reports) -> Any:
    """Only for steps without a schedule. A repeated call changes nothing, another total is refused."""
    if asked.totals is not None and asked.total is not None:
        raise BadValue(f"{argument('total')} and {argument('totals')} can't be given together; give totals by unit")
    return await call.ask(close, step, asked.totals if asked.totals is not None else asked.total, asked.metrics)


def close(experiment: Experiment, step: int, total: Totals | None, metrics: dict[str, Totals]) -> dict[str, Any]:
    if isinstance(total, dict) and not experiment.spec.units:
        raise BadValue(f"{argument('totals')} must be left out: experiment {experiment.name!r} has no units; use total")
    if total is not None and not isinstance(total, dict) and experiment.spec.units:
        raise BadValue(
            f"{argument('total')} must be told by unit, experiment {experiment.name!r} has units: a mapping in a "
            "client, totals in HTTP"
        )
    try:
        experiment.close_step(total, step, metrics)
    except BadValue as error:
        if isinstance(total, dict) and error.field == "total":
            error.field = "totals"  # as the body has them
        raise
    rows = experiment.steps(step, 1)
    amounts = [one.total for one in rows if one.total is not None and not (one.unit and one.void)]
    views = [current_view(experiment.name, one) for one in experiment.decisions().values()]
    with_units = bool(experiment.spec.units)
    return {
        "step": step, "total": math.fsum(amounts) if amounts or with_units else None, "metrics": beside(rows),
        "next": None if with_units else views[0], "units": views if with_units else [],
    }  # fmt: skip


def beside(rows: list[Step]) -> dict[str, float] | None:
    """The totals of metrics of a step, those of its units added up."""
    known = [one.metrics for one in rows if one.metrics is not None and not (one.unit and one.void)]
    if rows[0].metrics is None:
        return None
    return {name: math.fsum(one[name] for one in known) for name in rows[0].metrics}


@router.post(
    "/expected",
    response_model=models.Told,
    summary="Tell the expected totals of steps to come",
    responses=answers("unknown-experiment", "out-of-turn", "horizon-reached"),
)
async def expect(name: str, asked: models.ExpectedTotals, call: Reports) -> Any:
    """For experiments with `typical`. Steps that have begun are refused, so that nobody chooses after seeing; later
    values replace earlier ones. What is expected must not depend on the variants."""
    await call.ask(Experiment.expect, asked.first, asked.values)
    return {"first": asked.first, "last": asked.first + len(asked.values) - 1}


@router.get(
    "/steps",
    response_model=models.StepList,
    summary="Variant, role and total of each step",
    responses=answers("unknown-experiment"),
)
async def list_steps(name: str, call: Reads, after: After = -1, limit: Limit = 100) -> Any:
    """With units there is a row for each unit of a step; `limit` counts steps, and an answer has at most 1,000 rows."""
    units = max(1, len((await call.experiment()).spec.units))
    count = max(1, min(limit, ROWS // units))
    found = await call.ask(Experiment.steps, after + 1, count)
    following = found[-1].step if len(found) == count * units else None
    return {"items": [step_view(one) for one in found], "next": following}


@router.get(
    "/events",
    response_model=event_models.Events,
    response_model_exclude_unset=True,
    summary="The log, record by record",
    responses=answers("unknown-experiment"),
)
async def list_events(name: str, call: Reads, after: After = -1, limit: Limit = 100) -> Any:
    """Amounts are in the unit of rewards, variants have their names. `afterglow export` has the records as stored."""
    found, spec = await call.ask(Experiment.events, after, limit), (await call.experiment()).spec
    return {"items": [event_view(spec, one) for one in found], "next": found[-1].seq if len(found) == limit else None}
