"""Routes of the commands of operators, one for each in the declaration. All answer with the status afterwards."""

from collections.abc import Iterable
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import APIRouter, Depends

from afterglow.live import Experiment
from afterglow.live.domain.command_table import COMMANDS, Command
from afterglow.service.api import models
from afterglow.service.api.declared_models import command_model
from afterglow.service.api.dependencies import AuthorizedCall, needs
from afterglow.service.api.openapi import answers
from afterglow.service.views import status_view

REFUSALS = ("unknown-experiment", "out-of-turn", "horizon-reached")


def command_routes(commands: Iterable[Command]) -> APIRouter:
    """A route for each command."""
    made = APIRouter(prefix="/v1/experiments/{name}", tags=["commands"])
    for one in commands:
        made.add_api_route(
            f"/{one.slug}", endpoint_of(one), methods=["POST"], response_model=models.Status, summary=one.summary,
            responses=answers(*REFUSALS),
        )  # fmt: skip
    return made


def endpoint_of(command: Command) -> Any:
    """The endpoint of a command. The body may be left out where nothing in it is required."""
    names = [one.name for one in command.arguments]

    async def endpoint(name: str, call: AuthorizedCall, asked: Any = None) -> Any:
        given = {} if asked is None else asked.model_dump(include=set(names))

        def done(experiment: Experiment) -> dict[str, Any]:
            experiment.command(command.name, by=call.token.actor(), **given)
            return status_view(experiment.status(), experiment.spec)

        return await call.ask(done)

    model = command_model(command)
    optional = not any(one.required for one in command.arguments)
    either, by_name = Parameter.empty if not optional else None, Parameter.KEYWORD_ONLY
    endpoint.__name__ = command.name  # as logs and metrics show it
    endpoint.__doc__ = command.help
    endpoint.__signature__ = Signature([  # type: ignore[attr-defined]
        Parameter("name", by_name, annotation=str),
        Parameter("asked", by_name, annotation=model | None if optional else model, default=either),
        Parameter("call", by_name, annotation=Annotated[AuthorizedCall, Depends(needs(command.scope))]),
    ])  # fmt: skip
    return endpoint


router = command_routes(COMMANDS)
