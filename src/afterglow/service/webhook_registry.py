"""Registered webhooks: create one, list them with the events that wait to be delivered."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from afterglow.client.signatures import new_secret
from afterglow.errors import AfterglowError, BadValue, argument
from afterglow.live import Actor, Experiments
from afterglow.live.domain.log import BEGINNING, Place
from afterglow.live.domain.transitions import KINDS
from afterglow.live.store.access import Access, HookRow
from afterglow.service.auth.audit import line
from afterglow.service.background.addresses import checked_url
from afterglow.service.views import moment

COUNTED = 10_000  # events of a kind that are counted as waiting
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
        return view(row, {}) | {"secret": row.secret}

    def all(self) -> list[dict[str, Any]]:
        heads, places = self.experiments.places(), self.access.hook_places()
        return [view(row, self.waiting(row, heads, places)) for row in self.access.hooks()]

    def waiting(self, row: HookRow, heads: dict[str, Place], places: dict[tuple[str, str], Place]) -> dict[str, int]:
        """How many events that a webhook wants are not delivered yet, by experiment."""
        only = heads.keys() if row.experiments is None else heads.keys() & set(row.experiments.split())
        found = dict[str, int]()
        for name in sorted(only):
            seq = places.get((row.id, name), BEGINNING).seq
            found[name] = heads[name].seq - seq
            if found[name] > 0 and row.kinds is not None:
                with suppress(AfterglowError):  # one that can't be read
                    found[name] = self.experiments.count(name, seq, row.kinds.split(), COUNTED)
        return {name: count for name, count in found.items() if count > 0}

    def get(self, id_: str) -> HookRow | None:
        return next((row for row in self.access.hooks() if row.id == id_), None)

    def delete(self, id_: str, by: Actor) -> bool:
        """Send nothing more to a webhook; False if there is none of that id."""
        note = line("webhook-deleted", by, id_, "", self.experiments.now())
        return id_.isprintable() and self.access.drop_hook(id_, note)


def view(row: HookRow, waiting: dict[str, int]) -> dict[str, Any]:
    return {
        "id": row.id, "url": row.address, "kinds": row.kinds.split() if row.kinds else None,
        "experiments": row.experiments.split() if row.experiments else None, "created": moment(row.created / 1000),
        "waiting": waiting,
    }  # fmt: skip
