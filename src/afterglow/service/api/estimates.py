"""The verdict, estimates of the variants, and explanations of decisions."""

from typing import Any

from fastapi import APIRouter

from afterglow.live import Experiment
from afterglow.service.api import models
from afterglow.service.api.dependencies import Reads
from afterglow.service.api.openapi import answers
from afterglow.service.api.steps import Number
from afterglow.service.views import estimates_view, explanation_view, verdict_view

router = APIRouter(prefix="/v1/experiments/{name}", tags=["knowledge"])


@router.get(
    "/estimates",
    response_model=models.Estimates,
    summary="Mean and interval of every variant",
    responses=answers("unknown-experiment"),
)
async def estimates(name: str, call: Reads) -> Any:
    """`low` and `high` are valid together, at any step, however effects are spread, whatever was voided or pinned.
    `differences` are ordinary intervals, valid for one look at the end, which assume more."""
    return await call.ask(lambda experiment: estimates_view(experiment.estimates()))


@router.get(
    "/verdict",
    response_model=models.VerdictWithSummary,
    summary="Which variant to keep, and how sure that is",
    responses=answers("unknown-experiment"),
)
async def verdict(name: str, call: Reads) -> Any:
    """The graded answer so far, with what it assumes; `summary` is a paragraph for somebody who has to decide."""
    return await call.ask(lambda one: verdict_view(one.verdict()) | {"summary": one.summary()})


@router.get(
    "/explain/{step}",
    response_model=models.Explanation,
    summary="The figures behind a decision",
    responses=answers("unknown-experiment", "out-of-turn"),
)
async def explain(name: str, step: Number, call: Reads) -> Any:
    return await call.ask(lambda experiment: explanation_view(Experiment.explain(experiment, step)))
