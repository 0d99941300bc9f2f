"""Webhooks: addresses to which events are sent. Only admins may add them, since the service calls them."""

from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from afterglow.live.domain.transitions import KINDS
from afterglow.service.api.base_models import Answered, Moment, Name, Sent
from afterglow.service.api.dependencies import Administers, AuthorizedCall
from afterglow.service.api.openapi import answers
from afterglow.service.background.addresses import LONGEST
from afterglow.service.problems import Problem

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])
Kind = Annotated[str, Field(json_schema_extra={"enum": sorted(KINDS)})]


class NewWebhook(Sent):
    """Where to send events."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST, examples=["https://shop.example/hooks/afterglow"])]
    kinds: Annotated[
        list[Kind] | None, Field(min_length=1, max_length=50, description="Kinds of events; all by default.")
    ] = None
    experiments: Annotated[
        list[Name] | None,
        Field(min_length=1, max_length=1000, description="Experiments; all by default, future ones too."),
    ] = None


class Webhook(Answered):
    id: str
    url: str
    kinds: list[str] | None
    experiments: list[str] | None
    created: Moment
    waiting: Annotated[dict[str, int], Field(description="Events still to be delivered, by experiment.")]


class CreatedWebhook(Webhook):
    secret: Annotated[str, Field(description="Signs the deliveries. Only in this answer.")]


class Webhooks(Answered):
    items: list[Webhook]


@router.post(
    "",
    status_code=201,
    response_model=CreatedWebhook,
    summary="Send events to an address",
    responses=answers(),
)
async def create_webhook(asked: NewWebhook, call: Administers) -> Any:
    """All events from now on are sent, signed, in order for each experiment, at least once."""
    everywhere(call)
    given = (asked.url, asked.kinds, asked.experiments, call.token.actor())
    return await call.service.ask(call.service.webhooks.create, *given)


@router.get("", response_model=Webhooks, summary="List webhooks", responses=answers())
async def list_webhooks(call: Administers) -> Any:
    everywhere(call)
    return {"items": await call.service.ask(call.service.webhooks.all)}


@router.delete("/{hook}", status_code=204, summary="Delete a webhook", responses=answers("not-found"))
async def delete_webhook(hook: str, call: Administers) -> Response:
    everywhere(call)
    if not await call.service.ask(call.service.webhooks.delete, hook, call.token.actor()):
        raise Problem("not-found", f"there is no webhook {hook!r}")
    return Response(status_code=204)


def everywhere(call: AuthorizedCall) -> None:
    """Webhooks may be for all experiments, so a token for some of them is refused."""
    if call.token.experiments is not None:
        raise Problem("forbidden", "webhooks need a token for all experiments")
