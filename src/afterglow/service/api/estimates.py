"""The verdict, estimates of the variants, and explanations of decisions."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from afterglow.live import Experiment
from afterglow.service.api import models
from afterglow.service.api.dependencies import Reads
from afterglow.service.api.openapi import answers
from afterglow.service.api.steps import Number
from afterglow.service.api.verdict_models import VerdictWithSummary
from afterglow.service.views import differences_view, estimates_view, explanation_view, verdict_view

Unit = Annotated[str | None, Query(max_length=100, description="The unit, in an experiment with units.")]
router = APIRouter(prefix="/v1/experiments/{name}", tags=["knowledge"])


@router.get(
    "/estimates",
    response_model=models.Estimates,
    summary="Mean and interval of every variant",
    responses=answers("unknown-experiment", "out-of-turn"),
)
async def estimates(name: str, call: Reads) -> Any:
    """`low` and `high` are valid together, at any step, however effects are spread, whatever was voided or pinned.
    `differences` are narrower, valid together at any step too, and assume that effects arrive alike all the time."""
    return await call.ask(lambda experiment: estimates_view(experiment.estimates()))


@router.get(
    "/verdict",
    response_model=VerdictWithSummary,
    summary="Which variant to keep, and how sure that is",
    responses=answers("unknown-experiment"),
)
async def verdict(name: str, call: Reads) -> Any:
    """The graded answer so far, with what it assumes; `summary` is a paragraph for somebody who has to decide."""
    return await call.ask(lambda one: verdict_view(one.verdict(), one.spec) | {"summary": one.summary()})


@router.get(
    "/guards",
    response_model=models.GuardReadings,
    summary="What guards know of each variant",
    responses=answers("unknown-experiment"),
)
async def guards(name: str, call: Reads) -> Any:
    """How far each variant is from the limit of each guard, with intervals that hold together and at any time, and
    which variants were disabled. Without guards, an empty list."""
    return await call.ask(lambda one: {"items": [asdict(each) for each in one.guards()]})


@router.get(
    "/explain/{step}",
    response_model=models.Explanation,
    summary="The figures behind a decision",
    responses=answers("unknown-experiment", "out-of-turn"),
)
async def explain(name: str, step: Number, call: Reads, unit: Unit = None) -> Any:
    return await call.ask(lambda experiment: explanation_view(Experiment.explain(experiment, step, unit)))


@router.get(
    "/differences",
    response_model=models.UnitDifferences,
    summary="Differences between variants, in an experiment with units",
    responses=answers("unknown-experiment", "out-of-turn"),
)
async def differences(name: str, call: Reads) -> Any:
    """Each variant beside the best one, as a share of a unit's level; ordinary intervals, each alone, for one look."""
    return await call.ask(lambda experiment: differences_view(experiment.differences()))
