"""Registered webhooks: create one, list them with the events that wait to be delivered."""

import secrets
from collections.abc import Sequence
from typing import Any

from afterglow.client.signatures import new_secret
from afterglow.errors import BadValue, argument
from afterglow.live import Actor, Experiments
from afterglow.live.domain.log import BEGINNING, Place
from afterglow.live.domain.transitions import KINDS
from afterglow.live.store.access import Access, HookRow
from afterglow.service.auth.audit import line
from afterglow.service.background.addresses import checked_url
from afterglow.service.views import moment

MOST = 50  # webhooks; each experiment's log is followed for each of them


class WebhookRegistry:
    """`reach` is the setting `webhooks` of the service."""

    def __init__(self, experiments: Experiments, access: Access, reach: str) -> None:
        self.experiments = experiments
        self.access = access
        self.reach = reach

    def create(
        self, url: str, kinds: Sequence[str] | None, experiments: Sequence[str] | None, by: Actor
    ) -> dict[str, Any]:
        """Send events to an address from now on; the only answer that has the secret."""
        if self.reach == "off":
            raise BadValue("webhooks are off; the setting webhooks = 'public' or 'any' turns them on")
        try:
            checked_url(url, self.reach)
        except BadValue as error:
            error.field = "url"
            raise
        unknown = sorted(set(kinds or ()) - KINDS.keys())
        if unknown:
            raise BadValue(f"{argument('kinds')} must be among {', '.join(KINDS)}, got {', '.join(unknown)}")
        if len(self.access.hooks()) >= MOST:
            raise BadValue(f"there may be {MOST} webhooks; delete one first")
        heads = self.experiments.places()
        row = HookRow(
            secrets.token_hex(6), url, new_secret(secrets.token_bytes(32)),
            None if kinds is None else " ".join(sorted(set(kinds))),
            None if experiments is None else " ".join(sorted(set(experiments))),
            round(1000 * self.experiments.now()),
        )  # fmt: skip
        shown = url.partition("?")[0]  # a query may have a secret
        self.access.put_hook(row, line("webhook-created", by, row.id, shown, row.created / 1000))
        places = {(row.id, name): place for name, place in heads.items()}
        self.access.put_hook_places(places)
        return view(row, heads, places) | {"secret": row.secret}

    def all(self) -> list[dict[str, Any]]:
        heads, places = self.experiments.places(), self.access.hook_places()
        return [view(row, heads, places) for row in self.access.hooks()]

    def get(self, id_: str) -> HookRow | None:
        return next((row for row in self.access.hooks() if row.id == id_), None)

    def delete(self, id_: str, by: Actor) -> bool:
        """Send nothing more to a webhook; False if there is none of that id."""
        note = line("webhook-deleted", by, id_, "", self.experiments.now())
        return id_.isprintable() and self.access.drop_hook(id_, note)


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
