"""Webhooks: addresses to which events are sent. Only admins may add them, since the service calls them."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from afterglow.client.signatures import new_secret
from afterglow.errors import BadValue, argument
from afterglow.live.domain.log import BEGINNING, Place
from afterglow.live.domain.transitions import KINDS
from afterglow.live.store.access import HookRow
from afterglow.service.api.dependencies import Administers, AuthorizedCall
from afterglow.service.api.models import Answered, Moment, Name, Sent
from afterglow.service.api.openapi import answers
from afterglow.service.auth.audit import line
from afterglow.service.auth.tokens import Token
from afterglow.service.background.addresses import LONGEST, checked_url
from afterglow.service.problems import Problem
from afterglow.service.service import Service
from afterglow.service.views import moment

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])
MOST = 50  # webhooks; each experiment's log is followed for each of them
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
    return await call.service.ask(create, call.service, asked, call.token)


@router.get("", response_model=Webhooks, summary="List webhooks", responses=answers())
async def list_webhooks(call: Administers) -> Any:
    everywhere(call)
    return {"items": await call.service.ask(all_of, call.service)}


@router.delete("/{hook}", status_code=204, summary="Delete a webhook", responses=answers("not-found"))
async def delete_webhook(hook: str, call: Administers) -> Response:
    everywhere(call)
    note = line("webhook-deleted", call.token.actor(), hook, "", call.service.experiments.now())
    if not hook.isprintable() or not await call.service.ask(call.service.access.drop_hook, hook, note):
        raise Problem("not-found", f"there is no webhook {hook!r}")
    return Response(status_code=204)


def everywhere(call: AuthorizedCall) -> None:
    """Webhooks may be for all experiments, so a token for some of them is refused."""
    if call.token.experiments is not None:
        raise Problem("forbidden", "webhooks need a token for all experiments")


def create(service: Service, asked: NewWebhook, token: Token) -> dict[str, Any]:
    if service.settings.webhooks == "off":
        raise BadValue("webhooks are off; the setting webhooks = 'public' or 'any' turns them on")
    try:
        url = checked_url(asked.url, service.settings.webhooks)
    except BadValue as error:
        error.field = "url"
        raise
    unknown = sorted(set(asked.kinds or ()) - KINDS.keys())
    if unknown:
        raise BadValue(f"{argument('kinds')} must be among {', '.join(KINDS)}, got {', '.join(unknown)}")
    if len(service.access.hooks()) >= MOST:
        raise BadValue(f"there may be {MOST} webhooks; delete one first")
    heads = service.experiments.places()
    row = HookRow(
        secrets.token_hex(6), url, new_secret(secrets.token_bytes(32)),
        None if asked.kinds is None else " ".join(sorted(set(asked.kinds))),
        None if asked.experiments is None else " ".join(sorted(set(asked.experiments))),
        round(1000 * service.experiments.now()),
    )  # fmt: skip
    shown = url.partition("?")[0]  # a query may have a secret
    service.access.put_hook(row, line("webhook-created", token.actor(), row.id, shown, row.created / 1000))
    places = {(row.id, name): place for name, place in heads.items()}
    service.access.put_hook_places(places)
    return view(row, heads, places) | {"secret": row.secret}


def all_of(service: Service) -> list[dict[str, Any]]:
    heads, places = service.experiments.places(), service.access.hook_places()
    return [view(row, heads, places) for row in service.access.hooks()]


def view(row: HookRow, heads: dict[str, Place], places: dict[tuple[str, str], Place]) -> dict[str, Any]:
    only = None if row.experiments is None else set(row.experiments.split())
    behind = {
        name: head.seq - places.get((row.id, name), BEGINNING).seq
        for name, head in heads.items()
        if only is None or name in only
    }
    return {
        "id": row.id, "url": row.address, "kinds": row.kinds.split() if row.kinds else None,
        "experiments": row.experiments.split() if row.experiments else None, "created": moment(row.created / 1000),
        "waiting": {name: count for name, count in behind.items() if count > 0},
    }  # fmt: skip
