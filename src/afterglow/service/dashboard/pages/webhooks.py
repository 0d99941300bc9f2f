"""Webhooks of the service, for admins: list them, create one, test one with a delivery, delete one."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from afterglow.errors import BadValue
from afterglow.live.domain.transitions import KINDS
from afterglow.live.store.access import HookRow
from afterglow.service.background.webhook_call import try_out
from afterglow.service.dashboard.pages.tokens import names_in, require_everywhere
from afterglow.service.dashboard.visit import Visit
from afterglow.service.problems import Problem

FRESH = {"url": "", "kinds": "", "experiments": ""}


def webhooks_page(visit: Visit) -> Response:
    """The list and the form; sent back, the webhook is created and its secret shown once."""
    require_everywhere(visit)
    if visit.request.method == "GET":
        return page(visit, FRESH)
    typed = {name: visit.form.get(name, "") for name in FRESH}
    try:
        kinds, names = (names_in(typed, name) for name in ("kinds", "experiments"))
        made = visit.dashboard.webhooks.create(typed["url"].strip(), kinds, names, visit.required_actor())
    except BadValue as error:
        return page(visit, typed, refused=str(error))
    return page(visit, FRESH, made=made)


def page(
    visit: Visit,
    typed: Mapping[str, str],
    refused: str = "",
    made: Mapping[str, Any] | None = None,
    tested: tuple[str, str] | None = None,
) -> Response:
    registry = visit.dashboard.webhooks
    return visit.page(
        "webhooks.html", 422 if refused else 200, rows=registry.all(), reach=registry.reach, typed=typed,
        refused=refused, made=made, tested=tested, kinds=sorted(KINDS),
    )  # fmt: skip


def hook_of(visit: Visit) -> HookRow:
    require_everywhere(visit)
    found = visit.dashboard.webhooks.get(visit.request.path_params["id"])
    if found is None:
        raise Problem("not-found", "there is no webhook of that id")
    return found


def test_page(visit: Visit) -> Response:
    """Deliver an event of kind `test` and say what came back."""
    hook = hook_of(visit)
    if visit.dashboard.webhooks.reach == "off":
        return page(visit, FRESH, refused="webhooks are off in the settings of the service, so nothing was sent")
    wrong = try_out(hook, visit.dashboard.webhooks.reach, visit.now)
    return page(visit, FRESH, tested=(hook.address, wrong or ""))


test_page.__name__ = "test_webhook_page"


def delete_page(visit: Visit) -> Response:
    """Ask before a webhook is deleted; sent back, it is."""
    hook = hook_of(visit)
    if visit.request.method == "GET":
        return visit.page("delete_webhook.html", hook=hook)
    visit.dashboard.webhooks.delete(hook.id, visit.required_actor())
    return visit.go("/webhooks?done=delete")
