"""Orders of operators. Each takes effect with the next step; one that is in force already changes nothing."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from afterglow.live import Experiment
from afterglow.service.api import models
from afterglow.service.api.dependencies import Operates
from afterglow.service.api.openapi import answers
from afterglow.service.api.views import status_view

router = APIRouter(prefix="/v1/experiments/{name}", tags=["orders"])
REFUSALS = ("unknown-experiment", "out-of-turn", "horizon-reached")


def order(path: str, summary: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A route that answers with the status afterwards."""
    return router.post(path, response_model=models.Status, summary=summary, responses=answers(*REFUSALS))


async def carry_out(call: Operates, method: Callable[..., None], *given: Any) -> Any:
    def done(experiment: Experiment) -> dict[str, Any]:
        method(experiment, *given)
        return status_view(experiment.status())

    return await call.ask(done)


@order("/start", "Begin step 0, or schedule it")
async def start(name: str, call: Operates, asked: models.Start | None = None) -> Any:
    return await carry_out(call, Experiment.start)


@order("/pause", "Serve the control and learn nothing")
async def pause(name: str, asked: models.Because, call: Operates) -> Any:
    return await carry_out(call, Experiment.pause, asked.reason)


@order("/resume", "Go on after a pause")
async def resume(name: str, asked: models.Because, call: Operates) -> Any:
    return await carry_out(call, Experiment.resume, asked.reason)


@order("/stop", "End the experiment now")
async def stop(name: str, asked: models.Stop, call: Operates) -> Any:
    return await carry_out(call, Experiment.stop, asked.reason, asked.keep)


@order("/pin", "Serve one variant, whatever the plan")
async def pin(name: str, asked: models.BecauseVariant, call: Operates) -> Any:
    return await carry_out(call, Experiment.pin, asked.variant, asked.reason)


@order("/unpin", "Serve what is planned again")
async def unpin(name: str, asked: models.Because, call: Operates) -> Any:
    return await carry_out(call, Experiment.unpin, asked.reason)


@order("/disable", "Take a variant out")
async def disable(name: str, asked: models.BecauseVariant, call: Operates) -> Any:
    return await carry_out(call, Experiment.disable, asked.variant, asked.reason)


@order("/enable", "Take a variant in again")
async def enable(name: str, asked: models.BecauseVariant, call: Operates) -> Any:
    return await carry_out(call, Experiment.enable, asked.variant, asked.reason)


@order("/go-live", "Leave shadow mode")
async def go_live(name: str, asked: models.Because, call: Operates) -> Any:
    return await carry_out(call, Experiment.go_live, asked.reason)


@order("/void", "Don't learn from steps whose totals are wrong")
async def void(name: str, asked: models.Void, call: Operates) -> Any:
    return await carry_out(call, Experiment.void, asked.step, asked.reason, asked.last)
